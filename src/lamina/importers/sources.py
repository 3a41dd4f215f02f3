"""Relate the words of an export to the statements that rest on them, to find words that no valid statement supports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from lamina.atom.atom import Atom, Evidence
from lamina.atom.passage import passage_of
from lamina.atom.status import Status
from lamina.importers.item import Quote

STOOD = frozenset({Status.ACTIVE, Status.ARCHIVED, Status.CHALLENGED, Status.CONSTRAINED})
"""Statuses of atoms that had not ended in the exported memory."""
_HOLD = STOOD - {Status.CONSTRAINED}
_OVER = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})


class Sources:
    """The words of some atoms, and which statements rest on which of them."""

    def __init__(self, atoms: Iterable[Atom]) -> None:
        self._segments: dict[str, Atom] = {}
        self._supporting: dict[tuple[str, int], list[Evidence]] = defaultdict(list)
        self._ended_by_segment: dict[str, list[Atom]] = defaultdict(list)
        self._cited_segments: set[str] = set()
        self._derivations: set[tuple[str, str]] = set()
        for atom in atoms:
            self._derivations |= {(source, atom.id) for source in atom.derived_from}
            self._cited_segments |= {evidence.segment for evidence in atom.evidence}
            if atom.is_segment:
                self._segments[atom.id] = atom
                continue
            for evidence in atom.evidence if atom.status in _HOLD else ():
                self._supporting[evidence.segment, evidence.passage].append(evidence)
            for segment in (
                dict.fromkeys(evidence.segment for evidence in atom.evidence) if atom.status in _OVER else ()
            ):
                self._ended_by_segment[segment].append(atom)

    def rest_on(self, segment: Atom) -> bool:
        """Return whether any statement rests on these words, so that they were read before."""
        return segment.id in self._cited_segments

    def quotes(self, atom: Atom) -> tuple[Quote, ...]:
        """Return the words a statement rests on, as far as they are in the export."""
        quotes = (
            self._quote(evidence) for evidence in (atom.evidence if atom.status in STOOD else self._taken_along(atom))
        )
        return tuple(quote for quote in quotes if quote is not None)

    def over(self, segment: Atom) -> dict[int, list[tuple[int, int]]]:
        """Return the spans of ended words in each passage of a segment."""
        spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for evidence in (
            ended for atom in self._ended_by_segment.get(segment.id, ()) for ended in self._taken_along(atom)
        ):
            if evidence.segment == segment.id:
                spans[evidence.passage].append((evidence.start, evidence.end))
        return spans

    def _taken_along(self, atom: Atom) -> list[Evidence]:
        """Return the words that ended with a statement: those no other statement rests on.

        None if its successor was derived from it, because then the words are still true.
        """
        if any((atom.id, successor) in self._derivations for successor in atom.superseded_by):
            return []
        return [fromkey for fromkey in dict.fromkeys(atom.evidence) if not self._is_held(fromkey)]

    def _is_held(self, own: Evidence) -> bool:
        """Return whether a valid statement rests on these words too, and not only on a longer quote around them."""
        supporting = self._supporting.get((own.segment, own.passage), ())
        return any(other.start < own.end and own.start < other.end and not _is_part(own, other) for other in supporting)

    def _quote(self, evidence: Evidence) -> Quote | None:
        segment = self._segments.get(evidence.segment)
        passage = passage_of(segment, evidence.passage) if segment else None
        words = passage.text[evidence.start : evidence.end] if passage else ""
        is_imported = segment is not None and (segment.status in STOOD or segment.status is Status.SUPERSEDED)
        if segment is None or passage is None or not is_imported or not words.strip():
            return None
        return Quote(session_of(segment), passage.speaker, passage.at, words)


def session_of(segment: Atom) -> str:
    """Return the session id under which words are imported."""
    return segment.session_id or str(segment.segment_id)


def _is_part(own: Evidence, whole: Evidence) -> bool:
    return whole != own and whole.start <= own.start and own.end <= whole.end
