"""A reader for imported words whose statements are imported with them: it compares the words but extracts nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.capture.found import Said
from lamina.capture.reading import Reader
from lamina.capture.statement import Made
from lamina.store.base import Store


class Retold(Reader):
    """Extracts no statements, so that what was decided about them in the other memory is not reversed."""

    def made(
        self,
        turns: Sequence[Said],
        before: Sequence[Said],
        segments: Mapping[str, Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
    ) -> Made:
        """Return no statements."""
        return Made([], "the memory they come from")


def retold(reader: Reader) -> Reader:
    """Return a reader like this one that extracts nothing."""
    return Retold(reader.extractor, reader.patterns, reader.embedder, reader.several, None, reader.states)
