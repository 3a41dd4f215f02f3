"""Compare texts by late interaction: how well each token of a query is matched somewhere in a passage."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.levels import Floats, LevelRows, to_level_rows
from lamina.vectors.packed_states import LEVELS_PER_SIDE, level_step

STATE_LEVELS = 1024
"""The levels of a query token's state: sums over signs or half-bytes stay exact integers in float32."""
SIGN_SCALE = 1.25
"""The length of a sign vector relative to its state; it scales the product to a cosine."""
NO_MATCH = np.float32(0)


def match_signs(tokens: Floats, states: Sequence[bytes]) -> Floats:
    """Return, for each query token (row) and passage (column), the best match among the passage's sign states."""
    width = tokens.shape[1] if tokens.size else 0
    sizes = np.array([8 * len(state) // width if width else 0 for state in states], dtype=np.int64)
    best = np.full((len(tokens), len(states)), NO_MATCH, dtype=np.float32)
    if not sizes.sum() or not len(tokens):
        return best
    levels = np.rint(tokens * np.float32(STATE_LEVELS)).astype(np.float32)
    packed = np.frombuffer(b"".join(states), dtype=np.uint8).reshape(-1, width // 8)
    signs = np.unpackbits(packed, axis=1).astype(np.float32)
    # A sum over +1 and -1 is twice the sum over the ones minus the sum over all.
    exact = 2 * (levels @ signs.T) - levels.sum(axis=1, keepdims=True)
    _write_best_matches(exact, sizes, best)
    return np.asarray(best * np.float32(SIGN_SCALE / (STATE_LEVELS * np.sqrt(width))), dtype=np.float32)


def match_nibbles(tokens: Floats, states: Sequence[bytes]) -> Floats:
    """Return the same for states stored as sixteen levels per dimension."""
    width = tokens.shape[1] if tokens.size else 0
    sizes = np.array([2 * len(state) // width if width else 0 for state in states], dtype=np.int64)
    best = np.full((len(tokens), len(states)), NO_MATCH, dtype=np.float32)
    if not sizes.sum() or not len(tokens):
        return best
    half, levels = width // 2, np.rint(tokens * np.float32(STATE_LEVELS)).astype(np.float32)
    packed = np.frombuffer(b"".join(states), dtype=np.uint8).reshape(-1, half)
    upper, lower = (packed >> 4).astype(np.float32), (packed & 15).astype(np.float32)
    codes = levels[:, :half] @ upper.T + levels[:, half:] @ lower.T
    exact = 2 * codes - np.float32(2 * LEVELS_PER_SIDE - 1) * levels.sum(axis=1, keepdims=True)
    _write_best_matches(exact, sizes, best)
    return np.asarray(best * np.float32(level_step(width) / (2 * STATE_LEVELS)), dtype=np.float32)


def match_static_tokens(
    tokens: Floats, rows: Callable[[NDArray[np.int64]], LevelRows], states: Sequence[bytes]
) -> Floats:
    """Return the same for static vectors: a passage is its token ids, and `rows` returns the unit vectors of ids."""
    pieces = [np.frombuffer(state, dtype="<u2").astype(np.int64) for state in states]
    sizes = np.array([len(piece) for piece in pieces], dtype=np.int64)
    best = np.full((len(tokens), len(states)), NO_MATCH, dtype=np.float32)
    if not sizes.sum() or not len(tokens):
        return best
    ids, positions = np.unique(np.concatenate(pieces), return_inverse=True)
    query, table = to_level_rows(tokens), rows(ids)
    exact = query.levels.astype(np.float32) @ table.levels.astype(np.float32).T
    similarities = exact * table.scale[None, :] * query.scale[:, None]
    _write_best_matches(similarities[:, positions], sizes, best)
    return best


def _write_best_matches(similarities: Floats, sizes: NDArray[np.int64], out: Floats) -> None:
    """Write the best column of each passage's columns to `out`; a passage without columns is left as it is."""
    nonempty = np.flatnonzero(sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes[nonempty])[:-1]])
    out[:, nonempty] = np.maximum.reduceat(similarities, offsets, axis=1)
