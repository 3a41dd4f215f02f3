"""Moments as SQLite stores them: milliseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_millis(at: datetime) -> int:
    """Return a moment as milliseconds since 1970."""
    return (at - _EPOCH) // timedelta(milliseconds=1)


def from_millis(at: int) -> datetime:
    """Return the moment of milliseconds since 1970, in UTC."""
    return datetime.fromtimestamp(at // 1000, UTC).replace(microsecond=at % 1000 * 1000)
