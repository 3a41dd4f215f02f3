"""Late interaction: how well each token of a question is met somewhere in a passage, before anything is added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.levels import Floats, Rows, to_rows
from lamina.vectors.packed import HALF, step

STATE_LEVELS = 1024
"""Levels of a question token's state: sums over signs or half-bytes stay exact integers in float32."""
SIGN_SCALE = 1.25
"""A sign vector is this much longer than the state it stands for; puts the product on the scale of a cosine."""
MISSING = np.float32(0)


def met_by_signs(tokens: Floats, states: Sequence[bytes]) -> Floats:
    """For each question token (row) and each passage (column) the best match among the passage's sign states."""
    width = tokens.shape[1] if tokens.size else 0
    sizes = np.array([8 * len(state) // width if width else 0 for state in states], dtype=np.int64)
    found = np.full((len(tokens), len(states)), MISSING, dtype=np.float32)
    if not sizes.sum() or not len(tokens):
        return found
    levels = np.rint(tokens * np.float32(STATE_LEVELS)).astype(np.float32)
    packed = np.frombuffer(b"".join(states), dtype=np.uint8).reshape(-1, width // 8)
    signs = np.unpackbits(packed, axis=1).astype(np.float32)
    # A sum over +1 and -1 is twice the sum over the ones less the sum over all.
    exact = 2 * (levels @ signs.T) - levels.sum(axis=1, keepdims=True)
    _best(exact, sizes, found)
    return np.asarray(found * np.float32(SIGN_SCALE / (STATE_LEVELS * np.sqrt(width))), dtype=np.float32)


def met_by_nibbles(tokens: Floats, states: Sequence[bytes]) -> Floats:
    """The same for states kept as sixteen levels a dimension."""
    width = tokens.shape[1] if tokens.size else 0
    sizes = np.array([2 * len(state) // width if width else 0 for state in states], dtype=np.int64)
    found = np.full((len(tokens), len(states)), MISSING, dtype=np.float32)
    if not sizes.sum() or not len(tokens):
        return found
    half, levels = width // 2, np.rint(tokens * np.float32(STATE_LEVELS)).astype(np.float32)
    packed = np.frombuffer(b"".join(states), dtype=np.uint8).reshape(-1, half)
    upper, lower = (packed >> 4).astype(np.float32), (packed & 15).astype(np.float32)
    codes = levels[:, :half] @ upper.T + levels[:, half:] @ lower.T
    exact = 2 * codes - np.float32(2 * HALF - 1) * levels.sum(axis=1, keepdims=True)
    _best(exact, sizes, found)
    return np.asarray(found * np.float32(step(width) / (2 * STATE_LEVELS)), dtype=np.float32)


def met_by_pieces(tokens: Floats, rows: Callable[[NDArray[np.int64]], Rows], states: Sequence[bytes]) -> Floats:
    """The same for static vectors: a passage is the ids of its tokens, and `rows` gives the unit vectors of ids."""
    pieces = [np.frombuffer(state, dtype="<u2").astype(np.int64) for state in states]
    sizes = np.array([len(piece) for piece in pieces], dtype=np.int64)
    found = np.full((len(tokens), len(states)), MISSING, dtype=np.float32)
    if not sizes.sum() or not len(tokens):
        return found
    ids, where = np.unique(np.concatenate(pieces), return_inverse=True)
    asked, table = to_rows(tokens), rows(ids)
    exact = asked.levels.astype(np.float32) @ table.levels.astype(np.float32).T
    near = exact * table.scale[None, :] * asked.scale[:, None]
    _best(near[:, where], sizes, found)
    return found


def _best(near: Floats, sizes: NDArray[np.int64], found: Floats) -> None:
    """The best column of each passage's share of the columns; a passage without any keeps what stands there."""
    some = np.flatnonzero(sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes[some])[:-1]])
    found[:, some] = np.maximum.reduceat(near, offsets, axis=1)
