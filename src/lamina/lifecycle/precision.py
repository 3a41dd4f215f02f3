"""Choose the bits per dimension of a memory's vectors: the lower its retention, the fewer.

Without hysteresis, a memory near a threshold would change its precision with every use and every dream. So the
precision falls and rises only when retention is clearly past a threshold.
"""

from __future__ import annotations

FULL_BITS = 32
"""The bits of a number that is not rounded."""
HYSTERESIS = 0.05
"""How far retention must be past a threshold before the precision changes."""
_BITS_ABOVE = ((0.8, FULL_BITS), (0.5, 8), (0.2, 4))
_MIN_BITS = 2


def choose_bits(retention: float, current: int = FULL_BITS) -> int:
    """Return the bits per dimension for this retention, given the current bits."""
    lowered, raised = _bits_for_retention(retention + HYSTERESIS), _bits_for_retention(retention - HYSTERESIS)
    return lowered if lowered < current else max(raised, current)


def _bits_for_retention(retention: float) -> int:
    return next((bits for above, bits in _BITS_ABOVE if retention > above), _MIN_BITS)
