"""Private keys written as blocks between a begin line and an end line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.redact.secret_span import SecretSpan

_BEGIN = re.compile(
    r"-{4,5} ?BEGIN ([A-Z0-9 ]{0,40}?)(PRIVATE KEY(?: BLOCK)?|SECRET KEY|Static key V1)(?: BLOCK)? ?-{4,5}"
)
_END = re.compile(r"-{4,5} ?END [A-Za-z0-9 ]{3,60}?-{4,5}")
_REST = re.compile(
    r"(?:(?:\s|\\[nrt]|[\"'+]){0,16}+"
    r"(?:[A-Z][A-Za-z-]{3,20}: [^\n\\]{0,80}+|[A-Za-z0-9+/=]{16,}+|[A-Za-z0-9+/=]{1,15}+(?=\r?\n|\\|[\"']|$))){1,2000}+"
)
_PUTTY = re.compile(r"Private-Lines: \d{1,4}\r?\n(?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|$)){1,200}")


def find_key_blocks(text: str) -> Iterator[SecretSpan]:
    """Yield every private key block; one without an end line as far as it looks like a key."""
    if "BEGIN " in text:
        yield from _find_armoured_blocks(text)
    if "Private-Lines:" in text:
        for match in _PUTTY.finditer(text):
            yield SecretSpan(*match.span(), "private key")


def _find_armoured_blocks(text: str) -> Iterator[SecretSpan]:
    at, has_end = 0, True
    while begin := _BEGIN.search(text, at):
        end = _END.search(text, begin.end()) if has_end else None
        has_end = end is not None
        rest = _REST.match(text, begin.end())
        at = end.end() if end else rest.end() if rest else begin.end()
        if at > begin.end() and not _is_too_short(text, begin.end(), end.start() if end else at):
            yield SecretSpan(begin.start(), at, "pgp private key" if "PGP" in begin[1] else "private key")


def _is_too_short(text: str, start: int, end: int) -> bool:
    """Return whether too little text is between the lines to be a key."""
    return sum(char.isalnum() for char in text[start : min(end, start + 400)]) < 40
