"""Read frontmatter strictly, from PyYAML's events: advanced features are refused and every scalar stays text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn, TypeAlias

import yaml

from lamina.errors import InvalidInput

FrontmatterValue: TypeAlias = "str | list[FrontmatterValue] | dict[str, FrontmatterValue]"

MAX_DEPTH = 5
MAX_KEYS = 256

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_QUOTED = ("'", '"')
_BLOCK = ("|", ">")


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

    def _read_key(self, event: Any, seen: dict[str, Any]) -> str:
        self._check(event)
        if not isinstance(event, yaml.ScalarEvent):
            self._refuse("a key must be text", event)
        if event.value == "<<" and event.style not in _QUOTED:
            self._refuse("merge keys (<<) are not allowed", event)
        if not event.value and event.style not in _QUOTED:
            self._refuse("a key is missing before the colon", event)
        if event.value in seen:
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
    return int(mark.line) - (scalar.style in _BLOCK and mark.column == 0)


def _column(event: Any) -> int:
    return int(event.start_mark.column)
