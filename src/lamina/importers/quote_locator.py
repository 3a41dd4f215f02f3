"""Find the words that a statement rested on in another memory among the words that were imported here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lamina.atom.atom import Atom, Evidence
from lamina.atom.passage import Passage, passages_of
from lamina.atom.provenance import TRUST, Origin, Scope
from lamina.capture.redact import redact
from lamina.importers.import_items import EvidenceQuote
from lamina.store.base import AtomFilter, Store


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
