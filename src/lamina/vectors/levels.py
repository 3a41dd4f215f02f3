"""Vectors as small integers, so that a dot product is the same number on every day, in every order, beside any others.

A sum of floats depends on the order a library adds them in, and that order depends on how many rows stand beside them.
A float32 holds every integer up to 2^24 exactly, so rows of integers small enough to stay below give exact sums however
they are added.
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
"""A float64 holds every sum of products of two such exactly, up to eight thousand of them."""
EXACT = 2**24
"""No dot product is larger: a question so wide and even that it would be gets fewer levels."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Unit vectors as levels, one a row; `levels × scale` is the vector again to about a thousandth.

    `slack` is how much a row is doubted: 0 for one that is known exactly.
    """

    levels: Levels
    scale: Floats
    slack: Floats


@dataclass(frozen=True, slots=True)
class Asked:
    """The vector of a question as levels, kept as float32 because that is what multiplies fast; `fine` is the same in a
    million levels, for comparing the best few."""

    levels: Floats
    scale: float
    fine: NDArray[np.float64]


def to_rows(vectors: Floats, slack: Floats | None = None) -> Rows:
    """The levels of each row; a row's own largest entry sets its scale, so no row depends on another."""
    peak = np.abs(vectors).max(axis=1, initial=0.0)
    scale = np.where(peak > 0, peak, np.float32(1)).astype(np.float32) / np.float32(ROW_LEVELS)
    levels = np.rint(vectors / scale[:, None]).astype(np.int8)
    return Rows(levels, scale, np.zeros(len(levels), dtype=np.float32) if slack is None else slack)


def joined(parts: Sequence[Rows]) -> Rows:
    """The rows of many, one after the other."""
    return Rows(*(np.concatenate(each) for each in zip(*((p.levels, p.scale, p.slack) for p in parts), strict=True)))


def to_asked(vector: Floats) -> Asked:
    """The levels of a question's vector, as many as keep every dot product with a row exact."""
    total = math.fsum(np.abs(vector).tolist())
    peak = float(np.abs(vector).max(initial=0.0)) or 1.0
    # Rounding adds half a level a dimension at most.
    room = EXACT / ROW_LEVELS - len(vector) / 2
    scale = peak / (min(ASKED_LEVELS, int(room * peak / total)) if total else ASKED_LEVELS)
    return Asked(np.rint(vector / np.float32(scale)).astype(np.float32), scale, _finely(vector))


def cosines(rows: Rows, asked: Asked) -> Floats:
    """The cosine of the question with each row: exact dot products, one scaling, and less where the row is doubted."""
    exact = rows.levels.astype(np.float32) @ asked.levels
    return _doubted(np.asarray(exact * rows.scale * np.float32(asked.scale), dtype=np.float32), rows.slack)


def fine_cosines(vectors: Floats, slack: Floats, asked: Asked) -> Floats:
    """The same for a few vectors as they are, to the last digit that a float32 has."""
    exact = _finely(vectors) @ asked.fine
    return _doubted((exact / FINE_LEVELS**2).astype(np.float32), slack)


def _doubted(near: Floats, slack: Floats) -> Floats:
    if not slack.any():
        return near
    return np.asarray(near - slack * np.sqrt(np.maximum(np.float32(0), 1 - near * near)), dtype=np.float32)


def _finely(vectors: Floats) -> NDArray[np.float64]:
    return np.rint(vectors.astype(np.float64) * FINE_LEVELS)
