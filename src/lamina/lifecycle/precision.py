"""Choose the bits per dimension of a memory's vectors: the lower its retention, the fewer.

Without hysteresis, a memory near a threshold would change its precision with every use and every dream. So the
precision falls and rises only when retention is clearly past a threshold.
"""

from __future__ import annotations

WHOLE = 32
"""The bits of a number that is not rounded."""
SWING = 0.05
"""How far retention must be past a threshold before the precision changes."""
_ABOVE = ((0.8, WHOLE), (0.5, 8), (0.2, 4))
_LEAST = 2


def bits_for(retention: float, current: int = WHOLE) -> int:
    """Return the bits per dimension for this retention, given the current bits."""
    lowered, raised = _bits(retention + SWING), _bits(retention - SWING)
    return lowered if lowered < current else max(raised, current)


def _bits(retention: float) -> int:
    return next((bits for above, bits in _ABOVE if retention > above), _LEAST)
