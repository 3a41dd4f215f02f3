"""What becomes of an earlier sentence that a later one replaces."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """It held until now, or it was wrong."""

    CHANGED = "changed"
    CORRECTED = "corrected"
