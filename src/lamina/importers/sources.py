"""The words of an export and the statements that rest on them: which words no statement holds on to any longer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from lamina.atom.atom import Atom, Evidence
from lamina.atom.passage import passage_of
from lamina.atom.status import Status
from lamina.importers.item import Quote

STOOD = frozenset({Status.ACTIVE, Status.ARCHIVED, Status.CHALLENGED, Status.CONSTRAINED})
"""What had not ended where it came from."""
_HOLD = STOOD - {Status.CONSTRAINED}
_OVER = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})


class Sources:
    """The words of some atoms, and which of the statements among them rest on which."""

    def __init__(self, atoms: Iterable[Atom]) -> None:
        self._words: dict[str, Atom] = {}
        self._holding: dict[tuple[str, int], list[Evidence]] = defaultdict(list)
        self._over: dict[str, list[Atom]] = defaultdict(list)
        self._rested: set[str] = set()
        self._made_into: set[tuple[str, str]] = set()
        for atom in atoms:
            self._made_into |= {(source, atom.id) for source in atom.derived_from}
            self._rested |= {each.segment for each in atom.evidence}
            if atom.is_segment:
                self._words[atom.id] = atom
                continue
            for each in atom.evidence if atom.status in _HOLD else ():
                self._holding[each.segment, each.passage].append(each)
            for segment in dict.fromkeys(each.segment for each in atom.evidence) if atom.status in _OVER else ():
                self._over[segment].append(atom)

    def rest_on(self, segment: Atom) -> bool:
        """Whether any statement rests on these words: somebody has read them."""
        return segment.id in self._rested

    def quotes(self, atom: Atom) -> tuple[Quote, ...]:
        """The words a statement rests on, so far as they are there."""
        found = (self._quote(each) for each in (atom.evidence if atom.status in STOOD else self._taken_along(atom)))
        return tuple(each for each in found if each is not None)

    def over(self, segment: Atom) -> dict[int, list[tuple[int, int]]]:
        """The places in each passage of a segment where words stand that are over."""
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for each in (one for atom in self._over.get(segment.id, ()) for one in self._taken_along(atom)):
            if each.segment == segment.id:
                found[each.passage].append((each.start, each.end))
        return found

    def _taken_along(self, atom: Atom) -> list[Evidence]:
        """The words that are over with a statement: those no other one holds on to, and none where what took its place
        was made out of it, for then they say no less than they did."""
        if any((atom.id, heir) in self._made_into for heir in atom.superseded_by):
            return []
        return [fromkey for fromkey in dict.fromkeys(atom.evidence) if not self._is_held(fromkey)]

    def _is_held(self, own: Evidence) -> bool:
        """Whether a statement that holds rests on these words too, and not only on more words around them."""
        held = self._holding.get((own.segment, own.passage), ())
        return any(one.start < own.end and own.start < one.end and not _is_part(own, one) for one in held)

    def _quote(self, evidence: Evidence) -> Quote | None:
        segment = self._words.get(evidence.segment)
        passage = passage_of(segment, evidence.passage) if segment else None
        words = passage.text[evidence.start : evidence.end] if passage else ""
        comes = segment is not None and (segment.status in STOOD or segment.status is Status.SUPERSEDED)
        if segment is None or passage is None or not comes or not words.strip():
            return None
        return Quote(session_of(segment), passage.speaker, passage.at, words)


def session_of(segment: Atom) -> str:
    """The session under which words come in."""
    return segment.session_id or str(segment.segment_id)


def _is_part(own: Evidence, whole: Evidence) -> bool:
    return whole != own and whole.start <= own.start and own.end <= whole.end
