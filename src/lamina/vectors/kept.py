"""Convert the vectors of a text to and from the bytes that a store keeps: whole, or coded in fewer bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.codebook import PRECISIONS, codebook
from lamina.vectors.estimate import CAUTION, expected_error
from lamina.vectors.levels import Floats, Rows, to_rows
from lamina.vectors.quantise import Coded, coded_bytes, decode, encode, from_bytes, to_bytes, unpacked
from lamina.vectors.rotation import rotation

_HEAD = 2


class Damaged(ValueError):
    """Raised if bytes cannot be the vectors of a text."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The stored vectors of one text: their bytes, and the bits per dimension."""

    bits: int
    data: bytes


def pack(vectors: Floats, bits: int = 32) -> Kept:
    """Return the vectors of a text, one row per chunk, as they are stored."""
    width = vectors.shape[1]
    parts = [vectors.astype("<f4").tobytes()] if bits == 32 else to_bytes(encode(vectors, bits))
    return Kept(bits, width.to_bytes(_HEAD, "little") + b"".join(parts))


def unpack(kept: Kept) -> Floats:
    """Return the vectors, as precise as they were stored; DamagedVectors if the bytes are invalid."""
    if kept.bits == 32:
        return _whole(kept)
    return decode(_coded([kept], _width(kept)))


def search_rows(kept: Sequence[Kept], width: int) -> tuple[Rows, NDArray[np.int64]]:
    """Return the stored vectors of many texts as rows for search, and the number of rows of each text."""
    whole, slack, sizes = searched(kept, width)
    return to_rows(whole, slack), sizes


def searched(kept: Sequence[Kept], width: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the stored vectors of many texts as floats, the uncertainty of each, and the number of each text."""
    if (single := _one_each(kept, width)) is not None:
        return single, np.zeros(len(kept), np.float32), np.ones(len(kept), dtype=np.int64)
    sizes = np.array([_count(text, width) for text in kept], dtype=np.int64)
    vectors, slack = np.empty((int(sizes.sum()), width), np.float32), np.zeros(int(sizes.sum()), np.float32)
    starts = np.cumsum(sizes) - sizes
    for bits in sorted({text.bits for text in kept}):
        numbers = [number for number, text in enumerate(kept) if text.bits == bits]
        rows = np.concatenate([np.arange(starts[n], starts[n] + sizes[n]) for n in numbers])
        texts = [kept[number] for number in numbers]
        vectors[rows] = (
            np.concatenate([_whole(text) for text in texts]) if bits == 32 else unbiased(_coded(texts, width))
        )
        slack[rows] = slack_of(bits, width)
    return vectors, slack, sizes


def _one_each(kept: Sequence[Kept], width: int) -> Floats | None:
    """Return the vectors of texts that have one whole vector each, as nearly all have, read together; None if one has
    not."""
    size = _HEAD + 4 * width
    if not width or any(text.bits != 32 or len(text.data) != size for text in kept):
        return None
    table = np.frombuffer(b"".join([text.data for text in kept]), dtype=np.uint8).reshape(len(kept), size)
    if (table[:, :_HEAD].copy().view("<u2") != width).any():
        return None
    vectors = table[:, _HEAD:].copy().view("<f4").astype(np.float32, copy=False)
    return vectors if np.isfinite(vectors).all() else None


def unbiased(coded: Coded) -> Floats:
    """Return vectors whose inner product with a query is, on average, that of the original unit vectors."""
    rotator, book = rotation(coded.width), codebook(coded.bits)
    rows = rotator.back(book.levels[unpacked(coded.codes, coded.bits)])
    return np.asarray(rows * (coded.factor / np.float32(math.sqrt(rotator.padded)))[:, None], dtype=np.float32)


def slack_of(bits: int, width: int) -> float:
    """Return the uncertainty of a vector in this precision, for a query at a right angle."""
    return CAUTION * expected_error(bits, width)


def _coded(kept: Sequence[Kept], width: int) -> Coded:
    bits = kept[0].bits
    size = coded_bytes(width, bits)
    data = [
        text.data[start : start + size]
        for text in kept
        for start in range(_HEAD, _HEAD + _count(text, width) * size, size)
    ]
    try:
        return from_bytes(data, bits, width)
    except ValueError as error:
        raise Damaged(str(error)) from error


def _whole(kept: Kept) -> Floats:
    width = _width(kept)
    vectors = np.frombuffer(kept.data, dtype="<f4", offset=_HEAD).reshape(-1, width)
    if not np.isfinite(vectors).all():
        raise Damaged("a stored vector contains a value that is no number; encode the text again")
    return vectors.astype(np.float32, copy=False)


def _width(kept: Kept) -> int:
    width = int.from_bytes(kept.data[:_HEAD], "little")
    _count(kept, width)
    return width


def _count(kept: Kept, width: int) -> int:
    """Return the number of stored vectors of this width; DamagedVectors if there is none, a part of one, or another
    width."""
    if kept.bits not in PRECISIONS or not width or int.from_bytes(kept.data[:_HEAD], "little") != width:
        raise Damaged("a stored vector is damaged; encode the text again")
    count, rest = divmod(len(kept.data) - _HEAD, coded_bytes(width, kept.bits))
    if rest or count < 1:
        raise Damaged("a stored vector is damaged; encode the text again")
    return count
