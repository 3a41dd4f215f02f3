"""Check the size of every automatic change: one that would change many memories waits for a person's decision."""

from __future__ import annotations

MAX_CHANGE_DIVISOR = 20
"""An automatic run may change at most one atom in this many."""
SMALL_CHANGE = 20
"""The number of changes that is always allowed: in a small store everything is more than a twentieth."""


def reason_to_hold(changed: int, total: int) -> str | None:
    """Return why a run is held: it would change more than a twentieth of the store. None if it may proceed."""
    if changed <= SMALL_CHANGE or changed * MAX_CHANGE_DIVISOR <= total:
        return None
    share = f"{1 / MAX_CHANGE_DIVISOR:.0%}"
    return f"{changed:,} of {total:,} memories would change in one run, more than {share}; a person decides"
