"""The sentences about the same things that were said since a statement was last confirmed."""

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
"""How many passages that share words with a statement are held against it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence said later: whose words, where, and when.

    `source` is the statement itself or the words it stands in; `place` tells where in those words.
    """

    text: str
    speaker: str | None
    at: datetime
    source: Atom
    place: Evidence | None


def newer_lines(belief: Atom, known: Known, scene: Scene) -> list[Line]:
    """What people said about the same things since anybody last stood by a statement, in the order it was said."""
    words = content_words(belief.content)
    if not words:
        return []
    stood = _stood_by(belief, scene)
    found = known.search(words, LIVE, LOOKED_AT, is_vouched_for)
    lines = (line for atom, passage in found for line in _lines(atom, passage, belief, known, stood))
    return [each for each in lines if begins(belief) < each.at <= scene.now]


def _stood_by(belief: Atom, scene: Scene) -> datetime:
    """When anybody but a dream last wrote it: said it again, confirmed it, edited it or took a doubt back."""
    told = [version.at for version in scene.store.versions(belief.id) if version.verb != "dream"]
    return max(told, default=recorded(belief))


def _lines(atom: Atom, passage: Passage, belief: Atom, known: Known, stood: datetime) -> Iterator[Line]:
    if not atom.is_segment:
        if _may_speak(atom, belief) and recorded(atom) > stood:
            yield _of_statement(atom)
        return
    at = passage.at or atom.observed_at
    if max(at, recorded(atom)) <= stood:
        return
    for start, end, text in statable_sentences(passage.text):
        place = Evidence(atom.id, passage.n, start, end)
        if known.holds(place) and not any(each.id == belief.id for each in known.on(place)):
            yield Line(text, passage.speaker, at, atom, place)


def _of_statement(atom: Atom) -> Line:
    return Line(one_line(atom.content), atom.subject or None, begins(atom), atom, None)


def _may_speak(atom: Atom, belief: Atom) -> bool:
    """Whether a statement is somebody's own and may be about the same thing."""
    if atom.id == belief.id or atom.status is not Status.ACTIVE or not is_stated(atom) or statements_wait(atom.origin):
        return False
    subjects = {form for each in (atom, belief) if (form := normal_form(each.subject))}
    return len(subjects) <= 1
