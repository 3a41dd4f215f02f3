"""Read the YAML values that nearly every file uses, without a parser. None means: use the strict reader.

The caller ensures that the text has no tab, control character or line separator other than the newline.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lamina.vault.strict_yaml_reader import FrontmatterValue, PlainText

_KEY = r"[^\W\d][\w-]*(?: [\w-]+)*"

KEY_LINE = re.compile(rf"({_KEY}):(?: +(.*))?")

_COMMENT = r" *(?: #.*)?"
_DOUBLE = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_SINGLE = r"'([^']*)'"
_QUOTED = re.compile(rf"(?:{_DOUBLE}|{_SINGLE})(?P<comment>{_COMMENT})")
_FLOW = re.compile(rf"\[((?:[^\]\['\"#{{}}]|{_DOUBLE}|{_SINGLE})*)\](?P<comment>{_COMMENT})")
_WORDS = re.compile(r"\[[^\W_][\w ./+()-]*(?:, *[^\W_][\w ./+()-]*)*\]")
_FLOW_ITEM = re.compile(rf" *(?:{_DOUBLE} *|{_SINGLE} *|([^-?\s,:#&*!|>'\"%@`{{}}\[\]\\][^,:#'\"{{}}\[\]\\]*))(?:,|$)")
_ESCAPED = re.compile(r"\\(?:([\"\\nrt])|u([0-9a-fA-F]{4}))")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_BLOCK_ITEM = re.compile(r"( *)- +(.+)")
_BLOCK_PAIR = re.compile(rf"( +)({_KEY}):(?: +(.*))?")
_NOT_FIRST = frozenset("-?:,[]{}#&*!|>'\"%@` ")
_NUMBER_FIRST = frozenset("0123456789.")


def read_inline(text: str) -> FrontmatterValue | None:
    """Return the value that follows `key: ` on the key's line; None if unsure."""
    if not text or text[0] == "#":
        return ""
    if text[0] == "[":
        return _read_flow_list(text)
    return _read_scalar(text)


def read_block(rows: Sequence[str]) -> FrontmatterValue | None:
    """Return the value of the lines below a key, a list or a map of scalars; None if unsure."""
    if rows[0].lstrip(" ").startswith("-"):
        return _read_block_list(rows)
    return _read_block_map(rows)


def trailing_comment(text: str) -> str:
    """Return the trailing comment, with the space before it, of what follows `key: `."""
    if not text or text[0] == "#":
        return f" {text}" if text else ""
    quoted = _QUOTED.fullmatch(text) or _FLOW.fullmatch(text)
    if quoted is not None:
        return quoted["comment"].rstrip(" ")
    cut = text.find(" #")
    return text[len(text[:cut].rstrip(" ")) :] if cut > 0 and text[0] not in _NOT_FIRST else ""


def _read_scalar(text: str) -> str | None:
    first = text[0]
    if first in _NOT_FIRST:
        if first in "'\"":
            return _read_quoted(text)
        if first != "-" or text[1:2] not in _NUMBER_FIRST:
            return None
    cut = text.find(" #")
    if cut > 0:
        text = text[:cut]
    text = text.rstrip(" ")
    return None if ": " in text or text[-1] == ":" else PlainText(text)


def _read_quoted(text: str) -> str | None:
    match = _QUOTED.fullmatch(text)
    if match is None:
        return None
    return match[2] if match[1] is None else _unescape(match[1])


def _unescape(text: str) -> str | None:
    if "\\" not in text:
        return text
    plain = _ESCAPED.sub("", text)
    if "\\" in plain or any("d800" <= code.lower() <= "dfff" for _, code in _ESCAPED.findall(text)):
        return None
    return _ESCAPED.sub(lambda match: _ESCAPES[match[1]] if match[1] else chr(int(match[2], 16)), text)


def _read_flow_list(text: str) -> list[FrontmatterValue] | None:
    if _WORDS.fullmatch(text):
        return [PlainText(item.strip(" ")) for item in text[1:-1].split(",")]
    match = _FLOW.fullmatch(text)
    if match is None:
        return None
    inner = match[1].strip(" ")
    items: list[FrontmatterValue] = []
    position = 0
    while position < len(inner):
        item_match = _FLOW_ITEM.match(inner, position)
        if item_match is None:
            return None
        double, single, plain = item_match.groups()
        item = PlainText(plain.rstrip(" ")) if plain is not None else single if double is None else _unescape(double)
        if item is None:
            return None
        items.append(item)
        position = item_match.end()
    return None if inner.endswith(",") else items


def _read_block_list(rows: Sequence[str]) -> list[FrontmatterValue] | None:
    items: list[FrontmatterValue] = []
    indent: str | None = None
    for row in rows:
        match = _BLOCK_ITEM.fullmatch(row)
        if match is None or (indent is not None and match[1] != indent):
            return None
        indent = match[1]
        item = _read_scalar(match[2])
        if item is None:
            return None
        items.append(item)
    return items


def _read_block_map(rows: Sequence[str]) -> dict[str, FrontmatterValue] | None:
    pairs: dict[str, FrontmatterValue] = {}
    indent: str | None = None
    for row in rows:
        match = _BLOCK_PAIR.fullmatch(row)
        if match is None or (indent is not None and match[1] != indent) or match[2] in pairs:
            return None
        indent = match[1]
        value = read_inline(match[3] or "")
        if value is None:
            return None
        pairs[match[2]] = value
    return pairs
