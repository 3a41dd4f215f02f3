"""The bits per dimension that vectors are stored in, and the `Precision` port that changes them.

Each atom has a wanted number of bits, full precision by default; a text of several atoms is stored in the most bits
that one of them wants. Lower precision is computed from the full vector or from the text, never from a vector of lower
precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lamina.atom.atom import AtomId

FULL_BITS = 32
"""Bits per dimension of a vector that is stored in full precision."""
MIN_BITS_FOR_STATES = 8
"""Bits from which on the token states of a text are stored too; below, they are recomputed when needed."""


@dataclass(frozen=True, slots=True)
class PrecisionChange:
    """The number of vectors that change to each number of bits, and of texts that lose their token states."""

    vectors: Mapping[int, int]
    states: int = 0


@dataclass(frozen=True, slots=True)
class EncodingSizes:
    """The size of all vectors, by bits, and of all token states: number of texts and bytes. `unused_bytes`: about how
    many bytes hold nothing since vectors were stored in fewer bits or deleted."""

    vectors: Mapping[int, tuple[int, int]]
    states: tuple[int, int]
    unused_bytes: int = field(default=0, compare=False)


class Precision(Protocol):
    """The bits that vectors are stored in. A backend without the capability `precision` returns `FullPrecision`."""

    def change(self, bits: Mapping[AtomId, int], *, dry_run: bool = False) -> PrecisionChange:
        """Store the vectors of these atoms in so many bits; those that cannot be converted become missing.

        Until they are encoded again the stored ones are used. Another process may continue with what it has loaded.
        """

    def sizes(self) -> EncodingSizes:
        """Return the size of all vectors and token states."""

    def reclaim(self) -> int:
        """Give unused bytes back to the disk if they are worth the work; return how many. Waits for no reader."""


class FullPrecision:
    """The precision of a backend that stores every vector in one form."""

    def change(self, bits: Mapping[AtomId, int], *, dry_run: bool = False) -> PrecisionChange:
        """Change nothing."""
        return PrecisionChange({})

    def sizes(self) -> EncodingSizes:
        """Return that nothing is known."""
        return EncodingSizes({}, (0, 0))

    def reclaim(self) -> int:
        """Return 0: nothing is given back."""
        return 0
