"""Parses JSON with comments and trailing commas, as in settings files, with the offsets of every value."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from lamina.errors import InvalidInput

DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its offsets; for an object or list also its elements and whether a comma follows the last one."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()
    comma: bool = False

    def member(self, key: str) -> Node | None:
        """Return the value of a key; None if there is none."""
        return next((member.node for member in self.members if member.key == key), None)

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """The offsets at which each member or item begins and ends."""
        return tuple((member.start, member.node.end) for member in self.members) or tuple(
            (item.start, item.end) for item in self.items
        )


@dataclass(frozen=True, slots=True)
class Member:
    """A key of an object, its offset, and its value."""

    key: str
    start: int
    node: Node


def end_of_blank(text: str, at: int) -> int:
    """Return the offset after the blanks and comments at an offset."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def parse(text: str) -> Node:
    """Return the value of a text; InvalidInput with the line number if it is not valid."""
    return _Reader(text).whole()


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0
    depth: int = 0

    def whole(self) -> Node:
        self.at = len(self.text) - len(self.text.removeprefix("\ufeff"))
        self._blank()
        node = self._value()
        self._blank()
        if self.at < len(self.text):
            raise self._wrong("there is text after the end")
        return node

    def _value(self) -> Node:
        start = self.at
        match self.text[start : start + 1]:
            case "{":
                return self._object()
            case "[":
                return self._list()
            case '"':
                string = self._string()
                return Node(start, self.at, string)
            case _:
                scalar = _SCALAR.match(self.text, start)
                if scalar is None:
                    raise self._wrong("a value is missing")
                self.at = scalar.end()
                return Node(start, self.at, json.loads(scalar.group()))

    def _object(self) -> Node:
        start, members, comma = self._enter(), list[Member](), False
        while not self._closes("}"):
            if members and not comma:
                raise self._wrong("a comma is missing")
            key_offset = self.at
            key = self._string()
            if any(member.key == key for member in members):
                raise self._wrong(f"the key {key!r} appears twice")
            self._blank()
            if not self.text.startswith(":", self.at):
                raise self._wrong("a colon is missing")
            self.at += 1
            self._blank()
            members.append(Member(key, key_offset, self._value()))
            comma = self._comma()
        value = {member.key: member.node.value for member in members}
        return Node(start, self._leave(), value, members=tuple(members), comma=comma)

    def _list(self) -> Node:
        start, items, comma = self._enter(), list[Node](), False
        while not self._closes("]"):
            if items and not comma:
                raise self._wrong("a comma is missing")
            items.append(self._value())
            comma = self._comma()
        return Node(start, self._leave(), [item.value for item in items], items=tuple(items), comma=comma)

    def _enter(self) -> int:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._wrong("it is nested too deeply")
        self.at += 1
        return self.at - 1

    def _leave(self) -> int:
        self.depth -= 1
        self.at += 1
        return self.at

    def _closes(self, sign: str) -> bool:
        self._blank()
        return self.text.startswith(sign, self.at)

    def _comma(self) -> bool:
        self._blank()
        if not self.text.startswith(",", self.at):
            return False
        self.at += 1
        self._blank()
        return True

    def _string(self) -> str:
        quoted = _STRING.match(self.text, self.at)
        if quoted is None:
            raise self._wrong("a string in double quotes is missing")
        try:
            string = json.loads(quoted.group())
        except ValueError as error:
            raise self._wrong("a string is not valid JSON") from error
        self.at = quoted.end()
        return str(string)

    def _blank(self) -> None:
        self.at = end_of_blank(self.text, self.at)

    def _wrong(self, what: str) -> InvalidInput:
        return InvalidInput(f"line {self.text.count(chr(10), 0, self.at) + 1}: {what}")


_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_SCALAR = re.compile(r"(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])")
