"""Define the levels that a rotated coordinate is rounded to: optimal for a normal distribution (Lloyd-Max), by bits.

Each level is the mean of the values rounded to it, and the border of two levels is halfway between them. The levels are
integer multiples of 1/65536 and are given, not computed: float32 represents them and their borders exactly, sums of
products with them can be exact, and no mathematics library affects the code of a coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.integer_vectors import Floats

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
