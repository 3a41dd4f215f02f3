"""Edits a JSON file of another program and keeps every other byte, comments included."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lamina.errors import InvalidInput
from lamina.hosts.jsonc import Node, end_of_blank, parse

Ours = Callable[[Any], bool]
"""Whether an item of a list is one of ours."""
_BLANK = "\ufeff \t\r\n"
_LINE_END = re.compile(r"[ \t]*\r?\n")


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value under a path of keys, creating objects; InvalidInput if the path is blocked."""
    text = text if text.strip(_BLANK) else "{}\n"
    node, depth = _reached(parse(text), path)
    if depth == len(path):
        return text if node.value == value else _Page(text).replaced(node, value)
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    if not isinstance(node.value, dict):
        raise InvalidInput(f"{'.'.join(path[:depth]) or 'the file'} is not a JSON object")
    return _Page(text).added(node, value, f"{json.dumps(path[depth])}: ")


def value_at(text: str, path: Sequence[str]) -> Any:
    """Return the value under a path of keys; None if there is none."""
    if not text.strip(_BLANK):
        return None
    node, depth = _reached(parse(text), path)
    return node.value if depth == len(path) else None


def put_item(text: str, path: Sequence[str], value: Any, ours: Ours) -> str:
    """Return the text with an item in the list under a path; it replaces our earlier item, other items stay."""
    items_node = _list_at(text, path)
    if items_node is None:
        return put(text, path, [value])
    our_items = [item for item in items_node.items if ours(item.value)]
    if not our_items:
        return _Page(text).added(items_node, value)
    if len(our_items) > 1:
        return put_item(_Page(text).cut(items_node, items_node.items.index(our_items[-1])), path, value, ours)
    return text if our_items[0].value == value else _Page(text).replaced(our_items[0], value)


def take(text: str, path: Sequence[str]) -> str:
    """Return the text without the value under a path, and without the objects that are empty then."""
    if not text.strip(_BLANK):
        return text
    root = parse(text)
    if _reached(root, path)[1] < len(path):
        return text
    json_text = _Page(text)
    for depth in range(len(path) - 1, -1, -1):
        parent, _ = _reached(root, path[:depth])
        if depth == 0 or not json_text.is_alone(parent):
            return json_text.cut(parent, [member.key for member in parent.members].index(path[depth]))
    return text


def take_items(text: str, path: Sequence[str], ours: Ours) -> str:
    """Return the text without our items in the list under a path, and without what is empty then."""
    items_node = _list_at(text, path)
    our_indexes = [n for n, item in enumerate(items_node.items) if ours(item.value)] if items_node else []
    if items_node is None or not our_indexes:
        return text
    json_text = _Page(text)
    if json_text.is_alone(items_node):
        return take(text, path)
    return take_items(json_text.cut(items_node, our_indexes[-1]), path, ours)


def _reached(node: Node, path: Sequence[str]) -> tuple[Node, int]:
    """Return the last existing value on a path, and the number of keys that lead to it."""
    for depth, key in enumerate(path):
        member = node.member(key)
        if member is None:
            return node, depth
        node = member
    return node, len(path)


def _list_at(text: str, path: Sequence[str]) -> Node | None:
    if not text.strip(_BLANK):
        return None
    node, depth = _reached(parse(text), path)
    if depth < len(path):
        return None
    if not isinstance(node.value, list):
        raise InvalidInput(f"{'.'.join(path)} is not a JSON list")
    return node


@dataclass(frozen=True, slots=True)
class _Page:
    """A JSON text that is changed in one place, in the style of the rest of it."""

    text: str

    def replaced(self, node: Node, value: Any) -> str:
        return self._between(node.start, node.end, self._rendered(value, self._indent(node.start)))

    def added(self, holder: Node, value: Any, label: str = "") -> str:
        """Return the text with one more member or item at the end of an object or list."""
        inside = self.text[holder.start + 1 : holder.end - 1]
        if not holder.places:
            parent_indent = self._indent(holder.start)
            deeper = parent_indent + self._unit
            rendered = f"{self._line}{deeper}{label}{self._rendered(value, deeper)}{self._line}{parent_indent}"
            return self._between(holder.start + 1, holder.end - 1, f"{inside.rstrip()}{rendered}")
        end = holder.places[-1][1]
        indent = self._indent(holder.places[0][0])
        gap = f"{self._line}{indent}" if "\n" in inside else " "
        rendered = label + (self._rendered(value, indent) if "\n" in inside else json.dumps(value, ensure_ascii=False))
        rest = self.text[end : holder.end - 1]
        comments = rest.rstrip()
        before, after = ("", ",") if holder.comma else (",", "")
        return self._between(end, end + len(comments), f"{before}{comments}{gap}{rendered}{after}")

    def is_alone(self, holder: Node) -> bool:
        """Whether an object or list has at most one element and no comments."""
        if len(holder.places) > 1:
            return False
        inside = (holder.start + 1, holder.end - 1)
        parts = [self.text[inside[0] : start] + self.text[end : inside[1]] for start, end in holder.places]
        return not "".join(parts or [self.text[slice(*inside)]]).strip(" \t\r\n,")

    def cut(self, holder: Node, at: int) -> str:
        """Return the text without one member or item, its comma and its line; comments next to it stay."""
        start, end = holder.places[at]
        if at + 1 < len(holder.places):
            comma = end_of_blank(self.text, end) + 1
            following = self.text[comma:]
            return self._between(start, comma + len(following) - len(following.lstrip()), "")
        if at == 0:
            has_comma = holder.comma
            stop = end_of_blank(self.text, end) + 1 if has_comma else end
            left = self._said(holder.start + 1, start, stop) + self.text[stop : holder.end - 1]
            return self._between(holder.start + 1, holder.end - 1, left if left.strip() else "")
        before = holder.places[at - 1][1]
        comma = end_of_blank(self.text, before)
        stop = end_of_blank(self.text, end) + 1 if holder.comma else end
        comments = self._said(before, start, stop)
        if not holder.comma:
            comments = comments[: comma - before] + comments[comma - before + 1 :]
        return self._between(before, stop, comments)

    def _said(self, start: int, end: int, following: int) -> str:
        """Return the text of comments without trailing blanks; a line comment keeps its end of line."""
        comments = self.text[start:end].rstrip()
        open_end = "//" in comments.rpartition("\n")[2] and not _LINE_END.match(self.text, following)
        return comments + self._line if open_end else comments

    @property
    def _line(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _unit(self) -> str:
        match = re.search(r"(?m)^([ \t]+)\S", self.text)
        return "  " if match is None else "\t" if match[1].startswith("\t") else match[1][:8]

    def _indent(self, at: int) -> str:
        line = self.text.rfind("\n", 0, at) + 1
        match = re.match(r"[ \t]*", self.text[line:at])
        return match.group() if match else ""

    def _rendered(self, value: Any, indent: str) -> str:
        rendered = json.dumps(value, indent=self._unit, ensure_ascii=False)
        return rendered.replace("\n", self._line + indent)

    def _between(self, start: int, end: int, told: str) -> str:
        return self.text[:start] + told + self.text[end:]
