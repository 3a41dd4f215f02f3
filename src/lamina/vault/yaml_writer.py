"""Write values as YAML that Obsidian and other readers parse as the same text: plain if unambiguous, else quoted.

An entry of existing frontmatter is set or removed without changing any other row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from lamina.errors import InvalidInput
from lamina.vault.fast_yaml_reader import KEY_LINE, trailing_comment


class PlainScalar(str):
    """Text that is written without quotes: a number, a boolean or a time that other tools should parse as one."""

    __slots__ = ()


YamlValue: TypeAlias = str | Sequence[str] | Mapping[str, str | Sequence[str]]

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
        return [head + comment, *(f"{margin}  {_emit_key(name)}: {_emit_inline(item)}" for name, item in value.items())]
    return [f"{head} {_emit_inline(value)}{comment}"]


def _emit_inline(value: str | Sequence[str]) -> str:
    return emit_scalar(value) if isinstance(value, str) else f"[{', '.join(map(emit_scalar, value))}]"


def _emit_key(text: str) -> str:
    key = emit_scalar(text)
    if len(key) > _MAX_KEY_LENGTH:
        raise InvalidInput(f"the key {text[:40]!r}… is longer than a YAML key may be; shorten it")
    return key


def _escape_character(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


class _EntryRows:
    """The rows of one entry, and the comments and blank rows after it."""

    __slots__ = ("after", "key", "rows")

    def __init__(self, key: str | None, rows: list[str], after: list[str]) -> None:
        self.key, self.rows, self.after = key, rows, after


class FrontmatterRows:
    """Frontmatter as rows, split into parts that can be replaced one by one; the first part has no key."""

    def __init__(self, front: str, spans: Mapping[str, tuple[int, int]]) -> None:
        rows = [row + "\n" for row in front.split("\n")[:-1]]
        starts = [start for start, _ in spans.values()] + [len(rows)]
        self._parts = [_EntryRows(None, [], rows[: starts[0]])]
        for (key, (start, end)), stop in zip(spans.items(), starts[1:], strict=True):
            self._parts.append(_EntryRows(key, rows[start:end], rows[end:stop]))
        self._by_key = {part.key: part for part in self._parts}

    def text(self) -> str:
        """Return the rows as text."""
        return "".join("".join(part.rows) + "".join(part.after) for part in self._parts)

    def comment(self, key: str) -> str:
        """Return the comment on the line of a key."""
        part = self._by_key.get(key)
        match = KEY_LINE.fullmatch(part.rows[0].strip()) if part else None
        return trailing_comment(match[2] or "") if match else ""

    def remove(self, key: str) -> None:
        """Remove an entry; what follows it stays."""
        if part := self._by_key.pop(key, None):
            index = self._parts.index(part)
            self._parts[index - 1].after += self._parts.pop(index).after

    def put(self, key: str, rows: list[str], order: Sequence[str]) -> None:
        """Replace an entry, or insert it after the last key that precedes it in the order."""
        if part := self._by_key.get(key):
            part.rows = rows
            return
        index, follows_key = self._insert_position(key, order)
        after: list[str] = []
        if follows_key:
            after, self._parts[index - 1].after = self._parts[index - 1].after, []
        self._by_key[key] = _EntryRows(key, rows, after)
        self._parts.insert(index, self._by_key[key])

    def _insert_position(self, key: str, order: Sequence[str]) -> tuple[int, bool]:
        if key in order:
            rank = order.index(key)
            for known in reversed(order[:rank]):
                if known in self._by_key:
                    return self._parts.index(self._by_key[known]) + 1, True
            for known in order[rank + 1 :]:
                if known in self._by_key:
                    return self._parts.index(self._by_key[known]), False
        return len(self._parts), False
