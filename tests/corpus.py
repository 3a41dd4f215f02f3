"""Corpora: examples in files of one JSON value a line, which one test measures together."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def read_corpus(path: Path) -> list[Any]:
    """Return the examples of a file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def share_right(examples: Sequence[T], is_right: Callable[[T], bool]) -> float:
    """Return the share of examples that are right, and print the others."""
    wrong = [example for example in examples if not is_right(example)]
    for example in wrong:
        print(f"wrong: {example}")
    return 1 - len(wrong) / len(examples)
