"""Write values as YAML that Obsidian and other readers parse as the same text: plain if unambiguous, else quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from lamina.errors import InvalidInput


class PlainScalar(str):
    """Text that is written without quotes: a number, a boolean or a time that other tools should parse as one."""

    __slots__ = ()


YamlValue: TypeAlias = str | Sequence[str] | Mapping[str, str]

_AMBIGUOUS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf"})
_UNSAFE = r":#,\[\]{}\"\\\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff"
_WORDS = re.compile(rf"[^\W\d_](?:[^{_UNSAFE}]*[^{_UNSAFE}\s])?")
_ID = re.compile(r"(?!0[xob])[0-9][0-9a-z]*[a-df-z][0-9a-z]*")
_ESCAPE = re.compile(r"[\"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_MAX_KEY_LENGTH = 1000


def emit_scalar(text: str) -> str:
    """Return one text, plain or in double quotes."""
    if isinstance(text, PlainScalar):
        return str(text)
    if (_WORDS.fullmatch(text) and text.lower() not in _AMBIGUOUS) or _ID.fullmatch(text):
        return text
    return '"' + _ESCAPE.sub(_escape_character, text) + '"'


def emit_entry(key: str, value: YamlValue, indent: int = 0, comment: str = "") -> list[str]:
    """Return the lines, without line ends, of a top-level entry; the comment stays on the key's line."""
    margin = " " * indent
    head = margin + _emit_key(key) + ":"
    if isinstance(value, str):
        return [f"{head} {emit_scalar(value)}{comment}"]
    if isinstance(value, Mapping):
        if not value:
            return [f"{head} {{}}{comment}"]
        return [head + comment, *(f"{margin}  {_emit_key(name)}: {emit_scalar(text)}" for name, text in value.items())]
    return [f"{head} [{', '.join(map(emit_scalar, value))}]{comment}"]


def _emit_key(text: str) -> str:
    key = emit_scalar(text)
    if len(key) > _MAX_KEY_LENGTH:
        raise InvalidInput(f"the key {text[:40]!r}… is longer than a YAML key may be; shorten it")
    return key


def _escape_character(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"
