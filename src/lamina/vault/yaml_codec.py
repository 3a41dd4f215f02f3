"""Read and write YAML frontmatter.

The fast reader reads the values that nearly every file uses, without a parser, and leaves the others to the strict
one, which refuses advanced features; every scalar stays text. Values are written so that Obsidian and other readers
parse them as the same text: plain if unambiguous, else quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias

import yaml

from lamina.errors import InvalidInput

FrontmatterValue: TypeAlias = "str | list[FrontmatterValue] | dict[str, FrontmatterValue]"

MAX_DEPTH = 5
MAX_KEYS = 256

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_QUOTE_MARKS = ("'", '"')
_BLOCK_STYLES = ("|", ">")


class PlainText(str):
    """Text that was written without quotes, so that it may mean a number or a boolean."""

    __slots__ = ()


class Unreadable(InvalidInput):
    """Raised if a file cannot be parsed; `line` (from 1) is where, and `reason` what to correct."""

    def __init__(self, reason: str, line: int) -> None:
        self.reason, self.line = reason, line
        super().__init__(f"line {line}: {reason}")


class ParsedMapping(NamedTuple):
    """A block mapping: its values, the lines of each (first, and the one after the last), and its indent."""

    values: dict[str, FrontmatterValue]
    spans: dict[str, tuple[int, int]]
    indent: int


def read_mapping(text: str, first_line: int) -> ParsedMapping:
    """Return the entries of a YAML mapping that begins at `first_line` of the file; Unreadable if it is not allowed."""
    try:
        return _EventReader(text, first_line).read_mapping()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (min(mark.line, text.count("\n")) if mark else 0)
        raise Unreadable(f"not YAML: {error.problem or error.context}", line) from None
    except yaml.YAMLError as error:
        raise Unreadable(f"not YAML: {str(error).splitlines()[0]}", first_line) from None


class _EventReader:
    def __init__(self, text: str, first_line: int) -> None:
        self._events: Iterator[Any] = iter(yaml.parse(text, Loader=_LOADER))
        self._first_line = first_line
        self._keys = 0
        self._end = 0

    def read_mapping(self) -> ParsedMapping:
        next(self._events)
        start: Any = next(self._events)
        if isinstance(start, yaml.StreamEndEvent):
            return ParsedMapping({}, {}, 0)
        root: Any = next(self._events)
        self._check(root)
        if isinstance(root, yaml.ScalarEvent) and not root.value and not root.style:
            mapping = ParsedMapping({}, {}, 0)
        elif not isinstance(root, yaml.MappingStartEvent) or root.flow_style:
            self._refuse("frontmatter must be `key: value` lines", root)
        else:
            mapping = self._read_entries(_column(root))
        end: Any = next(self._events)
        for mark in (start, end, next(self._events)):
            if getattr(mark, "explicit", False):
                self._refuse("`---` and `...` are not allowed inside frontmatter", mark)
        return mapping

    def _read_entries(self, indent: int) -> ParsedMapping:
        mapping = ParsedMapping({}, {}, indent)
        while not isinstance(key := next(self._events), yaml.MappingEndEvent):
            name = self._read_key(key, mapping.values)
            if key.start_mark.column != indent:
                self._refuse("each key must begin its own line", key)
            mapping.values[name] = self._read_value(next(self._events), 1)
            mapping.spans[name] = (key.start_mark.line, max(self._end, key.end_mark.line) + 1)
        return mapping

    def _read_value(self, event: Any, depth: int) -> FrontmatterValue:
        self._check(event)
        if isinstance(event, yaml.ScalarEvent):
            self._end = _last_line(event)
            return str(event.value) if event.style else PlainText(event.value)
        if depth >= MAX_DEPTH:
            self._refuse(f"nested deeper than {MAX_DEPTH} levels", event)
        value: FrontmatterValue
        if isinstance(event, yaml.SequenceStartEvent):
            value = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                value.append(self._read_value(item, depth + 1))
        else:
            value = {}
            while not isinstance(item := next(self._events), yaml.MappingEndEvent):
                name = self._read_key(item, value)
                value[name] = self._read_value(next(self._events), depth + 1)
        if event.flow_style:
            self._end = item.end_mark.line
        return value

    def _read_key(self, event: Any, entries: dict[str, Any]) -> str:
        self._check(event)
        if not isinstance(event, yaml.ScalarEvent):
            self._refuse("a key must be text", event)
        if event.value == "<<" and event.style not in _QUOTE_MARKS:
            self._refuse("merge keys (<<) are not allowed", event)
        if not event.value and event.style not in _QUOTE_MARKS:
            self._refuse("a key is missing before the colon", event)
        if event.value in entries:
            self._refuse(f"the key {event.value!r} appears twice", event)
        self._keys += 1
        if self._keys > MAX_KEYS:
            self._refuse(f"more than {MAX_KEYS} keys", event)
        return str(event.value)

    def _check(self, event: Any) -> None:
        if isinstance(event, yaml.AliasEvent):
            self._refuse("aliases (*name) are not allowed", event)
        if event.anchor is not None:
            self._refuse("anchors (&name) are not allowed", event)
        if event.tag is not None:
            self._refuse("tags (!name) are not allowed", event)

    def _refuse(self, reason: str, event: Any) -> NoReturn:
        raise Unreadable(reason, self._first_line + event.start_mark.line)


def _last_line(scalar: Any) -> int:
    mark = scalar.end_mark
    return int(mark.line) - (scalar.style in _BLOCK_STYLES and mark.column == 0)


def _column(event: Any) -> int:
    return int(event.start_mark.column)


_KEY = r"[^\W\d][\w-]*(?: [\w-]+)*"

KEY_LINE = re.compile(rf"({_KEY}):(?: +(.*))?")

_COMMENT = r" *(?: #.*)?"
_DOUBLE = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_SINGLE = r"'([^']*)'"
_QUOTED = re.compile(rf"(?:{_DOUBLE}|{_SINGLE})(?P<comment>{_COMMENT})")
_FLOW = re.compile(rf"\[((?:[^\]\['\"#{{}}]|{_DOUBLE}|{_SINGLE})*)\](?P<comment>{_COMMENT})")
_FLOW_OF_WORDS = re.compile(r"\[[^\W_][\w ./+()-]*(?:, *[^\W_][\w ./+()-]*)*\]")
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
    if _FLOW_OF_WORDS.fullmatch(text):
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


class PlainScalar(str):
    """Text that is written without quotes: a number, a boolean or a time that other tools should parse as one."""

    __slots__ = ()


YamlValue: TypeAlias = str | Sequence[str] | Mapping[str, str | Sequence[str]]

_AMBIGUOUS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf"})
_UNSAFE = r":#,\[\]{}\"\\\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff"
_PLAIN_WORDS = re.compile(rf"[^\W\d_](?:[^{_UNSAFE}]*[^{_UNSAFE}\s])?")
_ID = re.compile(r"(?!0[xob])[0-9][0-9a-z]*[a-df-z][0-9a-z]*")
_MUST_ESCAPE = re.compile(r"[\"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_MAX_KEY_LENGTH = 1000


def emit_scalar(text: str) -> str:
    """Return one text, plain or in double quotes."""
    if isinstance(text, PlainScalar):
        return str(text)
    if (_PLAIN_WORDS.fullmatch(text) and text.lower() not in _AMBIGUOUS) or _ID.fullmatch(text):
        return text
    return '"' + _MUST_ESCAPE.sub(_escape_character, text) + '"'


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
    return _SHORT_ESCAPES.get(char) or f"\\u{ord(char):04x}"


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
