"""Ids: 26 lower-case characters whose alphabetical order is the order of creation."""

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
    """Whether the text has the shape of an id of ours; others are kept as `source_ref`."""
    return _SHAPE.fullmatch(text) is not None


class IdSource:
    """Makes ids that sort by time, also inside one millisecond; randomness is passed in so that a test can own it."""

    def __init__(self, randbytes: Callable[[int], bytes]) -> None:
        self._randbytes = randbytes
        self._last = 0
        self._last_millis = 0
        self._lock = threading.Lock()

    def new(self, at: datetime) -> AtomId:
        millis = max(0, (at - _EPOCH) // timedelta(milliseconds=1))
        number = (millis << _RANDOM_BITS) | int.from_bytes(self._randbytes(10), "big")
        with self._lock:
            if millis >= self._last_millis:
                number = max(number, self._last + 1)
            self._last, self._last_millis = number, millis
        return AtomId(_encode(number))


def _encode(number: int) -> str:
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))
