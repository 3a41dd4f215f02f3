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
QUERY_LEVELS = 255
FINE_LEVELS = 2**20
"""A float64 represents every sum of up to eight thousand products of two such levels exactly."""
MAX_EXACT = 2**24
"""The maximum of a dot product: a query for which it could be larger gets fewer levels."""


@dataclass(frozen=True, slots=True)
class LevelRows:
    """Unit vectors as levels, one per row; `levels × scale` is the vector to about a thousandth.

    `uncertainty` is 0 for a row that is known exactly.
    """

    levels: Levels
    scale: Floats
    uncertainty: Floats


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a query as levels, in float32 because that multiplies fast; `fine` has a million levels, for the
    best few."""

    levels: Floats
    scale: float
    fine: NDArray[np.float64]


def to_level_rows(vectors: Floats, uncertainty: Floats | None = None) -> LevelRows:
    """Return the levels of each row; its largest entry sets its scale, so no row depends on another."""
    peak = np.abs(vectors).max(axis=1, initial=0.0)
    scale = np.where(peak > 0, peak, np.float32(1)).astype(np.float32) / np.float32(ROW_LEVELS)
    levels = np.rint(vectors / scale[:, None]).astype(np.int8)
    return LevelRows(levels, scale, np.zeros(len(levels), dtype=np.float32) if uncertainty is None else uncertainty)


def concatenate_rows(parts: Sequence[LevelRows]) -> LevelRows:
    """Return the rows of several tables, one after the other."""
    return LevelRows(
        *(
            np.concatenate(columns)
            for columns in zip(*((part.levels, part.scale, part.uncertainty) for part in parts), strict=True)
        )
    )


def to_query_vector(vector: Floats) -> QueryVector:
    """Return the levels of a query's vector, as many as keep every dot product with a row exact."""
    total = math.fsum(np.abs(vector).tolist())
    peak = float(np.abs(vector).max(initial=0.0)) or 1.0
    # Rounding adds at most half a level per dimension.
    max_level_sum = MAX_EXACT / ROW_LEVELS - len(vector) / 2
    scale = peak / (min(QUERY_LEVELS, int(max_level_sum * peak / total)) if total else QUERY_LEVELS)
    return QueryVector(np.rint(vector / np.float32(scale)).astype(np.float32), scale, _to_fine_levels(vector))


def cosines(rows: LevelRows, query: QueryVector) -> Floats:
    """Return the cosine of the query with each row: exact dot products, scaled once, less the row's uncertainty."""
    exact = rows.levels.astype(np.float32) @ query.levels
    return _subtract_uncertainty(
        np.asarray(exact * rows.scale * np.float32(query.scale), dtype=np.float32), rows.uncertainty
    )


def fine_cosines(vectors: Floats, uncertainty: Floats, query: QueryVector) -> Floats:
    """Return the same for a few whole vectors, to full float32 precision."""
    exact = _to_fine_levels(vectors) @ query.fine
    return _subtract_uncertainty((exact / FINE_LEVELS**2).astype(np.float32), uncertainty)


def _subtract_uncertainty(similarities: Floats, uncertainty: Floats) -> Floats:
    if not uncertainty.any():
        return similarities
    return np.asarray(
        similarities - uncertainty * np.sqrt(np.maximum(np.float32(0), 1 - similarities * similarities)),
        dtype=np.float32,
    )


def _to_fine_levels(vectors: Floats) -> NDArray[np.float64]:
    return np.rint(vectors.astype(np.float64) * FINE_LEVELS)


def normalise_rows(rows: Floats) -> Floats:
    """Return each row (or the one vector) scaled to length one; a row of zeros stays, so its cosine with anything is
    0."""
    rows = np.asarray(rows, np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, np.float32(1)), np.float32)
