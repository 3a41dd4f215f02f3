"""What was said since a statement was last stood by, and what of it speaks against the statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom, Evidence
from lamina.atom.claim import claim_of
from lamina.atom.passage import Passage
from lamina.atom.standing import begins
from lamina.atom.status import Status
from lamina.atom.trust import statements_wait
from lamina.capture.change.known import Known
from lamina.capture.change.link import Earlier
from lamina.capture.change.links import decide
from lamina.capture.change.sentence import LONGEST_SENTENCE, is_vouched_for, name_of, told_by
from lamina.capture.change.since import since
from lamina.capture.change.told import Told, told
from lamina.capture.entity import is_stated
from lamina.dream.scene import LIVE, Scene
from lamina.lifecycle.signals import recorded
from lamina.models.sense import alike
from lamina.text.analyse import QUESTION_STOP, analyse
from lamina.text.normal import normal_form, one_line

LOOKED_AT = 40
"""How many passages that share words with a statement are held against it."""
_REACHED = frozenset({"email", "phone"})
"""Of these somebody may have several, and yet a new one commonly takes the place of the old."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence said later: whose words, where, from when it holds, and what it tells.

    `source` is the statement itself or the words it stands in; `place` tells where in those words.
    """

    text: str
    speaker: str | None
    at: datetime
    source: Atom
    place: Evidence | None
    tellings: tuple[Told, ...]


def newer_lines(belief: Atom, known: Known, scene: Scene) -> list[Line]:
    """What people said about the same things since anybody last stood by a statement, in the order it was said."""
    words = [word for word in analyse(belief.content) if word not in QUESTION_STOP]
    if not words:
        return []
    stood = _stood_by(belief, scene)
    found = known.search(words, LIVE, LOOKED_AT, is_vouched_for)
    lines = (line for atom, passage in found for line in _lines(atom, passage, belief, known, stood))
    return [each for each in lines if begins(belief) < each.at <= scene.now]


def speaks_against(line: Line, belief: Atom) -> bool | None:
    """Whether a line overtakes a statement for sure, True, or perhaps, False; None where nothing tells that it does."""
    olds = list(_olds(belief, line))
    links = [link for new in line.tellings if not new.ahead for old in olds for link in decide(new, [old], alike)]
    counted = [each for each in links if not (each.is_another_value and _may_be_several(belief))]
    return any(each.sure for each in counted) if counted else None


def _stood_by(belief: Atom, scene: Scene) -> datetime:
    """When anybody but a dream last wrote it: said it again, confirmed it, edited it or took a doubt back."""
    told = [each.at for each in scene.store.versions(belief.id) if each.verb != "dream"]
    return max(told, default=recorded(belief))


def _lines(atom: Atom, passage: Passage, belief: Atom, known: Known, stood: datetime) -> Iterator[Line]:
    if not atom.is_segment:
        if _may_speak(atom, belief) and recorded(atom) > stood:
            yield _of_statement(atom)
        return
    at = passage.at or atom.observed_at
    if max(at, recorded(atom)) <= stood:
        return
    for start, end, text, before, tellings in told_by(passage.text, name_of(passage.speaker)):
        place = Evidence(atom.id, passage.n, start, end)
        if tellings and known.holds(place) and not any(each.id == belief.id for each in known.on(place)):
            yield Line(text, passage.speaker, since(text, at, before) or at, atom, place, tellings)


def _of_statement(atom: Atom) -> Line:
    text = one_line(atom.content)
    new = told(text, atom.subject or None) if len(text) <= LONGEST_SENTENCE else None
    return Line(text, atom.subject or None, begins(atom), atom, None, (new,) if new else ())


def _may_speak(atom: Atom, belief: Atom) -> bool:
    """Whether a statement is somebody's own and may be about the same thing."""
    if atom.id == belief.id or atom.status is not Status.ACTIVE or not is_stated(atom) or statements_wait(atom.origin):
        return False
    subjects = {form for each in (atom, belief) if (form := normal_form(each.subject))}
    return len(subjects) <= 1


def _olds(belief: Atom, line: Line) -> Iterator[Earlier[int]]:
    """The statement as it is compared: as the words of whom it is about, or of nobody where another names them."""
    text = one_line(belief.content)
    subject = belief.subject or None
    if len(text) > LONGEST_SENTENCE:
        return
    speaker = name_of(line.speaker)
    other = speaker is not None and subject is not None and normal_form(speaker) != normal_form(subject)
    if other and not set(normal_form(subject or "").split()) <= set(normal_form(line.text).split()):
        return
    old = told(text, None if other else subject)
    if old is not None:
        yield Earlier(old, 0)


def _may_be_several(belief: Atom) -> bool:
    claim = claim_of(belief)
    return claim is not None and not claim.single_valued and claim.attribute not in _REACHED
