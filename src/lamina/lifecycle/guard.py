"""The one guard of every machine pass: what would change much of a store at once waits for a person."""

from __future__ import annotations

ONE_IN = 20
"""A pass may change one atom in so many."""
FEW = 20
"""So many at once is never too much: in a small store everything is more than a twentieth."""


def held(changed: int, total: int) -> str | None:
    """Why a pass is held: it would change many, more than a twentieth of the store. None where it may go on."""
    if changed <= FEW or changed * ONE_IN <= total:
        return None
    return f"{changed:,} of {total:,} memories would change at once, more than {1 / ONE_IN:.0%}; a person decides"
