"""Quantise vectors to 8, 4 or 2 bits per dimension, for memories with lower retention.

A vector is split into its length and its direction; the direction is rotated (see `rotation_for`), scaled to variance
1, and each coordinate is rounded to the nearest level of the codebook. One more number, the factor, says how much of
the direction the rounding kept, and makes inner products right on average; with fewer bits, more error remains.

Only original vectors are coded, never codes: to go from 8 to 2 bits, the vector or the text is coded again, because
rounding twice would lose more.

In bytes a coded vector is its length, its factor (float32, little endian) and its codes: at 8 bits one byte each; at
4 and 2 bits as planes, the most significant bit of all codes first, eight to a byte, the first in the highest bit. So
the first plane is the sign of every rotated coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.integer_vectors import Floats
from lamina.vectors.rotation import padded_width, rotation_for

UNIT = 65536
"""The number of parts that a standard deviation is divided into."""
PRECISIONS = (32, 8, 4, 2)
"""Bits per dimension, the highest first; 32 is the vector itself and has no codebook."""
DISTORTION = {32: 0.0, 8: 0.0000411849, 4: 0.0095010080, 2: 0.1174818478}
"""The mean squared error of a coordinate with variance 1."""
_EIGHT_BIT_LEVELS = """
    554 1661 2768 3875 4983 6092 7201 8310 9421 10532 11644 12758 13873 14989 16106 17225 18346 19469 20593 21719
    22848 23979 25112 26248 27386 28527 29671 30819 31969 33122 34279 35440 36604 37772 38944 40120 41301 42486
    43676 44870 46070 47275 48485 49700 50922 52149 53382 54622 55868 57121 58381 59648 60923 62206 63496 64795
    66102 67418 68743 70078 71422 72777 74142 75518 76904 78303 79713 81136 82572 84021 85484 86961 88454 89961
    91485 93025 94583 96158 97753 99367 101001 102656 104334 106035 107759 109509 111286 113090 114923 116787 118683
    120612 122577 124579 126621 128705 130833 133008 135233 137511 139846 142241 144702 147233 149839 152526 155302
    158174 161151 164243 167462 170821 174337 178029 181920 186036 190413 195093 200130 205595 211583 218225 225711
    234330 244559 257271 274373 301697
"""
_POSITIVE_LEVELS: dict[int, tuple[int, ...]] = {
    2: (29673, 98987),
    4: (8414, 25431, 43041, 61757, 82328, 106040, 135595, 179083),
    8: tuple(map(int, _EIGHT_BIT_LEVELS.split())),
}


@dataclass(frozen=True, slots=True, eq=False)
class Codebook:
    """Levels in ascending order. The code of a level is its index, so the first bit of a code is the sign."""

    bits: int
    unit_levels: NDArray[np.int64]
    levels: Floats
    borders: Floats

    def encode(self, coordinates: Floats) -> NDArray[np.uint8]:
        """Return the code of the nearest level; on a border, and at 0, the lower one."""
        codes = np.zeros(coordinates.shape, dtype=np.intp)
        # All coordinates together, one bit at a time: several times as fast as a search for each.
        for bit in reversed(range(self.bits)):
            codes += (coordinates > self.borders[codes + (1 << bit) - 1]).astype(np.intp) << bit
        return codes.astype(np.uint8)


@lru_cache(maxsize=len(_POSITIVE_LEVELS))
def codebook_for(bits: int) -> Codebook:
    """Return the codebook for 8, 4 or 2 bits; ValueError for other precisions."""
    if bits not in _POSITIVE_LEVELS:
        raise ValueError(f"a vector is coded in 8, 4 or 2 bits per dimension, not {bits}")
    positive = np.array(_POSITIVE_LEVELS[bits], dtype=np.int64)
    unit_levels = np.concatenate([-positive[::-1], positive])
    borders = (unit_levels[:-1] + unit_levels[1:]) / (2 * UNIT)
    return Codebook(bits, unit_levels, (unit_levels / UNIT).astype(np.float32), borders.astype(np.float32))


Bytes: TypeAlias = NDArray[np.uint8]
Doubles: TypeAlias = NDArray[np.float64]

ERROR_WEIGHT = 0.5
"""The number of expected errors that is subtracted from an estimate before ranking."""
HEADER_BYTES = 8
"""The bytes of a length and a factor."""
BATCH_ROWS = 256
"""The number of vectors coded together, to limit memory use."""
POOR_LOSS_FACTOR = 1.25
"""A row that lost more than this factor of the mean loss is tried at smaller scales."""
RETRY_SCALES = (0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class CodedVectors:
    """Coded vectors, one per row.

    With y the rotated unit query times the root of the padded width, and z the levels of a row's codes, the cosine of
    the query with the row is about `factor × Σ y·z / padded width`.
    """

    bits: int
    width: int
    norm: Floats
    factor: Floats
    codes: Bytes

    def __len__(self) -> int:
        return len(self.norm)


def encode(vectors: Floats, bits: int) -> CodedVectors:
    """Return the vectors in this many bits per dimension; the bytes of a row do not depend on the others."""
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2:
        raise ValueError(f"vectors are coded as rows of a two-dimensional array, not of {rows.ndim} dimensions")
    if not np.isfinite(rows).all():
        raise ValueError("a vector to be coded contains a value that is not finite; encode its text again")
    coded = CodedVectors(
        bits,
        rows.shape[1],
        np.empty(len(rows), np.float32),
        np.empty(len(rows), np.float32),
        np.empty((len(rows), code_bytes(rows.shape[1], bits)), np.uint8),
    )
    for start in range(0, len(rows), BATCH_ROWS):
        batch = slice(start, start + BATCH_ROWS)
        coded.norm[batch], coded.factor[batch], coded.codes[batch] = _encode_batch(rows[batch], bits)
    return coded


def decode(coded: CodedVectors) -> Floats:
    """Return the vectors as precisely as their codes allow, each at its original length."""
    rotator, book = rotation_for(coded.width), codebook_for(coded.bits)
    vectors = np.empty((len(coded), coded.width), dtype=np.float32)
    for start in range(0, len(coded), BATCH_ROWS):
        batch = slice(start, start + BATCH_ROWS)
        rows = rotator.invert(book.levels[unpack_codes(coded.codes[batch], coded.bits)])
        norms = row_lengths(rows)
        vectors[batch] = rows * (coded.norm[batch] / np.where(norms > 0, norms, 1))[:, None]
    return vectors


def code_bytes(width: int, bits: int) -> int:
    """Return the bytes of a vector's codes."""
    return padded_width(width) * codebook_for(bits).bits // 8


def coded_bytes(width: int, bits: int) -> int:
    """Return the bytes of a vector at a precision, including 32 bits."""
    return 4 * width if bits == 32 else HEADER_BYTES + code_bytes(width, bits)


def expected_error(bits: int, width: int) -> float:
    """Return the standard deviation of the estimate of a cosine near 0; the padding of a rotated vector lowers it."""
    if bits not in DISTORTION:
        raise ValueError(f"a vector is stored in 32, 8, 4 or 2 bits per dimension, not {bits}")
    return math.sqrt(DISTORTION[bits] / ((1 - DISTORTION[bits]) * padded_width(width)))


def to_bytes(coded: CodedVectors) -> list[bytes]:
    """Return each row as a store keeps it."""
    headers = np.stack([coded.norm, coded.factor], axis=1).astype("<f4")
    return [header.tobytes() + codes.tobytes() for header, codes in zip(headers, coded.codes, strict=True)]


def from_bytes(stored: Sequence[bytes], bits: int, width: int) -> CodedVectors:
    """Return rows from a store's bytes; ValueError if one cannot be a vector of this width and precision."""
    size = coded_bytes(width, codebook_for(bits).bits)
    wrong_size = next((len(row) for row in stored if len(row) != size), None)
    if wrong_size is not None:
        raise ValueError(f"a vector of {width} dimensions in {bits} bits takes {size} bytes, not {wrong_size}")
    table = np.frombuffer(b"".join(stored), dtype=np.uint8).reshape(len(stored), size)
    headers = table[:, :HEADER_BYTES].copy().view("<f4").astype(np.float32)
    if not (np.isfinite(headers) & (headers >= 0)).all():
        raise ValueError("the length or factor of a coded vector is not a number of at least 0: its bytes are damaged")
    return CodedVectors(bits, width, headers[:, 0].copy(), headers[:, 1].copy(), table[:, HEADER_BYTES:].copy())


def pack_codes(codes: Bytes, bits: int) -> Bytes:
    """Return codes, one per column, as they are stored."""
    if bits == 8:
        return codes
    planes = [np.packbits(codes >> (bits - 1 - plane) & 1, axis=1) for plane in range(bits)]
    return np.concatenate(planes, axis=1)


def unpack_codes(stored: Bytes, bits: int) -> Bytes:
    """Return stored codes, one per column."""
    if bits == 8:
        return stored
    planes = np.unpackbits(stored.reshape(len(stored), bits, stored.shape[1] // bits), axis=2)
    codes: Bytes = planes[:, 0].copy()
    for plane in range(1, bits):
        codes <<= 1
        codes |= planes[:, plane]
    return codes


def pairwise_sums(terms: Doubles) -> Doubles:
    """Return the sum of each row, added pairwise: always in the same order, whatever the other rows are."""
    while terms.shape[1] > 1:
        half, odd = divmod(terms.shape[1], 2)
        folded = terms[:, :half] + terms[:, half : 2 * half]
        if odd:
            folded[:, 0] += terms[:, -1]
        terms = folded
    return terms[:, 0]


def row_lengths(rows: Floats) -> Doubles:
    """Return the length of each row."""
    return np.sqrt(pairwise_sums(np.square(rows, dtype=np.float64)))


def _encode_batch(rows: Floats, bits: int) -> tuple[Floats, Floats, Bytes]:
    rotator, book = rotation_for(rows.shape[1]), codebook_for(bits)
    norms = row_lengths(rows)
    norm = _to_float32(norms)
    # Divided in doubles: the length of the smallest and the largest vectors is not a normal float32.
    units = (rows / np.where(norms > 0, norms, 1)[:, None]).astype(np.float32)
    codes, products = _round_rows(rotator.apply(units) * np.float32(np.sqrt(rotator.padded)), book)
    factor = np.where(norm > 0, rotator.padded / np.where(products > 0, products, 1), 0).astype(np.float32)
    return norm, factor, pack_codes(codes, bits)


def _round_rows(coordinates: Floats, book: Codebook) -> tuple[Bytes, Doubles]:
    """Return the codes of each row, and the inner product of the row with their levels.

    A coordinate far beyond the last level costs more than all others together. Only the direction of the levels counts,
    so such a row is rounded at a smaller scale if that keeps more of it.
    """
    codes = book.encode(coordinates)
    products, losses = _rounding_loss(coordinates, book.levels[codes])
    poor = np.flatnonzero(losses > POOR_LOSS_FACTOR * DISTORTION[book.bits])
    for scale in RETRY_SCALES:
        retried = book.encode(coordinates[poor] * np.float32(scale))
        new_products, new_losses = _rounding_loss(coordinates[poor], book.levels[retried])
        is_better = new_losses < losses[poor]
        rows = poor[is_better]
        codes[rows], products[rows], losses[rows] = retried[is_better], new_products[is_better], new_losses[is_better]
    return codes, products


def _rounding_loss(coordinates: Floats, levels: Floats) -> tuple[Doubles, Doubles]:
    """Return the inner product of each row with its levels, and the share of the row that is lost."""
    products = pairwise_sums(np.multiply(coordinates, levels, dtype=np.float64))
    squares = pairwise_sums(np.square(levels, dtype=np.float64)) * coordinates.shape[1]
    return products, 1 - products * products / squares


def _to_float32(lengths: Doubles) -> Floats:
    if (lengths > np.finfo(np.float32).max).any():
        raise ValueError("a vector to be coded is longer than any float32; scale it down first")
    return lengths.astype(np.float32)
