"""Compile the scan with numba, for processes that scan often; imported only by them, because numba loads slowly.

Written as plain loops over integers: nothing is added in floating point, so it gives the same bits as numpy.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import types

from lamina.vectors.bit_scan import LOW_WEIGHT, MAX_QUERY_LEVEL, SIGN_WEIGHT, ScanKernel, Words
from lamina.vectors.integer_vectors import Floats

_MAX_COUNT = 64 * MAX_QUERY_LEVEL * (SIGN_WEIGHT + LOW_WEIGHT)
_PAIRS, _FOURS, _EIGHTS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_EACH_BYTE = np.uint64(0x0101010101010101)


def _count_ones(word: np.uint64) -> np.int64:
    """Return the number of bits set. Compilers recognise these four lines and replace them by one instruction."""
    word = word - ((word >> np.uint64(1)) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _EIGHTS
    return np.int64((word * _EACH_BYTE) >> np.uint64(56))


_ones_in = numba.njit()(_count_ones)


def _count_differing(word: np.uint64, planes: Words, at: int) -> np.int64:
    """Return the number of bits in which a word differs from those of a query, each weighted by its plane."""
    return (
        _ones_in(word ^ planes[0, at])
        + 2 * _ones_in(word ^ planes[1, at])
        + 4 * _ones_in(word ^ planes[2, at])
        + 8 * _ones_in(word ^ planes[3, at])
    )


_differ_in = numba.njit()(_count_differing)


def _scan_rows(words: Words, factors: Floats, planes: Words, scale: np.float32, out: Floats) -> None:
    width = planes.shape[1]
    for row in range(len(words)):
        signs, low = np.int64(0), np.int64(0)
        for word in range(width):
            signs += _differ_in(words[row, word], planes, word)
            low += _differ_in(words[row, width + word], planes, word)
        exact = _MAX_COUNT * width - 2 * (SIGN_WEIGHT * signs + LOW_WEIGHT * low)
        out[row] = np.float32(exact) * factors[row] * scale


def compile_kernel() -> ScanKernel:
    """Return the scan compiled for this processor, cached on disk for the next process if numba can write."""
    try:
        return _compile(keep=True)
    except RuntimeError:
        return _compile(keep=False)


def _compile(*, keep: bool) -> ScanKernel:
    # Read-only arrays, as memory-mapped files are; numba accepts writable ones for them too.
    bits, floats = (types.Array(type_, n, "C", readonly=True) for type_, n in ((types.uint64, 2), (types.float32, 1)))
    signature = types.void(bits, floats, bits, types.float32, types.float32[::1])
    compiled: ScanKernel = numba.njit(signature, nogil=True, cache=keep)(_scan_rows)
    return compiled
