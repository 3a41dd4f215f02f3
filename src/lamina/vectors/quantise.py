"""Vectors in 8, 4 or 2 bits a dimension: what a memory keeps of its meaning as it grows cold.

A vector becomes its length and a direction; the direction is rotated (see `rotation`), scaled so that its coordinates
vary by 1, and each of them rounded to the nearest level of the codebook. One more number, the factor, says how much of
the direction the rounding kept, and makes inner products right on average (see `estimate`).

Only vectors are coded, never codes: what was in 8 bits and is wanted in 2 is coded from the vector, or from the text
again. Rounding twice would cost twice.

In bytes a coded vector is its length, its factor (float32, little endian) and its codes: at 8 bits one byte each; at 4
and 2 bits as planes, the most significant bit of all codes first, eight to a byte, the first in the highest bit. The
first plane is therefore the sign of every rotated coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.codebook import DISTORTION, Codebook, codebook
from lamina.vectors.levels import Floats
from lamina.vectors.rotation import padded_width, rotation

Bytes: TypeAlias = NDArray[np.uint8]
Doubles: TypeAlias = NDArray[np.float64]

HEAD = 8
"""Bytes of a length and a factor."""
AT_ONCE = 256
"""Vectors coded at a time: bounds what the work takes in memory."""
POOR = 1.25
"""Times what rounding loses on average; a row that lost more is tried smaller."""
SMALLER = (0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Coded vectors, one a row.

    With y the rotated unit question times the root of the padded width, and z the levels of a row's codes, the cosine
    of the question with the row is about `factor × Σ y·z / padded width`.
    """

    bits: int
    width: int
    norm: Floats
    factor: Floats
    codes: Bytes

    def __len__(self) -> int:
        return len(self.norm)


def encode(vectors: Floats, bits: int) -> Coded:
    """The vectors in so many bits a dimension; no row's bytes depend on the rows beside it."""
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2:
        raise ValueError(f"vectors are coded as rows of one table, not in {rows.ndim} dimensions")
    if not np.isfinite(rows).all():
        raise ValueError("a vector to be coded holds a value that is no finite number; encode its text again")
    coded = Coded(
        bits,
        rows.shape[1],
        np.empty(len(rows), np.float32),
        np.empty(len(rows), np.float32),
        np.empty((len(rows), code_bytes(rows.shape[1], bits)), np.uint8),
    )
    for start in range(0, len(rows), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        coded.norm[some], coded.factor[some], coded.codes[some] = _encoded(rows[some], bits)
    return coded


def decode(coded: Coded) -> Floats:
    """The vectors again, as near as their codes tell, each at the length it had."""
    turn, book = rotation(coded.width), codebook(coded.bits)
    found = np.empty((len(coded), coded.width), dtype=np.float32)
    for start in range(0, len(coded), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        rows = turn.back(book.levels[unpacked(coded.codes[some], coded.bits)])
        long = lengths(rows)
        found[some] = rows * (coded.norm[some] / np.where(long > 0, long, 1))[:, None]
    return found


def code_bytes(width: int, bits: int) -> int:
    """Bytes that the codes of a vector take."""
    return padded_width(width) * codebook(bits).bits // 8


def coded_bytes(width: int, bits: int) -> int:
    """Bytes that a vector takes at a precision, 32 bits included."""
    return 4 * width if bits == 32 else HEAD + code_bytes(width, bits)


def to_bytes(coded: Coded) -> list[bytes]:
    """Each row as a store keeps it."""
    heads = np.stack([coded.norm, coded.factor], axis=1).astype("<f4")
    return [head.tobytes() + codes.tobytes() for head, codes in zip(heads, coded.codes, strict=True)]


def from_bytes(kept: Sequence[bytes], bits: int, width: int) -> Coded:
    """Rows as a store kept them; raises ValueError where one cannot be a vector of this width and precision."""
    size = coded_bytes(width, codebook(bits).bits)
    wrong = next((len(each) for each in kept if len(each) != size), None)
    if wrong is not None:
        raise ValueError(f"a vector of {width} dimensions in {bits} bits takes {size} bytes, not {wrong}")
    table = np.frombuffer(b"".join(kept), dtype=np.uint8).reshape(len(kept), size)
    heads = table[:, :HEAD].copy().view("<f4").astype(np.float32)
    if not (np.isfinite(heads) & (heads >= 0)).all():
        raise ValueError("a coded vector's length or factor is no number from 0 up: its bytes are damaged")
    return Coded(bits, width, heads[:, 0].copy(), heads[:, 1].copy(), table[:, HEAD:].copy())


def packed(codes: Bytes, bits: int) -> Bytes:
    """Codes, one a column, as they are kept."""
    if bits == 8:
        return codes
    planes = [np.packbits(codes >> (bits - 1 - plane) & 1, axis=1) for plane in range(bits)]
    return np.concatenate(planes, axis=1)


def unpacked(kept: Bytes, bits: int) -> Bytes:
    """Kept codes, one a column again."""
    if bits == 8:
        return kept
    planes = np.unpackbits(kept.reshape(len(kept), bits, kept.shape[1] // bits), axis=2)
    codes: Bytes = planes[:, 0].copy()
    for plane in range(1, bits):
        codes <<= 1
        codes |= planes[:, plane]
    return codes


def added(terms: Doubles) -> Doubles:
    """The sum of each row, by halves: always in the same order, whatever rows stand beside it."""
    while terms.shape[1] > 1:
        half, odd = divmod(terms.shape[1], 2)
        folded = terms[:, :half] + terms[:, half : 2 * half]
        if odd:
            folded[:, 0] += terms[:, -1]
        terms = folded
    return terms[:, 0]


def lengths(rows: Floats) -> Doubles:
    """How long each row is."""
    return np.sqrt(added(np.square(rows, dtype=np.float64)))


def _encoded(rows: Floats, bits: int) -> tuple[Floats, Floats, Bytes]:
    turn, book = rotation(rows.shape[1]), codebook(bits)
    long = lengths(rows)
    norm = _representable(long)
    # Divided in doubles: the length of the smallest and the largest vectors is no ordinary float32.
    units = (rows / np.where(long > 0, long, 1)[:, None]).astype(np.float32)
    codes, along = _rounded(turn.turn(units) * np.float32(np.sqrt(turn.padded)), book)
    factor = np.where(norm > 0, turn.padded / np.where(along > 0, along, 1), 0).astype(np.float32)
    return norm, factor, packed(codes, bits)


def _rounded(coordinates: Floats, book: Codebook) -> tuple[Bytes, Doubles]:
    """The codes of each row, and the inner product of the row with the levels they stand for.

    A coordinate far beyond the last level costs a row more than all others together. Only the direction of the levels
    counts, so such a row is rounded smaller, where that keeps more of it.
    """
    codes = book.codes(coordinates)
    along, lost = _kept(coordinates, book.levels[codes])
    poor = np.flatnonzero(lost > POOR * DISTORTION[book.bits])
    for size in SMALLER:
        tried = book.codes(coordinates[poor] * np.float32(size))
        anew, loses = _kept(coordinates[poor], book.levels[tried])
        better = loses < lost[poor]
        rows = poor[better]
        codes[rows], along[rows], lost[rows] = tried[better], anew[better], loses[better]
    return codes, along


def _kept(coordinates: Floats, levels: Floats) -> tuple[Doubles, Doubles]:
    """The inner product of each row with its levels, and the share of the row that lies aside of them."""
    along = added(np.multiply(coordinates, levels, dtype=np.float64))
    across = added(np.square(levels, dtype=np.float64)) * coordinates.shape[1]
    return along, 1 - along * along / across


def _representable(long: Doubles) -> Floats:
    if (long > np.finfo(np.float32).max).any():
        raise ValueError("a vector to be coded is longer than any float32; scale it down first")
    return long.astype(np.float32)
