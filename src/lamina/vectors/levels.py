"""Convert vectors to small integers, so that a dot product is always the same number, in any order and beside any
others.

A sum of floats depends on the order of addition, which depends on the number of rows. A float32 represents every
integer up to 2^24 exactly, so rows of integers that stay below give exact sums in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Levels: TypeAlias = NDArray[np.int8]

ROW_LEVELS = 127
ASKED_LEVELS = 255
FINE_LEVELS = 2**20
"""A float64 represents every sum of up to eight thousand products of two such levels exactly."""
EXACT = 2**24
"""The maximum of a dot product: a query for which it could be larger gets fewer levels."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Unit vectors as levels, one per row; `levels × scale` is the vector to about a thousandth.

    `uncertainty` is 0 for a row that is known exactly.
    """

    levels: Levels
    scale: Floats
    slack: Floats


@dataclass(frozen=True, slots=True)
class Asked:
    """The vector of a query as levels, in float32 because that multiplies fast; `fine` has a million levels, for the
    best few."""

    levels: Floats
    scale: float
    fine: NDArray[np.float64]


def to_rows(vectors: Floats, slack: Floats | None = None) -> Rows:
    """Return the levels of each row; its largest entry sets its scale, so no row depends on another."""
    peak = np.abs(vectors).max(axis=1, initial=0.0)
    scale = np.where(peak > 0, peak, np.float32(1)).astype(np.float32) / np.float32(ROW_LEVELS)
    levels = np.rint(vectors / scale[:, None]).astype(np.int8)
    return Rows(levels, scale, np.zeros(len(levels), dtype=np.float32) if slack is None else slack)


def joined(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several tables, one after the other."""
    return Rows(
        *(
            np.concatenate(columns)
            for columns in zip(*((part.levels, part.scale, part.slack) for part in parts), strict=True)
        )
    )


def to_asked(vector: Floats) -> Asked:
    """Return the levels of a query's vector, as many as keep every dot product with a row exact."""
    total = math.fsum(np.abs(vector).tolist())
    peak = float(np.abs(vector).max(initial=0.0)) or 1.0
    # Rounding adds at most half a level per dimension.
    max_level_sum = EXACT / ROW_LEVELS - len(vector) / 2
    scale = peak / (min(ASKED_LEVELS, int(max_level_sum * peak / total)) if total else ASKED_LEVELS)
    return Asked(np.rint(vector / np.float32(scale)).astype(np.float32), scale, _finely(vector))


def cosines(rows: Rows, asked: Asked) -> Floats:
    """Return the cosine of the query with each row: exact dot products, scaled once, less the row's uncertainty."""
    exact = rows.levels.astype(np.float32) @ asked.levels
    return _doubted(np.asarray(exact * rows.scale * np.float32(asked.scale), dtype=np.float32), rows.slack)


def fine_cosines(vectors: Floats, slack: Floats, asked: Asked) -> Floats:
    """Return the same for a few whole vectors, to full float32 precision."""
    exact = _finely(vectors) @ asked.fine
    return _doubted((exact / FINE_LEVELS**2).astype(np.float32), slack)


def _doubted(near: Floats, slack: Floats) -> Floats:
    if not slack.any():
        return near
    return np.asarray(near - slack * np.sqrt(np.maximum(np.float32(0), 1 - near * near)), dtype=np.float32)


def _finely(vectors: Floats) -> NDArray[np.float64]:
    return np.rint(vectors.astype(np.float64) * FINE_LEVELS)
