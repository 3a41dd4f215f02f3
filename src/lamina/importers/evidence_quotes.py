"""Relate quotes to the words they are from: in an export, and among the words that were imported here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from lamina.atom.atom import Atom, Evidence
from lamina.atom.passage import Passage, passage_of, passages_of
from lamina.atom.provenance import TRUST, Origin, Scope
from lamina.atom.status import Status
from lamina.capture.redact import redact
from lamina.importers.import_items import EvidenceQuote
from lamina.store.base import AtomFilter, Store

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
            for segment in {evidence.segment: None for evidence in atom.evidence if atom.status in _ENDED}:
                self._ended_by_segment[segment].append(atom)

    def is_evidence(self, segment: Atom) -> bool:
        """Return whether any statement rests on these words, so that they were read before."""
        return segment.id in self._cited_segments

    def quotes(self, atom: Atom) -> tuple[EvidenceQuote, ...]:
        """Return the words a statement rests on, as far as they are in the export."""
        evidence = atom.evidence if atom.status in NOT_ENDED else self._ended_evidence(atom)
        quotes = map(self._to_quote, evidence)
        return tuple(quote for quote in quotes if quote is not None)

    def ended_spans(self, segment: Atom) -> dict[int, list[tuple[int, int]]]:
        """Return the spans of ended words in each passage of a segment."""
        spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for atom in self._ended_by_segment.get(segment.id, ()):
            for evidence in self._ended_evidence(atom):
                if evidence.segment == segment.id:
                    spans[evidence.passage].append((evidence.start, evidence.end))
        return spans

    def _ended_evidence(self, atom: Atom) -> list[Evidence]:
        """Return the words that ended with a statement: those no other statement rests on.

        None if its successor was derived from it, because then the words are still true.
        """
        if any((atom.id, successor) in self._derivations for successor in atom.superseded_by):
            return []
        return [evidence for evidence in dict.fromkeys(atom.evidence) if not self._is_supported(evidence)]

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


class QuoteLocator:
    """Finds quotes in the sessions of a scope; each session is read once."""

    def __init__(self, store: Store, scope: Scope, *, personal: bool = False) -> None:
        self._store, self._scope, self._personal = store, scope, personal
        self._sessions: dict[str, list[tuple[Atom, Passage]]] = {}

    def find_evidence(self, quotes: Sequence[EvidenceQuote], origin: Origin, source: str) -> tuple[Evidence, ...]:
        """Return where the quoted words are stored here.

        Only words from the same type of source and of the same trust count, so that an import cannot use other words as
        its evidence.
        """
        matches = (self._find(quote, origin, source) for quote in quotes)
        return tuple(dict.fromkeys(match for match in matches if match is not None))

    def _find(self, quote: EvidenceQuote, origin: Origin, source: str) -> Evidence | None:
        words = redact(quote.words, personal=self._personal).text
        for segment, passage in self._passages_of_session(redact(quote.session_id).text):
            start = passage.text.find(words)
            is_same_source = (segment.source_id or "").startswith(f"{source}:")
            is_as_trusted = TRUST[segment.origin] == TRUST[origin]
            if is_same_source and is_as_trusted and start >= 0 and self._is_same_turn(passage, quote):
                return Evidence(segment.id, passage.n, start, start + len(words))
        return None

    def _is_same_turn(self, passage: Passage, quote: EvidenceQuote) -> bool:
        speaker = redact(quote.speaker, personal=self._personal).text if quote.speaker else None
        return passage.speaker == speaker and (None in (passage.at, quote.at) or passage.at == quote.at)

    def _passages_of_session(self, session: str) -> list[tuple[Atom, Passage]]:
        if session not in self._sessions:
            self._sessions[session] = list(self._read_session(session))
        return self._sessions[session]

    def _read_session(self, session: str) -> Iterator[tuple[Atom, Passage]]:
        atoms = self._store.atoms.read(AtomFilter(scopes=(self._scope,), session_id=session))
        for segment in sorted((atom for atom in atoms if atom.is_segment), key=lambda atom: atom.id):
            yield from ((segment, passage) for passage in passages_of(segment))
