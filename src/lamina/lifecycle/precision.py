"""In how many bits a memory's vectors are kept: the less is left of it, the fewer.

A memory near a border would change its precision with every use and every night. So one that falls keeps what it has a
little longer than one that rises has to wait for more.
"""

from __future__ import annotations

WHOLE = 32
"""Bits of a number that was not rounded."""
SWING = 0.05
"""How far beyond a border retention has to be before anything is moved."""
_ABOVE = ((0.8, WHOLE), (0.5, 8), (0.2, 4))
_LEAST = 2


def bits_for(retention: float, current: int = WHOLE) -> int:
    """The bits a dimension that what is left of a memory is worth, for one that is kept in so many."""
    fallen, risen = _bits(retention + SWING), _bits(retention - SWING)
    return fallen if fallen < current else max(risen, current)


def _bits(retention: float) -> int:
    return next((bits for above, bits in _ABOVE if retention > above), _LEAST)
