"""Result passages: a statement shares a place with the words it was extracted from, and an ended statement gives its
place to its successor.

A statement whose source passage is also a candidate goes with that passage: shown twice it would push others out, and
the ranking was tuned on the original words. If the sentence that answers has ended, its successor is shown with its
score.
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
"""A statement with more words than this that its source does not contain is shown by itself: it was edited."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that answers, with the candidate that gives its score and the statements that were extracted from it,
    best first.

    `replaced_passage` is the passage whose place and score it took; `moved_before` the results it was moved in front
    of.
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
        """The key of the passage that is shown."""
        return self.atom.id, self.passage.n


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """What may be shown. `superseded_keys` are candidates that ordinary recall does not show, `memory_types` the types
    that may answer, `include_history` whether ended statements are requested."""

    shelf: frozenset[Key] = frozenset()
    kinds: frozenset[MemoryType] = frozenset(MemoryType)
    history: bool = False


def with_their_words(
    ordered: Sequence[Candidate], many: int, view: View, following: Following | None = None
) -> tuple[list[Found], Grounds]:
    """Return the best candidates that still exist and hold as results, with successors in the places of ended ones, and
    the status of the evidence they rest on."""
    builder = _Slots(ordered, view, following or Following())
    for start in range(0, len(ordered), many):
        builder.take(ordered[start : start + many])
        if len(builder.found) >= many:
            break
    return list(builder.found.values())[:many], builder.grounds


def as_whole(atoms: Sequence[Atom], view: View, *, history: bool = False) -> list[Shown]:
    """Return each atom with all its words, without the sentences that no longer hold."""
    evidence = Grounds(view, history=history)
    segments = [atom for atom in atoms if atom.is_segment]
    keys = ((atom.id, passage.n) for atom in segments for passage in passages_of(atom))
    evidence.look(keys, [atom for atom in atoms if not atom.is_segment])
    return [show_whole(atom, evidence) if atom.is_segment else _stated(atom, evidence) for atom in atoms]


class _Slots:
    """Collects results in order."""

    def __init__(self, ordered: Sequence[Candidate], view: View, following: Following) -> None:
        self.found: dict[Key, Found] = {}
        self.grounds = Grounds(view, history=following.history)
        self._view, self._following = view, following
        self._known = {candidate.key: candidate for candidate in ordered}
        self._read: dict[Key, tuple[Atom, Passage]] = {}
        self._shown: dict[Key, Shown] = {}
        self._waiting: dict[Key, list[Atom]] = {}

    def take(self, batch: Sequence[Candidate]) -> None:
        """Add the results for a batch of candidates."""
        self._look(batch)
        for candidate in (entry for entry in batch if entry.key in self._read):
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
        """Return whether a statement has ended and is not shown anyway."""
        ended = candidate.key in self._following.shelf and atom.status in ENDED
        return (ended or self.grounds.is_gone(atom)) and not self.grounds.is_told(atom)

    def _is_made_of_the_past(self, atom: Atom) -> bool:
        """Return whether a dream's summary rests on something that has changed since: it would repeat outdated values
        until the next dream."""
        if not is_summary(atom) or self._following.history:
            return False
        return self.grounds.is_unsettled(atom) or self.grounds.is_outdated(atom)

    def _is_missed(self, atom: Atom) -> bool:
        """Return whether a challenged statement is shown all the same: nothing better answers, and no current statement
        contradicts it."""
        return not self.found and not self.grounds.has_rival(atom)

    def _look(self, batch: Sequence[Candidate]) -> None:
        """Read the batch, those source passages of its statements that are candidates, and the passages of
        successors."""
        self._read_candidates([candidate for candidate in batch if candidate.key not in self._read])
        atoms = [self._read[candidate.key][0] for candidate in batch if candidate.key in self._read]
        sources = {key for atom in atoms for key in _rests_on(atom)} & self._known.keys()
        self._read_candidates([self._known[key] for key in sorted(sources - self._read.keys())])
        existing = [key for key in (*(candidate.key for candidate in batch), *sorted(sources)) if key in self._read]
        self.grounds.look(
            [key for key in existing if self._read[key][0].is_segment],
            [self._read[key][0] for key in existing if not self._read[key][0].is_segment],
        )
        self._read_heirs(existing)

    def _read_candidates(self, candidates: Sequence[Candidate]) -> None:
        """Read the passages of candidates."""
        if candidates:
            self._read |= passages_read(candidates, self._view)

    def _read_heirs(self, keys: Iterable[Key]) -> None:
        """Read the passages of successors that places will be given to."""
        segment_keys = [key for key in keys if self._read[key][0].is_segment]
        replaced = [atom for key in keys if not (atom := self._read[key][0]).is_segment and atom.superseded_by]
        ended = [*(atom for key in segment_keys for atom in self._show(key).gone), *replaced]
        successors = {successor.id: successor for atom in ended for successor in self.grounds.words_lead_to(atom)}
        if not successors:
            return
        missing = {
            key for successor in successors.values() for key in _rests_on(successor)[:1] if key not in self._read
        }
        segments = self._view.atoms(sorted({key[0] for key in missing})) if missing else {}
        for key in sorted(missing):
            segment = segments.get(key[0])
            passage = passage_of(segment, key[1]) if segment and segment.status in RECALL_WEIGHT else None
            if segment is not None and passage is not None:
                self._read[key] = segment, passage
        source_keys = {key for successor in successors.values() for key in _rests_on(successor) if key in self._read}
        self.grounds.look(source_keys, successors.values())
        for key in source_keys:
            self._shown.pop(key, None)

    def _take_words(self, candidate: Candidate, atom: Atom, passage: Passage) -> None:
        """Add a passage of a conversation or document; if its best sentence has ended, add the successor first."""
        rendered = self._show(candidate.key)
        if rendered.gone:
            self._hand_over(candidate, rendered.gone, self.grounds.marks(rendered.gone[0])[0].value)
        if rendered.is_left and candidate.key not in self.found:
            statements = self._waiting.pop(candidate.key, [])
            self.found[candidate.key] = Found(candidate, atom, passage, rendered, statements)

    def _take_statement(self, candidate: Candidate, atom: Atom, passage: Passage) -> None:
        """Add a statement, or attach it to the results that show its source passages."""
        sources = [
            key for key in self._words_of(atom) if key in self.found or (key in self._known and self._show(key).is_left)
        ]
        if not sources and candidate.key not in self.found:
            self.found[candidate.key] = Found(candidate, atom, passage, _stated(atom, self.grounds), [])
        for key in sources if candidate.key not in self._following.shelf else ():
            attached = self.found[key].statements if key in self.found else self._waiting.setdefault(key, [])
            if atom not in attached:
                attached.append(atom)

    def _hand_over(self, candidate: Candidate, gone: Iterable[Atom], why: str) -> None:
        """Give the place of a candidate to the successors of its ended statements, unless they have a better place
        already."""
        replaced_passage = Instead(*candidate.key, why)
        for successor in {
            successor.id: successor for atom in gone for successor in self.grounds.words_lead_to(atom)
        }.values():
            sources = self._words_of(successor) if MemoryType.NARRATIVE in self._following.kinds else []
            if (successor.id, 1) in self.found or any(key in self.found for key in sources):
                continue
            is_pending = self.grounds.waits(successor)
            if sources and not (is_pending and not self._show(sources[0]).is_left):
                key, attached = sources[0], self._waiting.pop(sources[0], [])
                attached = (
                    attached
                    if is_pending
                    else [successor, *(statement for statement in attached if statement.id != successor.id)]
                )
                self.found[key] = Found(
                    candidate, *self._read[key], self._show(key, successor), attached, replaced_passage
                )
            elif successor.memory_type in self._following.kinds and not is_pending:
                passage, rendered = passages_of(successor)[0], _stated(successor, self.grounds)
                self.found[successor.id, 1] = Found(candidate, successor, passage, rendered, [], replaced_passage)

    def _words_of(self, atom: Atom) -> list[Key]:
        """Return the loaded passages that say what a statement says."""
        return [
            key
            for key in _rests_on(atom)
            if key in self._read
            and is_said(self._view, *self._read[key])
            and _says(self._read[key][1].text, atom.content, atom.subject)
        ]

    def _show(self, key: Key, about: Atom | None = None) -> Shown:
        """Render a passage; `about` is the statement it is shown for, if not for the question's words."""
        if about is None and key in self._shown:
            return self._shown[key]
        atom, passage = self._read[key]
        match = self._known[key].match if key in self._known else None
        rendered = show(passage.text, self.grounds.on(key), self.grounds, dict(match.parts) if match else {}, about)
        if atom.status is not Status.ACTIVE:
            rendered = replace(rendered, marks=(atom.status.value, *rendered.marks))
        if about is None:
            self._shown[key] = rendered
        return rendered


def _stated(atom: Atom, grounds: Grounds) -> Shown:
    """Render a statement by itself."""
    marks = grounds.marks(atom)
    status_marks = () if atom.status is Status.ACTIVE or Mark.HISTORICAL in marks else (atom.status.value,)
    other_marks = (mark.value for mark in marks if atom.status is Status.ACTIVE or mark not in _AS_STATUS)
    return Shown(passages_of(atom)[0].text, (*status_marks, *other_marks), says=(atom,))


_AS_STATUS = frozenset({Mark.SUPERSEDED, Mark.WRONG, Mark.TAKEN_BACK, Mark.DISPUTED})
"""Marks that repeat what the status of a statement says."""


@lru_cache(maxsize=4096)
def _says(words: str, statement: str, subject: str) -> bool:
    """Return whether words say what a statement says: it may omit the speaker and add a date, not much more."""
    foreign = frozenset(analyse(statement)) - frozenset(analyse(subject)) - frozenset(analyse(words)) - _NEVER_FOREIGN
    return sum(not token.isdecimal() for token in foreign) <= FOREIGN


def _rests_on(atom: Atom) -> list[Key]:
    """Return the keys of the passages that a statement rests on, without repeats."""
    return list(dict.fromkeys((AtomId(evidence.segment), evidence.passage) for evidence in atom.evidence))


_DATES = """
    january february march april may june july august september october november december
    week month year night morning evening
"""
_NEVER_FOREIGN = QUESTION_STOP | frozenset(analyse(_DATES))
