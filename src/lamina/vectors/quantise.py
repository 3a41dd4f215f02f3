"""Quantise vectors to 8, 4 or 2 bits per dimension, for memories with lower retention.

A vector is split into its length and its direction; the direction is rotated (see `rotation`), scaled to variance 1,
and each coordinate is rounded to the nearest level of the codebook. One more number, the factor, says how much of the
direction the rounding kept, and makes inner products right on average (see `cosine_estimate`).

Only original vectors are coded, never codes: to go from 8 to 2 bits, the vector or the text is coded again, because
rounding twice would lose more.

In bytes a coded vector is its length, its factor (float32, little endian) and its codes: at 8 bits one byte each; at 4
and 2 bits as planes, the most significant bit of all codes first, eight to a byte, the first in the highest bit. So the
first plane is the sign of every rotated coordinate.
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
"""The bytes of a length and a factor."""
AT_ONCE = 256
"""The number of vectors coded together, to limit memory use."""
POOR = 1.25
"""A row that lost more than this factor of the mean loss is tried at smaller scales."""
SMALLER = (0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
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


def encode(vectors: Floats, bits: int) -> Coded:
    """Return the vectors in this many bits per dimension; the bytes of a row do not depend on the others."""
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2:
        raise ValueError(f"vectors are coded as rows of a two-dimensional array, not of {rows.ndim} dimensions")
    if not np.isfinite(rows).all():
        raise ValueError("a vector to be coded contains a value that is not finite; encode its text again")
    coded = Coded(
        bits,
        rows.shape[1],
        np.empty(len(rows), np.float32),
        np.empty(len(rows), np.float32),
        np.empty((len(rows), code_bytes(rows.shape[1], bits)), np.uint8),
    )
    for start in range(0, len(rows), AT_ONCE):
        batch = slice(start, start + AT_ONCE)
        coded.norm[batch], coded.factor[batch], coded.codes[batch] = _encoded(rows[batch], bits)
    return coded


def decode(coded: Coded) -> Floats:
    """Return the vectors as precisely as their codes allow, each at its original length."""
    rotator, book = rotation(coded.width), codebook(coded.bits)
    vectors = np.empty((len(coded), coded.width), dtype=np.float32)
    for start in range(0, len(coded), AT_ONCE):
        batch = slice(start, start + AT_ONCE)
        rows = rotator.back(book.levels[unpacked(coded.codes[batch], coded.bits)])
        norms = lengths(rows)
        vectors[batch] = rows * (coded.norm[batch] / np.where(norms > 0, norms, 1))[:, None]
    return vectors


def code_bytes(width: int, bits: int) -> int:
    """Return the bytes of a vector's codes."""
    return padded_width(width) * codebook(bits).bits // 8


def coded_bytes(width: int, bits: int) -> int:
    """Return the bytes of a vector at a precision, including 32 bits."""
    return 4 * width if bits == 32 else HEAD + code_bytes(width, bits)


def to_bytes(coded: Coded) -> list[bytes]:
    """Return each row as a store keeps it."""
    headers = np.stack([coded.norm, coded.factor], axis=1).astype("<f4")
    return [header.tobytes() + codes.tobytes() for header, codes in zip(headers, coded.codes, strict=True)]


def from_bytes(kept: Sequence[bytes], bits: int, width: int) -> Coded:
    """Return rows from a store's bytes; ValueError if one cannot be a vector of this width and precision."""
    size = coded_bytes(width, codebook(bits).bits)
    wrong_size = next((len(row) for row in kept if len(row) != size), None)
    if wrong_size is not None:
        raise ValueError(f"a vector of {width} dimensions in {bits} bits takes {size} bytes, not {wrong_size}")
    table = np.frombuffer(b"".join(kept), dtype=np.uint8).reshape(len(kept), size)
    headers = table[:, :HEAD].copy().view("<f4").astype(np.float32)
    if not (np.isfinite(headers) & (headers >= 0)).all():
        raise ValueError("the length or factor of a coded vector is not a number of at least 0: its bytes are damaged")
    return Coded(bits, width, headers[:, 0].copy(), headers[:, 1].copy(), table[:, HEAD:].copy())


def packed(codes: Bytes, bits: int) -> Bytes:
    """Return codes, one per column, as they are stored."""
    if bits == 8:
        return codes
    planes = [np.packbits(codes >> (bits - 1 - plane) & 1, axis=1) for plane in range(bits)]
    return np.concatenate(planes, axis=1)


def unpacked(kept: Bytes, bits: int) -> Bytes:
    """Return stored codes, one per column."""
    if bits == 8:
        return kept
    planes = np.unpackbits(kept.reshape(len(kept), bits, kept.shape[1] // bits), axis=2)
    codes: Bytes = planes[:, 0].copy()
    for plane in range(1, bits):
        codes <<= 1
        codes |= planes[:, plane]
    return codes


def added(terms: Doubles) -> Doubles:
    """Return the sum of each row, added pairwise: always in the same order, whatever the other rows are."""
    while terms.shape[1] > 1:
        half, odd = divmod(terms.shape[1], 2)
        folded = terms[:, :half] + terms[:, half : 2 * half]
        if odd:
            folded[:, 0] += terms[:, -1]
        terms = folded
    return terms[:, 0]


def lengths(rows: Floats) -> Doubles:
    """Return the length of each row."""
    return np.sqrt(added(np.square(rows, dtype=np.float64)))


def _encoded(rows: Floats, bits: int) -> tuple[Floats, Floats, Bytes]:
    rotator, book = rotation(rows.shape[1]), codebook(bits)
    norms = lengths(rows)
    norm = _representable(norms)
    # Divided in doubles: the length of the smallest and the largest vectors is not a normal float32.
    units = (rows / np.where(norms > 0, norms, 1)[:, None]).astype(np.float32)
    codes, products = _rounded(rotator.turn(units) * np.float32(np.sqrt(rotator.padded)), book)
    factor = np.where(norm > 0, rotator.padded / np.where(products > 0, products, 1), 0).astype(np.float32)
    return norm, factor, packed(codes, bits)


def _rounded(coordinates: Floats, book: Codebook) -> tuple[Bytes, Doubles]:
    """Return the codes of each row, and the inner product of the row with their levels.

    A coordinate far beyond the last level costs more than all others together. Only the direction of the levels counts,
    so such a row is rounded at a smaller scale if that keeps more of it.
    """
    codes = book.codes(coordinates)
    products, losses = _kept(coordinates, book.levels[codes])
    poor = np.flatnonzero(losses > POOR * DISTORTION[book.bits])
    for scale in SMALLER:
        retried = book.codes(coordinates[poor] * np.float32(scale))
        new_products, new_losses = _kept(coordinates[poor], book.levels[retried])
        is_better = new_losses < losses[poor]
        rows = poor[is_better]
        codes[rows], products[rows], losses[rows] = retried[is_better], new_products[is_better], new_losses[is_better]
    return codes, products


def _kept(coordinates: Floats, levels: Floats) -> tuple[Doubles, Doubles]:
    """Return the inner product of each row with its levels, and the share of the row that is lost."""
    products = added(np.multiply(coordinates, levels, dtype=np.float64))
    squares = added(np.square(levels, dtype=np.float64)) * coordinates.shape[1]
    return products, 1 - products * products / squares


def _representable(long: Doubles) -> Floats:
    if (long > np.finfo(np.float32).max).any():
        raise ValueError("a vector to be coded is longer than any float32; scale it down first")
    return long.astype(np.float32)
