"""How near a question is to every row of a large table: two bits a dimension, counted as whole numbers.

A row coded in 2 bits is two planes of bits (see `quantise`): its signs, and its low bits. The four levels of the
codebook are exactly ±a ± b, one sign from each plane, so the inner product with a question that is itself a sum of
signs (16 even levels, four planes) is a sum of counts: of how many bits of this plane differ from those of that one.
Such counts are whole numbers, the same on every machine, in any order, in numpy and in machine code.

The rounding of the question costs little beside that of the rows (an error of .0189 a cosine instead of .0180 at 384
dimensions). Whoever needs the order of the best few scores those again from what is kept of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.codebook import UNIT, codebook
from lamina.vectors.levels import Floats
from lamina.vectors.quantise import Coded, added, encode, lengths
from lamina.vectors.rotation import rotation

Words: TypeAlias = NDArray[np.uint64]
Kernel: TypeAlias = Callable[[Words, Floats, Words, np.float32, Floats], None]
"""Takes rows, their factors, a question's planes and scale, and writes the estimates."""

QUESTION_BITS = 4
HIGHEST = (1 << QUESTION_BITS) - 1
STEP = np.float32(0.335)
"""Between two levels of a question's coordinate: the best even step for sixteen levels of a bell curve."""
_INNER, _OUTER = (int(each) for each in codebook(2).whole[2:])
SIGN_WEIGHT, LOW_WEIGHT = (_OUTER + _INNER) // 2, (_OUTER - _INNER) // 2
"""What the signs and the low bits add to a level, in parts of `codebook.UNIT`."""
BLOCK = 4096
"""Rows counted by numpy, or gathered, at a time: few enough to stay in the processor's cache."""
SHARE = 131_072
"""Fewer rows are not worth a thread of their own."""
MOST_THREADS = 4
PAYS_AFTER = 8_000_000
"""Rows after which loading machine code has paid: counting them with numpy takes as long."""


@dataclass(frozen=True, slots=True, eq=False)
class ScanQuestion:
    """A question's vector as planes of bits, the least significant first, and what a count of 1 is worth."""

    planes: Words
    scale: np.float32


def to_question(vector: Floats) -> ScanQuestion:
    """The vector of a question made ready for the scan; its length is of no account."""
    given = np.asarray(vector, dtype=np.float32)[None, :]
    if not np.isfinite(given).all():
        raise ValueError("the vector of a question holds a value that is no finite number; encode the question again")
    turn, long = rotation(given.shape[1]), lengths(given)
    unit = (given / np.where(long > 0, long, 1)[:, None]).astype(np.float32)
    coordinates = turn.turn(unit)[0] * np.float32(np.sqrt(turn.padded))
    codes = np.clip(np.floor(coordinates / STEP) + (HIGHEST + 1) // 2, 0, HIGHEST).astype(np.uint8)
    planes = np.stack([np.packbits(codes >> bit & 1) for bit in range(QUESTION_BITS)])
    # As for a row: what the rounding kept of the direction, so that estimates are right on average.
    kept = float(added(np.multiply(2.0 * codes - HIGHEST, coordinates, dtype=np.float64)[None, :])[0])
    return ScanQuestion(planes.view(np.uint64), np.float32(1 / (UNIT * kept) if kept > 0 else 0))


def to_planes(vectors: Floats) -> tuple[Words, Floats]:
    """The rows and factors of a table that is to be scanned."""
    coded = encode(vectors, 2)
    return words_of(coded), coded.factor


def words_of(coded: Coded) -> Words:
    """The codes of vectors in 2 bits as the scan reads them: the planes of a row side by side, 64 bits to a word."""
    if coded.bits != 2:
        raise ValueError(f"the scan reads vectors coded in 2 bits, not in {coded.bits}")
    return np.ascontiguousarray(coded.codes).view(np.uint64)


def estimates(words: Words, factors: Floats, question: ScanQuestion) -> Floats:
    """The cosine of the question with every row, estimated; `factors` are those the rows were coded with."""
    _check(words, factors, question)
    count = len(words)
    found = np.empty(count, dtype=np.float32)
    kernel, table = _choice.kernel(count), np.ascontiguousarray(words)
    weighed = np.ascontiguousarray(factors)

    def work(rows: slice) -> None:
        kernel(table[rows], weighed[rows], question.planes, question.scale, found[rows])

    shares = _shares(count)
    if len(shares) == 1:
        work(shares[0])
        return found
    # Threads of this call alone: none is left over when the process forks, and callers never wait for each other.
    with ThreadPoolExecutor(len(shares)) as threads:
        for done in [threads.submit(work, rows) for rows in shares]:
            done.result()
    return found


def estimates_of(words: Words, factors: Floats, question: ScanQuestion, rows: NDArray[np.int64]) -> Floats:
    """The same for some rows, in the order they are named."""
    _check(words, factors, question)
    kernel, table, weighed = _choice.kernel(len(rows)), np.asarray(words), np.asarray(factors)
    found = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), BLOCK):
        some, into = rows[start : start + BLOCK], found[start : start + BLOCK]
        # `take` gathers rows in half the time that indexing needs.
        kernel(table.take(some, axis=0), weighed.take(some), question.planes, question.scale, into)
    return found


def prepare() -> bool:
    """Load the machine code at once, for a process that will ask often; false where numba is not installed."""
    return _choice.hurry()


def counted(words: Words, factors: Floats, planes: Words, scale: np.float32, found: Floats) -> None:
    """The scan in numpy."""
    width, both = planes.shape[1], np.concatenate([planes, planes], axis=1)[:, :, None]
    for start in range(0, len(words), BLOCK):
        block = np.ascontiguousarray(words[start : start + BLOCK].T)
        differ = np.zeros((2, block.shape[1]), dtype=np.int64)
        for bit in range(len(planes)):
            counts = np.bitwise_count(block ^ both[bit]).reshape(2, width, -1)
            differ += np.add.reduce(counts, axis=1, dtype=np.uint32).astype(np.int64) << bit
        exact = most(width) - 2 * (SIGN_WEIGHT * differ[0] + LOW_WEIGHT * differ[1])
        found[start : start + BLOCK] = exact.astype(np.float32) * factors[start : start + BLOCK] * scale


def most(width: int) -> int:
    """The count of a row of so many words a plane that differs from the question nowhere."""
    return HIGHEST * 64 * width * (SIGN_WEIGHT + LOW_WEIGHT)


class _Choice:
    """Which kernel counts: numpy, until so much was counted that machine code has paid for being loaded.

    One question from the command line never waits for a compiler, a process that stays gets what is fastest, and
    nobody can tell from the numbers which it was.
    """

    def __init__(self) -> None:
        self._rows = 0

    def kernel(self, rows: int) -> Kernel:
        self._rows += rows
        fast = _machine_code() if self._rows > PAYS_AFTER else None
        return fast or counted

    def hurry(self) -> bool:
        self._rows = max(self._rows, PAYS_AFTER)
        return _machine_code() is not None


_choice = _Choice()


@lru_cache(maxsize=1)
def _machine_code() -> Kernel | None:
    try:
        from lamina.vectors.scan_numba import kernel
    except ImportError:
        return None
    return kernel()


def _shares(count: int) -> list[slice]:
    threads = max(1, min(count // SHARE, _cores(), MOST_THREADS))
    size = -(-count // threads)
    return [slice(start, min(start + size, count)) for start in range(0, count, size or 1)] or [slice(0, 0)]


def _cores() -> int:
    granted = getattr(os, "sched_getaffinity", None)
    return len(granted(0)) if granted else os.cpu_count() or 1


def _check(words: Words, factors: Floats, question: ScanQuestion) -> None:
    """Machine code looks at no borders, so they are looked at before."""
    if words.ndim != 2 or words.dtype != np.uint64 or words.shape[1] != 2 * question.planes.shape[1]:
        raise ValueError("the rows and the question are not of one width")
    if factors.dtype != np.float32 or factors.shape != words.shape[:1]:
        raise ValueError("every row has one factor")
