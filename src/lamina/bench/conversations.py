"""Conversations of whatever data set a file turns out to be."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lamina.bench import beam, locomo, longmemeval
from lamina.bench.collection import Collection
from lamina.errors import InvalidInput


def load(path: Path, *, pooled: bool = True) -> tuple[list[Collection], str]:
    """The conversations of a LoCoMo, LongMemEval or BEAM file and the SHA-256 of the file.

    `pooled`: where a file holds nothing but evidence, the evidence of all its questions is one conversation.
    """
    for loader in (locomo.load, partial(longmemeval.load, pooled=pooled), beam.load):
        try:
            return loader(path)
        except InvalidInput:
            continue
    raise InvalidInput(f"{path} is no LoCoMo, LongMemEval or BEAM file")
