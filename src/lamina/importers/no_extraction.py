"""A reader for imported words whose statements are imported with them: it compares the words but extracts nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.capture.extraction import CapturedTurn
from lamina.capture.extraction_queue import StatementReader
from lamina.capture.statement_atoms import StatementBatch
from lamina.store.base import Store


class NoExtractionReader(StatementReader):
    """Extracts no statements, so that what was decided about them in the other memory is not reversed."""

    def extract(
        self,
        turns: Sequence[CapturedTurn],
        before: Sequence[CapturedTurn],
        segments: Mapping[str, Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
    ) -> StatementBatch:
        """Return no statements."""
        return StatementBatch([], "the memory they come from")


def without_extraction(reader: StatementReader) -> StatementReader:
    """Return a reader like this one that extracts nothing."""
    return NoExtractionReader(
        reader.extractor, reader.patterns, reader.embedder, reader.multi_valued, None, reader.state_reader
    )
