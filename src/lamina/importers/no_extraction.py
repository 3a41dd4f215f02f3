"""Extraction for imported words whose statements are imported with them: words are compared, nothing is extracted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lamina.atom.atom import Atom
from lamina.capture.extractor import CapturedTurn
from lamina.capture.statement_extractor import StatementBatch, StatementExtractor
from lamina.capture.store_reads import WriteContext


class WithoutExtraction(StatementExtractor):
    """Extracts no statements, so that what was decided about them in the other memory is not reversed."""

    def extract(
        self,
        turns: Sequence[CapturedTurn],
        before: Sequence[CapturedTurn],
        segments: Mapping[str, Atom],
        context: WriteContext,
    ) -> StatementBatch:
        """Return no statements."""
        return StatementBatch([], "the memory they come from")


def without_extraction(extractor: StatementExtractor) -> StatementExtractor:
    """Return an extractor with the same parts that extracts nothing."""
    return WithoutExtraction(
        extractor=extractor.extractor,
        urgency_patterns=extractor.urgency_patterns,
        embedder=extractor.embedder,
        multi_valued=extractor.multi_valued,
        state_reader=extractor.state_reader,
    )
