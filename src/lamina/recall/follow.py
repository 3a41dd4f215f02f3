"""Evidence follows its facts: one slot for a statement and its words, and what is over gives its slot to what holds.

A statement whose own words are candidates too goes with them: said twice it would push others out, and its words are
what the ranking was made for. Where the sentence that answers is over, what took its place is shown with its score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import Passage, passage_of, passages_of
from lamina.atom.sources import is_summary
from lamina.atom.status import ENDED, RECALL_WEIGHT, Status
from lamina.recall.candidate import Candidate, passages_read
from lamina.recall.grounds import Grounds
from lamina.recall.marks import Before, Instead, Mark
from lamina.recall.past import is_said
from lamina.recall.shown import Shown, show, show_whole
from lamina.recall.view import View
from lamina.store.encodings import Key
from lamina.text.analyse import QUESTION_STOP, analyse

FOREIGN = 1
"""A statement that says more words than this which its source does not say stands for itself: somebody edited it."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that answers, with the candidate its score is made of, and the statements that were taken from it, best
    first.

    `instead_of` is the passage whose slot and score it took; `before` what it was moved in front of.
    """

    candidate: Candidate
    atom: Atom
    passage: Passage
    shown: Shown
    statements: list[Atom]
    instead_of: Instead | None = None
    before: tuple[Before, ...] = ()

    @property
    def key(self) -> Key:
        return self.atom.id, self.passage.n


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """How far to follow. `shelf` are candidates that normal recall does not show, `kinds` the sorts of memory that may
    answer, `history` whether all that ended is asked for."""

    shelf: frozenset[Key] = frozenset()
    kinds: frozenset[MemoryType] = frozenset(MemoryType)
    history: bool = False


def with_their_words(
    ordered: Sequence[Candidate], many: int, view: View, following: Following | None = None
) -> tuple[list[Found], Grounds]:
    """The best candidates, so far as they are still there and hold; what took the place of others in their slots. And
    what they stand on."""
    slots = _Slots(ordered, view, following or Following())
    for start in range(0, len(ordered), many):
        slots.take(ordered[start : start + many])
        if len(slots.found) >= many:
            break
    return list(slots.found.values())[:many], slots.grounds


def as_whole(atoms: Sequence[Atom], view: View, *, history: bool = False) -> list[Shown]:
    """Each atom with all its words, so far as they hold."""
    grounds = Grounds(view, history=history)
    words = [atom for atom in atoms if atom.is_segment]
    keys = ((atom.id, passage.n) for atom in words for passage in passages_of(atom))
    grounds.look(keys, [atom for atom in atoms if not atom.is_segment])
    return [show_whole(atom, grounds) if atom.is_segment else _stated(atom, grounds) for atom in atoms]


class _Slots:
    """The slots taken so far, in order."""

    def __init__(self, ordered: Sequence[Candidate], view: View, following: Following) -> None:
        self.found: dict[Key, Found] = {}
        self.grounds = Grounds(view, history=following.history)
        self._view, self._following = view, following
        self._known = {candidate.key: candidate for candidate in ordered}
        self._read: dict[Key, tuple[Atom, Passage]] = {}
        self._shown: dict[Key, Shown] = {}
        self._waiting: dict[Key, list[Atom]] = {}

    def take(self, batch: Sequence[Candidate]) -> None:
        """Give each of these its slot."""
        self._look(batch)
        for candidate in (each for each in batch if each.key in self._read):
            atom, passage = self._read[candidate.key]
            if atom.is_segment:
                self._take_words(candidate, atom, passage)
            elif self._is_made_of_the_past(atom):
                continue
            elif self._is_over(candidate, atom):
                self._hand_over(candidate, [atom], atom.status.value)
            elif candidate.key not in self._following.shelf or atom.status in ENDED or self._is_missed(atom):
                self._take_statement(candidate, atom, passage)

    def _is_over(self, candidate: Candidate, atom: Atom) -> bool:
        ended = candidate.key in self._following.shelf and atom.status in ENDED
        return (ended or self.grounds.is_gone(atom)) and not self.grounds.is_told(atom)

    def _is_made_of_the_past(self, atom: Atom) -> bool:
        """Whether a dream summed up what has changed since: it would tell of what is over until the next dream."""
        if not is_summary(atom) or self._following.history:
            return False
        return self.grounds.is_unsettled(atom) or self.grounds.is_outdated(atom)

    def _is_missed(self, atom: Atom) -> bool:
        """Whether a doubted statement is shown all the same: nothing answers better, and nothing that holds speaks
        against it."""
        return not self.found and not self.grounds.has_rival(atom)

    def _look(self, batch: Sequence[Candidate]) -> None:
        """Read the batch, the words of its statements so far as they are candidates, and the words of heirs."""
        self._read_candidates([candidate for candidate in batch if candidate.key not in self._read])
        own = [self._read[candidate.key][0] for candidate in batch if candidate.key in self._read]
        sources = {key for atom in own for key in _rests_on(atom)} & self._known.keys()
        self._read_candidates([self._known[key] for key in sorted(sources - self._read.keys())])
        there = [key for key in (*(candidate.key for candidate in batch), *sorted(sources)) if key in self._read]
        self.grounds.look(
            [key for key in there if self._read[key][0].is_segment],
            [self._read[key][0] for key in there if not self._read[key][0].is_segment],
        )
        self._read_heirs(there)

    def _read_candidates(self, candidates: Sequence[Candidate]) -> None:
        if candidates:
            self._read |= passages_read(candidates, self._view)

    def _read_heirs(self, keys: Iterable[Key]) -> None:
        """Read the words that slots will be given to, if they are not at hand."""
        words = [key for key in keys if self._read[key][0].is_segment]
        own = [atom for key in keys if not (atom := self._read[key][0]).is_segment and atom.superseded_by]
        gone = [*(atom for key in words for atom in self._show(key).gone), *own]
        heirs = {heir.id: heir for atom in gone for heir in self.grounds.words_lead_to(atom)}
        if not heirs:
            return
        wanted = {key for heir in heirs.values() for key in _rests_on(heir)[:1] if key not in self._read}
        segments = self._view.atoms(sorted({key[0] for key in wanted})) if wanted else {}
        for key in sorted(wanted):
            segment = segments.get(key[0])
            passage = passage_of(segment, key[1]) if segment and segment.status in RECALL_WEIGHT else None
            if segment is not None and passage is not None:
                self._read[key] = segment, passage
        placed = {key for heir in heirs.values() for key in _rests_on(heir) if key in self._read}
        self.grounds.look(placed, heirs.values())
        for key in placed:
            self._shown.pop(key, None)

    def _take_words(self, candidate: Candidate, atom: Atom, passage: Passage) -> None:
        shown = self._show(candidate.key)
        if shown.gone:
            self._hand_over(candidate, shown.gone, self.grounds.marks(shown.gone[0])[0].value)
        if shown.is_left and candidate.key not in self.found:
            waiting = self._waiting.pop(candidate.key, [])
            self.found[candidate.key] = Found(candidate, atom, passage, shown, waiting)

    def _take_statement(self, candidate: Candidate, atom: Atom, passage: Passage) -> None:
        words = [
            key for key in self._words_of(atom) if key in self.found or (key in self._known and self._show(key).is_left)
        ]
        if not words and candidate.key not in self.found:
            self.found[candidate.key] = Found(candidate, atom, passage, _stated(atom, self.grounds), [])
        for key in words if candidate.key not in self._following.shelf else ():
            riding = self.found[key].statements if key in self.found else self._waiting.setdefault(key, [])
            if atom not in riding:
                riding.append(atom)

    def _hand_over(self, candidate: Candidate, gone: Iterable[Atom], why: str) -> None:
        """Give the slot of a candidate to what took the place of what it says, unless that has a better one already."""
        instead = Instead(*candidate.key, why)
        for heir in {heir.id: heir for atom in gone for heir in self.grounds.words_lead_to(atom)}.values():
            words = self._words_of(heir) if MemoryType.NARRATIVE in self._following.kinds else []
            if (heir.id, 1) in self.found or any(key in self.found for key in words):
                continue
            waits = self.grounds.waits(heir)
            if words and not (waits and not self._show(words[0]).is_left):
                key, riding = words[0], self._waiting.pop(words[0], [])
                riding = riding if waits else [heir, *(each for each in riding if each.id != heir.id)]
                self.found[key] = Found(candidate, *self._read[key], self._show(key, heir), riding, instead)
            elif heir.memory_type in self._following.kinds and not waits:
                passage, shown = passages_of(heir)[0], _stated(heir, self.grounds)
                self.found[heir.id, 1] = Found(candidate, heir, passage, shown, [], instead)

    def _words_of(self, atom: Atom) -> list[Key]:
        """The passages at hand that say what a statement says."""
        return [
            key
            for key in _rests_on(atom)
            if key in self._read
            and is_said(self._view, *self._read[key])
            and _says(self._read[key][1].text, atom.content, atom.subject)
        ]

    def _show(self, key: Key, about: Atom | None = None) -> Shown:
        """A passage as it is shown; `about` is the statement it is shown for, if it is not for the question's words."""
        if about is None and key in self._shown:
            return self._shown[key]
        atom, passage = self._read[key]
        match = self._known[key].match if key in self._known else None
        shown = show(passage.text, self.grounds.on(key), self.grounds, dict(match.parts) if match else {}, about)
        if atom.status is not Status.ACTIVE:
            shown = replace(shown, marks=(atom.status.value, *shown.marks))
        if about is None:
            self._shown[key] = shown
        return shown


def _stated(atom: Atom, grounds: Grounds) -> Shown:
    """A statement as it is shown by itself."""
    marks = grounds.marks(atom)
    told = () if atom.status is Status.ACTIVE or Mark.HISTORICAL in marks else (atom.status.value,)
    more = (mark.value for mark in marks if atom.status is Status.ACTIVE or mark not in _AS_STATUS)
    return Shown(passages_of(atom)[0].text, (*told, *more), says=(atom,))


_AS_STATUS = frozenset({Mark.SUPERSEDED, Mark.WRONG, Mark.TAKEN_BACK, Mark.DISPUTED})
"""Marks that say of a statement what its status says already."""


@lru_cache(maxsize=4096)
def _says(words: str, statement: str, subject: str) -> bool:
    """Whether words say what a statement says: it may lose who speaks and gain a date, not much more."""
    foreign = frozenset(analyse(statement)) - frozenset(analyse(subject)) - frozenset(analyse(words)) - _NEVER_FOREIGN
    return sum(not token.isdecimal() for token in foreign) <= FOREIGN


def _rests_on(atom: Atom) -> list[Key]:
    return list(dict.fromkeys((AtomId(each.segment), each.passage) for each in atom.evidence))


_DATES = """
    january february march april may june july august september october november december
    week month year night morning evening
"""
_NEVER_FOREIGN = QUESTION_STOP | frozenset(analyse(_DATES))
