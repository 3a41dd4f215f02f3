"""Load conversations from a file of any known data set."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lamina.bench import beam, locomo, longmemeval
from lamina.bench.collection import Collection
from lamina.errors import InvalidInput


def load(path: Path, *, pooled: bool = True) -> tuple[list[Collection], str]:
    """Return the conversations of a LoCoMo, LongMemEval or BEAM file and its SHA-256; InvalidInput for any other file.

    `pooled`: if a file contains only evidence, the evidence of all its questions is one conversation.
    """
    for loader in (locomo.load, partial(longmemeval.load, pooled=pooled), beam.load):
        try:
            return loader(path)
        except InvalidInput:
            continue
    raise InvalidInput(f"{path} is not a LoCoMo, LongMemEval or BEAM file")
