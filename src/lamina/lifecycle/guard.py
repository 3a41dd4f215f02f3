"""Check the size of every automatic change: one that would change many memories waits for a person's decision."""

from __future__ import annotations

ONE_IN = 20
"""An automatic run may change at most one atom in this many."""
FEW = 20
"""The number of changes that is always allowed: in a small store everything is more than a twentieth."""


def held(changed: int, total: int) -> str | None:
    """Return why a run is held: it would change more than a twentieth of the store. None if it may proceed."""
    if changed <= FEW or changed * ONE_IN <= total:
        return None
    return f"{changed:,} of {total:,} memories would change in one run, more than {1 / ONE_IN:.0%}; a person decides"
