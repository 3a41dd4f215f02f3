"""Read a long JSON array one element at a time, so that an export need not fit in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TextIO

CHUNK = 1 << 20
LONGEST = 64 << 20
"""Characters of the longest element."""

_GAP = re.compile(r"[\s,]*")


def iter_elements(stream: TextIO) -> Iterator[object]:
    """Yield the elements of the array in a stream, or the one value it holds; ValueError where it is not valid JSON."""
    decoder = json.JSONDecoder()
    text, at = stream.read(CHUNK).removeprefix("\ufeff"), 0
    at = _skip_gap(text, at)
    array = text.startswith("[", at)
    at += array
    while True:
        at = _skip_gap(text, at)
        if at < len(text) and text[at] == "]" and array:
            return
        try:
            if at == len(text):
                raise json.JSONDecodeError("it ends too early", text[-20:], 0)
            value, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            more = stream.read(max(CHUNK, len(text) - at)) if len(text) - at <= LONGEST else ""
            if not more or isinstance(error, RecursionError):
                raise ValueError(f"it is not valid JSON: {error.args[0]}") from error
            text, at = text[at:] + more, 0
            continue
        yield value
        if not array:
            return


def _skip_gap(text: str, at: int) -> int:
    match = _GAP.match(text, at)
    return match.end() if match else at
