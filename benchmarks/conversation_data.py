"""Load conversations from a file of any known data set."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks import beam, locomo, longmemeval
from benchmarks.data_set import BenchCollection
from lamina.errors import InvalidInput


def load_conversations(path: Path, *, pooled: bool = True) -> tuple[list[BenchCollection], str]:
    """Return the conversations of a LoCoMo, LongMemEval or BEAM file and its SHA-256; InvalidInput for any other file.

    `pooled`: if a file contains only evidence, the evidence of all its questions is one conversation.
    """
    for loader in (locomo.load, partial(longmemeval.load, pooled=pooled), beam.load):
        try:
            return loader(path)
        except InvalidInput:
            continue
    raise InvalidInput(f"{path} is not a LoCoMo, LongMemEval or BEAM file")
