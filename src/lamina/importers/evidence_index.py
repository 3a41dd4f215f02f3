"""Relate the words of an export to the statements that rest on them, to find words that no valid statement supports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from lamina.atom.atom import Atom, Evidence
from lamina.atom.passage import passage_of
from lamina.atom.status import Status
from lamina.importers.import_items import EvidenceQuote

NOT_ENDED = frozenset({Status.ACTIVE, Status.ARCHIVED, Status.CHALLENGED, Status.CONSTRAINED})
"""Statuses of atoms that had not ended in the exported memory."""
_SUPPORTING = NOT_ENDED - {Status.CONSTRAINED}
_ENDED = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})


class EvidenceIndex:
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
            for evidence in atom.evidence if atom.status in _SUPPORTING else ():
                self._supporting[evidence.segment, evidence.passage].append(evidence)
            for segment in (
                dict.fromkeys(evidence.segment for evidence in atom.evidence) if atom.status in _ENDED else ()
            ):
                self._ended_by_segment[segment].append(atom)

    def is_evidence(self, segment: Atom) -> bool:
        """Return whether any statement rests on these words, so that they were read before."""
        return segment.id in self._cited_segments

    def quotes(self, atom: Atom) -> tuple[EvidenceQuote, ...]:
        """Return the words a statement rests on, as far as they are in the export."""
        quotes = (
            self._to_quote(evidence)
            for evidence in (atom.evidence if atom.status in NOT_ENDED else self._ended_evidence(atom))
        )
        return tuple(quote for quote in quotes if quote is not None)

    def ended_spans(self, segment: Atom) -> dict[int, list[tuple[int, int]]]:
        """Return the spans of ended words in each passage of a segment."""
        spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for evidence in (
            ended for atom in self._ended_by_segment.get(segment.id, ()) for ended in self._ended_evidence(atom)
        ):
            if evidence.segment == segment.id:
                spans[evidence.passage].append((evidence.start, evidence.end))
        return spans

    def _ended_evidence(self, atom: Atom) -> list[Evidence]:
        """Return the words that ended with a statement: those no other statement rests on.

        None if its successor was derived from it, because then the words are still true.
        """
        if any((atom.id, successor) in self._derivations for successor in atom.superseded_by):
            return []
        return [fromkey for fromkey in dict.fromkeys(atom.evidence) if not self._is_supported(fromkey)]

    def _is_supported(self, evidence: Evidence) -> bool:
        """Return whether a valid statement rests on these words too, and not only on a longer quote around them."""
        supporting = self._supporting.get((evidence.segment, evidence.passage), ())
        return any(
            other.start < evidence.end and evidence.start < other.end and not _is_part_of(evidence, other)
            for other in supporting
        )

    def _to_quote(self, evidence: Evidence) -> EvidenceQuote | None:
        segment = self._segments.get(evidence.segment)
        passage = passage_of(segment, evidence.passage) if segment else None
        words = passage.text[evidence.start : evidence.end] if passage else ""
        is_imported = segment is not None and (segment.status in NOT_ENDED or segment.status is Status.SUPERSEDED)
        if segment is None or passage is None or not is_imported or not words.strip():
            return None
        return EvidenceQuote(session_id_of(segment), passage.speaker, passage.at, words)


def session_id_of(segment: Atom) -> str:
    """Return the session id under which words are imported."""
    return segment.session_id or str(segment.segment_id)


def _is_part_of(part: Evidence, whole: Evidence) -> bool:
    return whole != part and whole.start <= part.start and part.end <= whole.end
