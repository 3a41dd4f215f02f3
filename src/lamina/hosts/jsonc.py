"""Parses JSON with comments and trailing commas, as in settings files, with the offsets of every value."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from lamina.errors import InvalidInput

MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A value with its offsets; for an object or list also its elements and whether a comma follows the last one."""

    start: int
    end: int
    value: Any
    members: tuple[JsonMember, ...] = ()
    items: tuple[JsonNode, ...] = ()
    has_trailing_comma: bool = False

    def member(self, key: str) -> JsonNode | None:
        """Return the value of a key; None if there is none."""
        return next((member.node for member in self.members if member.key == key), None)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The offsets at which each member or item begins and ends."""
        return tuple((member.start, member.node.end) for member in self.members) or tuple(
            (item.start, item.end) for item in self.items
        )


@dataclass(frozen=True, slots=True)
class JsonMember:
    """A key of an object, its offset, and its value."""

    key: str
    start: int
    node: JsonNode


def skip_blank(text: str, offset: int) -> int:
    """Return the offset after the blanks and comments at an offset."""
    match = _BLANK.match(text, offset)
    return match.end() if match else offset


def parse_jsonc(text: str) -> JsonNode:
    """Return the value of a text; InvalidInput with the line number if it is not valid."""
    return _JsoncParser(text).parse_document()


@dataclass(slots=True)
class _JsoncParser:
    text: str
    offset: int = 0
    depth: int = 0

    def parse_document(self) -> JsonNode:
        self.offset = len(self.text) - len(self.text.removeprefix("\ufeff"))
        self._skip_blank()
        node = self._parse_value()
        self._skip_blank()
        if self.offset < len(self.text):
            raise self._syntax_error("there is text after the end")
        return node

    def _parse_value(self) -> JsonNode:
        start = self.offset
        match self.text[start : start + 1]:
            case "{":
                return self._parse_object()
            case "[":
                return self._parse_list()
            case '"':
                string = self._parse_string()
                return JsonNode(start, self.offset, string)
            case _:
                scalar = _SCALAR.match(self.text, start)
                if scalar is None:
                    raise self._syntax_error("a value is missing")
                self.offset = scalar.end()
                return JsonNode(start, self.offset, json.loads(scalar.group()))

    def _parse_object(self) -> JsonNode:
        start, members, comma = self._open_bracket(), list[JsonMember](), False
        while not self._is_at("}"):
            if members and not comma:
                raise self._syntax_error("a comma is missing")
            key_offset = self.offset
            key = self._parse_string()
            if any(member.key == key for member in members):
                raise self._syntax_error(f"the key {key!r} appears twice")
            self._skip_blank()
            if not self.text.startswith(":", self.offset):
                raise self._syntax_error("a colon is missing")
            self.offset += 1
            self._skip_blank()
            members.append(JsonMember(key, key_offset, self._parse_value()))
            comma = self._skip_comma()
        value = {member.key: member.node.value for member in members}
        return JsonNode(start, self._close_bracket(), value, members=tuple(members), has_trailing_comma=comma)

    def _parse_list(self) -> JsonNode:
        start, items, comma = self._open_bracket(), list[JsonNode](), False
        while not self._is_at("]"):
            if items and not comma:
                raise self._syntax_error("a comma is missing")
            items.append(self._parse_value())
            comma = self._skip_comma()
        return JsonNode(
            start, self._close_bracket(), [item.value for item in items], items=tuple(items), has_trailing_comma=comma
        )

    def _open_bracket(self) -> int:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._syntax_error("it is nested too deeply")
        self.offset += 1
        return self.offset - 1

    def _close_bracket(self) -> int:
        self.depth -= 1
        self.offset += 1
        return self.offset

    def _is_at(self, bracket: str) -> bool:
        self._skip_blank()
        return self.text.startswith(bracket, self.offset)

    def _skip_comma(self) -> bool:
        self._skip_blank()
        if not self.text.startswith(",", self.offset):
            return False
        self.offset += 1
        self._skip_blank()
        return True

    def _parse_string(self) -> str:
        quoted = _STRING.match(self.text, self.offset)
        if quoted is None:
            raise self._syntax_error("a string in double quotes is missing")
        try:
            string = json.loads(quoted.group())
        except ValueError as error:
            raise self._syntax_error("a string is not valid JSON") from error
        self.offset = quoted.end()
        return str(string)

    def _skip_blank(self) -> None:
        self.offset = skip_blank(self.text, self.offset)

    def _syntax_error(self, problem: str) -> InvalidInput:
        return InvalidInput(f"line {self.text.count(chr(10), 0, self.offset) + 1}: {problem}")


_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_SCALAR = re.compile(r"(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])")
