"""Create and check ids: 26 lower-case characters whose alphabetical order is the order of creation."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NewType

AtomId = NewType("AtomId", str)

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_SHAPE = re.compile(r"[0-7][0-9a-hjkmnp-tv-z]{25}")
_RANDOM_BITS = 80
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_atom_id(text: str) -> bool:
    """Return whether the text has the shape of lamina's ids; foreign ids are stored as `source_ref`."""
    return _SHAPE.fullmatch(text) is not None


class IdSource:
    """Creates ids that sort by time, also within one millisecond; the random source is passed in for tests."""

    def __init__(self, randbytes: Callable[[int], bytes]) -> None:
        self._randbytes = randbytes
        self._last = 0
        self._last_millis = 0
        self._lock = threading.Lock()

    def new(self, at: datetime) -> AtomId:
        """Return a new id for a time; it sorts after all ids this source created for earlier times."""
        millis = max(0, (at - _EPOCH) // timedelta(milliseconds=1))
        number = (millis << _RANDOM_BITS) | int.from_bytes(self._randbytes(10), "big")
        with self._lock:
            if millis >= self._last_millis:
                number = max(number, self._last + 1)
            self._last, self._last_millis = number, millis
        return AtomId(_encode(number))


def _encode(number: int) -> str:
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))
