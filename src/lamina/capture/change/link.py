"""What becomes of an earlier sentence that a later one replaces."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """It held until now, it was wrong, or what it tells of was given up."""

    CHANGED = "changed"
    CORRECTED = "corrected"
    GIVEN_UP = "given up"
