"""How near two words are in meaning, by the light model's table: a fixed vector for each word piece."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from lamina.models.light import WordLlama, light_files
from lamina.vectors.levels import Floats

_DIGITS = 4
"""Further ones may differ between machines, and nothing is to hang on them."""


@cache
def _words() -> WordLlama | None:
    return WordLlama() if light_files() else None


@lru_cache(maxsize=20_000)
def _vector(words: str) -> Floats | None:
    model = _words()
    return None if model is None else model.question(words).vector


@lru_cache(maxsize=100_000)
def alike(one: str, other: str) -> float:
    """From 0, nothing in common, to 1; equal words alone are alike where the table is not installed."""
    if one == other:
        return 1.0
    first, second = _vector(one), _vector(other)
    if first is None or second is None:
        return 0.0
    return round(min(1.0, max(0.0, float(np.dot(first, second)))), _DIGITS)
