"""Corpora: examples in files of one JSON value a line, which one test measures together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_corpus(path: Path) -> list[Any]:
    """Return the examples of a file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
