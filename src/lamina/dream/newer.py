"""Finds sentences about the same things that were said after a statement was last affirmed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom, Evidence
from lamina.atom.passage import Passage
from lamina.atom.standing import begins
from lamina.atom.status import Status
from lamina.atom.trust import statements_wait
from lamina.capture.change.known import Known
from lamina.capture.change.sentence import is_vouched_for, statable_sentences
from lamina.dream.entity_pages import is_stated
from lamina.dream.scene import LIVE, Scene
from lamina.lifecycle.signals import recorded
from lamina.text.analyse import content_words
from lamina.text.normal import normal_form, one_line

LOOKED_AT = 40
"""The most passages with common words that are compared with a statement."""


@dataclass(frozen=True, slots=True)
class Line:
    """A later sentence: its text, speaker and time.

    `source` is the statement itself or the segment that contains it; `evidence` is its place in that segment.
    """

    text: str
    speaker: str | None
    at: datetime
    source: Atom
    place: Evidence | None


def newer_lines(belief: Atom, known: Known, scene: Scene) -> list[Line]:
    """Return what people said about the same things since a statement was last affirmed, in order of time."""
    words = content_words(belief.content)
    if not words:
        return []
    affirmed_at = _stood_by(belief, scene)
    passages = known.search(words, LIVE, LOOKED_AT, is_vouched_for)
    lines = (line for atom, passage in passages for line in _lines(atom, passage, belief, known, affirmed_at))
    return [line for line in lines if begins(belief) < line.at <= scene.now]


def _stood_by(belief: Atom, scene: Scene) -> datetime:
    """Return when anyone but a dream last wrote the statement: repeated, confirmed, edited or cleared it."""
    times = [version.at for version in scene.store.versions(belief.id) if version.verb != "dream"]
    return max(times, default=recorded(belief))


def _lines(atom: Atom, passage: Passage, belief: Atom, known: Known, stood: datetime) -> Iterator[Line]:
    if not atom.is_segment:
        if _may_speak(atom, belief) and recorded(atom) > stood:
            yield _of_statement(atom)
        return
    at = passage.at or atom.observed_at
    if max(at, recorded(atom)) <= stood:
        return
    for start, end, text in statable_sentences(passage.text):
        evidence = Evidence(atom.id, passage.n, start, end)
        if known.holds(evidence) and not any(resting.id == belief.id for resting in known.on(evidence)):
            yield Line(text, passage.speaker, at, atom, evidence)


def _of_statement(atom: Atom) -> Line:
    return Line(one_line(atom.content), atom.subject or None, begins(atom), atom, None)


def _may_speak(atom: Atom, belief: Atom) -> bool:
    """Return whether a statement is a trusted one and may be about the same thing."""
    if atom.id == belief.id or atom.status is not Status.ACTIVE or not is_stated(atom) or statements_wait(atom.origin):
        return False
    subjects = {form for candidate in (atom, belief) if (form := normal_form(candidate.subject))}
    return len(subjects) <= 1
