"""Convert the vectors of a text to and from the bytes that a store keeps: whole, or coded in fewer bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.integer_vectors import Floats, LevelRows, to_level_rows
from lamina.vectors.quantisation import (
    ERROR_WEIGHT,
    PRECISIONS,
    CodedVectors,
    codebook_for,
    coded_bytes,
    decode,
    encode,
    expected_error,
    from_bytes,
    to_bytes,
    unpack_codes,
)
from lamina.vectors.rotation import rotation_for

_HEADER_BYTES = 2


class DamagedVectors(ValueError):
    """Raised if bytes cannot be the vectors of a text."""


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """The stored vectors of one text: their bytes, and the bits per dimension."""

    bits: int
    data: bytes


def pack(vectors: Floats, bits: int = 32) -> StoredVectors:
    """Return the vectors of a text, one row per chunk, as they are stored."""
    width = vectors.shape[1]
    parts = [vectors.astype("<f4").tobytes()] if bits == 32 else to_bytes(encode(vectors, bits))
    return StoredVectors(bits, width.to_bytes(_HEADER_BYTES, "little") + b"".join(parts))


def unpack(stored: StoredVectors) -> Floats:
    """Return the vectors, as precise as they were stored; DamagedVectors if the bytes are invalid."""
    if stored.bits == 32:
        return _read_whole(stored)
    return decode(_read_coded([stored], _read_width(stored)))


def to_search_rows(stored: Sequence[StoredVectors], width: int) -> tuple[LevelRows, NDArray[np.int64]]:
    """Return the stored vectors of many texts as rows for search, and the number of rows of each text."""
    whole, slack, sizes = to_search_vectors(stored, width)
    return to_level_rows(whole, slack), sizes


def to_search_vectors(stored: Sequence[StoredVectors], width: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the stored vectors of many texts as floats, the uncertainty of each, and the number of each text."""
    if (single := _read_single_vectors(stored, width)) is not None:
        return single, np.zeros(len(stored), np.float32), np.ones(len(stored), dtype=np.int64)
    sizes = np.array([_count_vectors(text, width) for text in stored], dtype=np.int64)
    vectors, slack = np.empty((int(sizes.sum()), width), np.float32), np.zeros(int(sizes.sum()), np.float32)
    starts = np.cumsum(sizes) - sizes
    for bits in sorted({text.bits for text in stored}):
        numbers = [number for number, text in enumerate(stored) if text.bits == bits]
        rows = np.concatenate([np.arange(starts[n], starts[n] + sizes[n]) for n in numbers])
        texts = [stored[number] for number in numbers]
        vectors[rows] = (
            np.concatenate([_read_whole(text) for text in texts])
            if bits == 32
            else unbiased_vectors(_read_coded(texts, width))
        )
        slack[rows] = uncertainty_of(bits, width)
    return vectors, slack, sizes


def _read_single_vectors(stored: Sequence[StoredVectors], width: int) -> Floats | None:
    """Return the vectors of texts that have one whole vector each, as nearly all have, read together; None if one has
    not."""
    size = _HEADER_BYTES + 4 * width
    if not width or any(text.bits != 32 or len(text.data) != size for text in stored):
        return None
    table = np.frombuffer(b"".join([text.data for text in stored]), dtype=np.uint8).reshape(len(stored), size)
    if (table[:, :_HEADER_BYTES].copy().view("<u2") != width).any():
        return None
    vectors = table[:, _HEADER_BYTES:].copy().view("<f4").astype(np.float32, copy=False)
    return vectors if np.isfinite(vectors).all() else None


def unbiased_vectors(coded: CodedVectors) -> Floats:
    """Return vectors whose inner product with a query is, on average, that of the original unit vectors."""
    rotator, book = rotation_for(coded.width), codebook_for(coded.bits)
    rows = rotator.invert(book.levels[unpack_codes(coded.codes, coded.bits)])
    return np.asarray(rows * (coded.factor / np.float32(math.sqrt(rotator.padded)))[:, None], dtype=np.float32)


def uncertainty_of(bits: int, width: int) -> float:
    """Return the uncertainty of a vector in this precision, for a query at a right angle."""
    return ERROR_WEIGHT * expected_error(bits, width)


def _read_coded(stored: Sequence[StoredVectors], width: int) -> CodedVectors:
    bits = stored[0].bits
    size = coded_bytes(width, bits)
    data = [
        text.data[start : start + size]
        for text in stored
        for start in range(_HEADER_BYTES, _HEADER_BYTES + _count_vectors(text, width) * size, size)
    ]
    try:
        return from_bytes(data, bits, width)
    except ValueError as error:
        raise DamagedVectors(str(error)) from error


def _read_whole(stored: StoredVectors) -> Floats:
    width = _read_width(stored)
    vectors = np.frombuffer(stored.data, dtype="<f4", offset=_HEADER_BYTES).reshape(-1, width)
    if not np.isfinite(vectors).all():
        raise DamagedVectors("a stored vector contains a value that is no number; encode the text again")
    return vectors.astype(np.float32, copy=False)


def _read_width(stored: StoredVectors) -> int:
    width = int.from_bytes(stored.data[:_HEADER_BYTES], "little")
    _count_vectors(stored, width)
    return width


def _count_vectors(stored: StoredVectors, width: int) -> int:
    """Return the number of stored vectors of this width; DamagedVectors if there is none, a part of one, or another
    width."""
    if stored.bits not in PRECISIONS or not width or int.from_bytes(stored.data[:_HEADER_BYTES], "little") != width:
        raise DamagedVectors("a stored vector is damaged; encode the text again")
    count, rest = divmod(len(stored.data) - _HEADER_BYTES, coded_bytes(width, stored.bits))
    if rest or count < 1:
        raise DamagedVectors("a stored vector is damaged; encode the text again")
    return count


LEVELS_PER_SIDE = 8
"""The levels on either side of 0: -15, -13, … 13, 15 half steps."""
_STEP_FACTOR = 0.375
"""Relative to the mean size of a dimension of a unit state; measured, and near the optimum for a normal distribution
(0.335)."""


def level_step(width: int) -> float:
    """Return the distance of two levels of a unit state."""
    return _STEP_FACTOR / math.sqrt(width)


def to_signs(states: Floats) -> bytes:
    """Return the sign of every dimension, one bit each, most significant first."""
    return np.packbits(states > 0, axis=1).tobytes()


def to_nibbles(states: Floats) -> bytes:
    """Return the level of every dimension of unit states of even width: the first half in the upper half-bytes."""
    half = states.shape[1] // 2
    # Rounded up, so that 0 is below the middle, as with signs.
    levels = np.ceil(states / np.float32(level_step(states.shape[1]))) + np.float32(LEVELS_PER_SIDE - 1)
    codes = np.clip(levels, 0, 2 * LEVELS_PER_SIDE - 1).astype(np.uint8)
    packed: NDArray[np.uint8] = codes[:, :half] << 4 | codes[:, half:]
    return packed.tobytes()


def nibbles_to_signs(nibbles: bytes, width: int) -> bytes:
    """Return the signs of states that were packed as levels."""
    packed = np.frombuffer(nibbles, dtype=np.uint8).reshape(-1, width // 2)
    return np.packbits(np.hstack((packed >> 4, packed & 15)) >= LEVELS_PER_SIDE, axis=1).tobytes()
