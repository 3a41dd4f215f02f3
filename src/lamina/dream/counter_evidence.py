"""Finds sentences about the same things that were said after a statement was last affirmed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom, Evidence
from lamina.atom.effective_status import effective_from
from lamina.atom.passage import Passage
from lamina.atom.status import Status
from lamina.atom.trust import statements_need_review
from lamina.capture.change.statable_sentences import find_statable_sentences, is_vouched_for
from lamina.capture.change.working_set import WorkingSet
from lamina.dream.entity_pages import is_plain_statement
from lamina.dream.step_context import LIVE, StepContext
from lamina.lifecycle.signals import recorded_at
from lamina.text.analyser import content_tokens
from lamina.text.normal_form import normal_form, one_line

MAX_CANDIDATES = 40
"""The most passages with common words that are compared with a statement."""


@dataclass(frozen=True, slots=True)
class LaterSentence:
    """A later sentence: its text, speaker and time.

    `source` is the statement itself or the segment that contains it; `evidence` is its place in that segment.
    """

    text: str
    speaker: str | None
    at: datetime
    source: Atom
    evidence: Evidence | None


def find_later_sentences(statement: Atom, working_set: WorkingSet, context: StepContext) -> list[LaterSentence]:
    """Return what people said about the same things since a statement was last affirmed, in order of time."""
    words = content_tokens(statement.content)
    if not words:
        return []
    affirmed_at = _last_affirmed(statement, context)
    passages = working_set.search(words, LIVE, MAX_CANDIDATES, is_vouched_for)
    lines = (
        line
        for atom, passage in passages
        for line in _sentences_after(atom, passage, statement, working_set, affirmed_at)
    )
    return [line for line in lines if effective_from(statement) < line.at <= context.now]


def _last_affirmed(statement: Atom, context: StepContext) -> datetime:
    """Return when anyone but a dream last wrote the statement: repeated, confirmed, edited or cleared it."""
    times = [version.at for version in context.store.versions(statement.id) if version.verb != "dream"]
    return max(times, default=recorded_at(statement))


def _sentences_after(
    atom: Atom, passage: Passage, statement: Atom, working_set: WorkingSet, affirmed_at: datetime
) -> Iterator[LaterSentence]:
    if not atom.is_segment:
        if _is_comparable(atom, statement) and recorded_at(atom) > affirmed_at:
            yield _from_statement(atom)
        return
    at = passage.at or atom.observed_at
    if max(at, recorded_at(atom)) <= affirmed_at:
        return
    for start, end, text in find_statable_sentences(passage.text):
        evidence = Evidence(atom.id, passage.n, start, end)
        if working_set.is_sentence_current(evidence) and not any(
            resting.id == statement.id for resting in working_set.statements_on(evidence)
        ):
            yield LaterSentence(text, passage.speaker, at, atom, evidence)


def _from_statement(atom: Atom) -> LaterSentence:
    return LaterSentence(one_line(atom.content), atom.subject or None, effective_from(atom), atom, None)


def _is_comparable(atom: Atom, statement: Atom) -> bool:
    """Return whether a statement is a trusted one and may be about the same thing."""
    if (
        atom.id == statement.id
        or atom.status is not Status.ACTIVE
        or not is_plain_statement(atom)
        or statements_need_review(atom.origin)
    ):
        return False
    subjects = {form for candidate in (atom, statement) if (form := normal_form(candidate.subject))}
    return len(subjects) <= 1
