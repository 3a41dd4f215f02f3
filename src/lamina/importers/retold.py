"""Words that come with the statements made of them: they are compared with what is known here, and state nothing."""

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
    """A reader for words that were read elsewhere: what became of their statements there must not be made undone."""

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
        """Nothing."""
        return Made([], "the memory they come from")


def retold(reader: Reader) -> Reader:
    """The same reader for words that come with their statements."""
    return Retold(reader.extractor, reader.patterns, reader.embedder, reader.several, None, reader.states)
