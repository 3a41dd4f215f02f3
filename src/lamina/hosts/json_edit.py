"""Edits a JSON file of another program and keeps every other byte, comments included."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lamina.errors import InvalidInput
from lamina.hosts.jsonc import JsonNode, parse_jsonc, skip_blank

IsOurs = Callable[[Any], bool]
"""Whether an item of a list is one of ours."""
_BLANK = "\ufeff \t\r\n"
_LINE_END = re.compile(r"[ \t]*\r?\n")


def set_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value under a path of keys, creating objects; InvalidInput if the path is blocked."""
    text = text if text.strip(_BLANK) else "{}\n"
    node, depth = _resolve_path(parse_jsonc(text), path)
    if depth == len(path):
        return text if node.value == value else _JsonText(text).replace_value(node, value)
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    if not isinstance(node.value, dict):
        raise InvalidInput(f"{'.'.join(path[:depth]) or 'the file'} is not a JSON object")
    return _JsonText(text).append_value(node, value, f"{json.dumps(path[depth])}: ")


def get_value(text: str, path: Sequence[str]) -> Any:
    """Return the value under a path of keys; None if there is none."""
    if not text.strip(_BLANK):
        return None
    node, depth = _resolve_path(parse_jsonc(text), path)
    return node.value if depth == len(path) else None


def set_list_item(text: str, path: Sequence[str], value: Any, is_ours: IsOurs) -> str:
    """Return the text with an item in the list under a path; it replaces our earlier item, other items stay."""
    items_node = _find_list(text, path)
    if items_node is None:
        return set_value(text, path, [value])
    our_items = [item for item in items_node.items if is_ours(item.value)]
    if not our_items:
        return _JsonText(text).append_value(items_node, value)
    if len(our_items) > 1:
        return set_list_item(
            _JsonText(text).remove_at(items_node, items_node.items.index(our_items[-1])), path, value, is_ours
        )
    return text if our_items[0].value == value else _JsonText(text).replace_value(our_items[0], value)


def remove_value(text: str, path: Sequence[str]) -> str:
    """Return the text without the value under a path, and without the objects that are empty then."""
    if not text.strip(_BLANK):
        return text
    root = parse_jsonc(text)
    if _resolve_path(root, path)[1] < len(path):
        return text
    json_text = _JsonText(text)
    for depth in range(len(path) - 1, -1, -1):
        parent, _ = _resolve_path(root, path[:depth])
        if depth == 0 or not json_text.holds_at_most_one(parent):
            return json_text.remove_at(parent, [member.key for member in parent.members].index(path[depth]))
    return text


def remove_list_items(text: str, path: Sequence[str], is_ours: IsOurs) -> str:
    """Return the text without our items in the list under a path, and without what is empty then."""
    items_node = _find_list(text, path)
    our_indexes = [n for n, item in enumerate(items_node.items) if is_ours(item.value)] if items_node else []
    if items_node is None or not our_indexes:
        return text
    json_text = _JsonText(text)
    if json_text.holds_at_most_one(items_node):
        return remove_value(text, path)
    return remove_list_items(json_text.remove_at(items_node, our_indexes[-1]), path, is_ours)


def _resolve_path(node: JsonNode, path: Sequence[str]) -> tuple[JsonNode, int]:
    """Return the last existing value on a path, and the number of keys that lead to it."""
    for depth, key in enumerate(path):
        member = node.member(key)
        if member is None:
            return node, depth
        node = member
    return node, len(path)


def _find_list(text: str, path: Sequence[str]) -> JsonNode | None:
    if not text.strip(_BLANK):
        return None
    node, depth = _resolve_path(parse_jsonc(text), path)
    if depth < len(path):
        return None
    if not isinstance(node.value, list):
        raise InvalidInput(f"{'.'.join(path)} is not a JSON list")
    return node


@dataclass(frozen=True, slots=True)
class _JsonText:
    """A JSON text that is changed in one place, in the style of the rest of it."""

    text: str

    def replace_value(self, node: JsonNode, value: Any) -> str:
        return self._replace_range(node.start, node.end, self._render(value, self._indent_at(node.start)))

    def append_value(self, parent: JsonNode, value: Any, label: str = "") -> str:
        """Return the text with one more member or item at the end of an object or list."""
        inside = self.text[parent.start + 1 : parent.end - 1]
        if not parent.spans:
            parent_indent = self._indent_at(parent.start)
            deeper = parent_indent + self._indent_unit
            rendered = f"{self._newline}{deeper}{label}{self._render(value, deeper)}{self._newline}{parent_indent}"
            return self._replace_range(parent.start + 1, parent.end - 1, f"{inside.rstrip()}{rendered}")
        end = parent.spans[-1][1]
        indent = self._indent_at(parent.spans[0][0])
        gap = f"{self._newline}{indent}" if "\n" in inside else " "
        rendered = label + (self._render(value, indent) if "\n" in inside else json.dumps(value, ensure_ascii=False))
        rest = self.text[end : parent.end - 1]
        comments = rest.rstrip()
        before, after = ("", ",") if parent.has_trailing_comma else (",", "")
        return self._replace_range(end, end + len(comments), f"{before}{comments}{gap}{rendered}{after}")

    def holds_at_most_one(self, parent: JsonNode) -> bool:
        """Return whether an object or list has at most one element and no comments."""
        if len(parent.spans) > 1:
            return False
        inside = (parent.start + 1, parent.end - 1)
        parts = [self.text[inside[0] : start] + self.text[end : inside[1]] for start, end in parent.spans]
        return not "".join(parts or [self.text[slice(*inside)]]).strip(" \t\r\n,")

    def remove_at(self, parent: JsonNode, index: int) -> str:
        """Return the text without one member or item, its comma and its line; comments next to it stay."""
        start, end = parent.spans[index]
        if index + 1 < len(parent.spans):
            comma = skip_blank(self.text, end) + 1
            following = self.text[comma:]
            return self._replace_range(start, comma + len(following) - len(following.lstrip()), "")
        if index == 0:
            has_comma = parent.has_trailing_comma
            stop = skip_blank(self.text, end) + 1 if has_comma else end
            left = self._trim_comments(parent.start + 1, start, stop) + self.text[stop : parent.end - 1]
            return self._replace_range(parent.start + 1, parent.end - 1, left if left.strip() else "")
        before = parent.spans[index - 1][1]
        comma = skip_blank(self.text, before)
        stop = skip_blank(self.text, end) + 1 if parent.has_trailing_comma else end
        comments = self._trim_comments(before, start, stop)
        if not parent.has_trailing_comma:
            comments = comments[: comma - before] + comments[comma - before + 1 :]
        return self._replace_range(before, stop, comments)

    def _trim_comments(self, start: int, end: int, next_offset: int) -> str:
        """Return the text of comments without trailing blanks; a line comment keeps its end of line."""
        comments = self.text[start:end].rstrip()
        open_end = "//" in comments.rpartition("\n")[2] and not _LINE_END.match(self.text, next_offset)
        return comments + self._newline if open_end else comments

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _indent_unit(self) -> str:
        match = re.search(r"(?m)^([ \t]+)\S", self.text)
        return "  " if match is None else "\t" if match[1].startswith("\t") else match[1][:8]

    def _indent_at(self, at: int) -> str:
        line = self.text.rfind("\n", 0, at) + 1
        match = re.match(r"[ \t]*", self.text[line:at])
        return match.group() if match else ""

    def _render(self, value: Any, indent: str) -> str:
        rendered = json.dumps(value, indent=self._indent_unit, ensure_ascii=False)
        return rendered.replace("\n", self._newline + indent)

    def _replace_range(self, start: int, end: int, replacement: str) -> str:
        return self.text[:start] + replacement + self.text[end:]
