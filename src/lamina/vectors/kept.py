"""The vectors of a text as a store keeps them: whole, or coded in fewer bits, and what each is worth in a search."""

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
    """Bytes that cannot be the vectors of a text."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one text: its bytes, and in how many bits a dimension."""

    bits: int
    data: bytes


def pack(vectors: Floats, bits: int = 32) -> Kept:
    """The vectors of a text, a row a chunk, as they are kept."""
    width = vectors.shape[1]
    coded = [vectors.astype("<f4").tobytes()] if bits == 32 else to_bytes(encode(vectors, bits))
    return Kept(bits, width.to_bytes(_HEAD, "little") + b"".join(coded))


def unpack(kept: Kept) -> Floats:
    """The vectors again, as near as what was kept tells."""
    if kept.bits == 32:
        return _whole(kept)
    return decode(_coded([kept], _width(kept)))


def search_rows(kept: Sequence[Kept], width: int) -> tuple[Rows, NDArray[np.int64]]:
    """What is kept of many texts as rows to be searched, and how many rows each text has."""
    whole, slack, sizes = searched(kept, width)
    return to_rows(whole, slack), sizes


def searched(kept: Sequence[Kept], width: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The same as vectors: those vectors, how much each is doubted, and how many each text has."""
    if (together := _one_each(kept, width)) is not None:
        return together, np.zeros(len(kept), np.float32), np.ones(len(kept), dtype=np.int64)
    sizes = np.array([_count(each, width) for each in kept], dtype=np.int64)
    whole, slack = np.empty((int(sizes.sum()), width), np.float32), np.zeros(int(sizes.sum()), np.float32)
    starts = np.cumsum(sizes) - sizes
    for bits in sorted({each.bits for each in kept}):
        chosen = [number for number, each in enumerate(kept) if each.bits == bits]
        rows = np.concatenate([np.arange(starts[n], starts[n] + sizes[n]) for n in chosen])
        some = [kept[number] for number in chosen]
        whole[rows] = np.concatenate([_whole(each) for each in some]) if bits == 32 else unbiased(_coded(some, width))
        slack[rows] = slack_of(bits, width)
    return whole, slack, sizes


def _one_each(kept: Sequence[Kept], width: int) -> Floats | None:
    """The vectors of texts that have one whole vector each, as nearly all have: read in one go."""
    size = _HEAD + 4 * width
    if not width or any(each.bits != 32 or len(each.data) != size for each in kept):
        return None
    table = np.frombuffer(b"".join([each.data for each in kept]), dtype=np.uint8).reshape(len(kept), size)
    if (table[:, :_HEAD].copy().view("<u2") != width).any():
        return None
    vectors = table[:, _HEAD:].copy().view("<f4").astype(np.float32, copy=False)
    return vectors if np.isfinite(vectors).all() else None


def unbiased(coded: Coded) -> Floats:
    """Vectors whose inner product with a question is, on average, what the coded ones' would have been at length 1."""
    turn, book = rotation(coded.width), codebook(coded.bits)
    rows = turn.back(book.levels[unpacked(coded.codes, coded.bits)])
    return np.asarray(rows * (coded.factor / np.float32(math.sqrt(turn.padded)))[:, None], dtype=np.float32)


def slack_of(bits: int, width: int) -> float:
    """How much a vector kept in so few bits is doubted, at a right angle to the question."""
    return CAUTION * expected_error(bits, width)


def _coded(kept: Sequence[Kept], width: int) -> Coded:
    bits = kept[0].bits
    size = coded_bytes(width, bits)
    data = [
        each.data[start : start + size]
        for each in kept
        for start in range(_HEAD, _HEAD + _count(each, width) * size, size)
    ]
    try:
        return from_bytes(data, bits, width)
    except ValueError as error:
        raise Damaged(str(error)) from error


def _whole(kept: Kept) -> Floats:
    width = _width(kept)
    found = np.frombuffer(kept.data, dtype="<f4", offset=_HEAD).reshape(-1, width)
    if not np.isfinite(found).all():
        raise Damaged("a vector holds what is no number")
    return found.astype(np.float32, copy=False)


def _width(kept: Kept) -> int:
    width = int.from_bytes(kept.data[:_HEAD], "little")
    _count(kept, width)
    return width


def _count(kept: Kept, width: int) -> int:
    """How many vectors of this width are kept; none, a part of one, or such of another width are damage."""
    if kept.bits not in PRECISIONS or not width or int.from_bytes(kept.data[:_HEAD], "little") != width:
        raise Damaged("a vector is not as it was written")
    count, rest = divmod(len(kept.data) - _HEAD, coded_bytes(width, kept.bits))
    if rest or count < 1:
        raise Damaged("a vector is not as it was written")
    return count
