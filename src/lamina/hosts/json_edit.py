"""Changes to a JSON file of somebody else's that leave every byte alone but those that change."""

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
    """The text with this value under these keys; objects on the way are made."""
    text = text if text.strip(_BLANK) else "{}\n"
    node, depth = _reached(parse(text), path)
    if depth == len(path):
        return text if node.value == value else _Page(text).replaced(node, value)
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    if not isinstance(node.value, dict):
        raise InvalidInput(f"{'.'.join(path[:depth]) or 'the file'} is no JSON object")
    return _Page(text).added(node, value, f"{json.dumps(path[depth])}: ")


def value_at(text: str, path: Sequence[str]) -> Any:
    """What stands under these keys; None where nothing does."""
    if not text.strip(_BLANK):
        return None
    node, depth = _reached(parse(text), path)
    return node.value if depth == len(path) else None


def put_item(text: str, path: Sequence[str], value: Any, ours: Ours) -> str:
    """The text with this item in the list under these keys, in the place of one that is ours; other items stay."""
    found = _list_at(text, path)
    if found is None:
        return put(text, path, [value])
    own = [item for item in found.items if ours(item.value)]
    if not own:
        return _Page(text).added(found, value)
    if len(own) > 1:
        return put_item(_Page(text).cut(found, found.items.index(own[-1])), path, value, ours)
    return text if own[0].value == value else _Page(text).replaced(own[0], value)


def take(text: str, path: Sequence[str]) -> str:
    """The text without what stands under these keys, nor the objects that are empty without it."""
    if not text.strip(_BLANK):
        return text
    root = parse(text)
    if _reached(root, path)[1] < len(path):
        return text
    page = _Page(text)
    for cut in range(len(path) - 1, -1, -1):
        holder, _ = _reached(root, path[:cut])
        if cut == 0 or not page.is_alone(holder):
            return page.cut(holder, [member.key for member in holder.members].index(path[cut]))
    return text


def take_items(text: str, path: Sequence[str], ours: Ours) -> str:
    """The text without items of ours in the list under these keys, nor what is empty without them."""
    found = _list_at(text, path)
    own = [n for n, each in enumerate(found.items) if ours(each.value)] if found else []
    if found is None or not own:
        return text
    page = _Page(text)
    if page.is_alone(found):
        return take(text, path)
    return take_items(page.cut(found, own[-1]), path, ours)


def _reached(node: Node, path: Sequence[str]) -> tuple[Node, int]:
    """The last value on the way that is there, and how many keys lead to it."""
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
        raise InvalidInput(f"{'.'.join(path)} is no JSON list")
    return node


@dataclass(frozen=True, slots=True)
class _Page:
    """A text in which one thing changes, written as the rest of it is."""

    text: str

    def replaced(self, node: Node, value: Any) -> str:
        return self._between(node.start, node.end, self._rendered(value, self._indent(node.start)))

    def added(self, holder: Node, value: Any, label: str = "") -> str:
        """With one more member or item at the end of its object or list."""
        inside = self.text[holder.start + 1 : holder.end - 1]
        if not holder.places:
            own = self._indent(holder.start)
            deeper = own + self._unit
            told = f"{inside.rstrip()}{self._line}{deeper}{label}{self._rendered(value, deeper)}{self._line}{own}"
            return self._between(holder.start + 1, holder.end - 1, told)
        end = holder.places[-1][1]
        indent = self._indent(holder.places[0][0])
        gap = f"{self._line}{indent}" if "\n" in inside else " "
        told = label + (self._rendered(value, indent) if "\n" in inside else json.dumps(value, ensure_ascii=False))
        rest = self.text[end : holder.end - 1]
        said = rest.rstrip()
        before, after = ("", ",") if holder.comma else (",", "")
        return self._between(end, end + len(said), f"{before}{said}{gap}{told}{after}")

    def is_alone(self, holder: Node) -> bool:
        """Whether an object or list holds one thing, and no remark either."""
        if len(holder.places) > 1:
            return False
        inside = (holder.start + 1, holder.end - 1)
        parts = [self.text[inside[0] : start] + self.text[end : inside[1]] for start, end in holder.places]
        return not "".join(parts or [self.text[slice(*inside)]]).strip(" \t\r\n,")

    def cut(self, holder: Node, at: int) -> str:
        """Without one member or item, its comma, and the line it had for itself; remarks beside it stay."""
        start, end = holder.places[at]
        if at + 1 < len(holder.places):
            comma = end_of_blank(self.text, end) + 1
            following = self.text[comma:]
            return self._between(start, comma + len(following) - len(following.lstrip()), "")
        if at == 0:
            own = holder.comma
            stop = end_of_blank(self.text, end) + 1 if own else end
            left = self._said(holder.start + 1, start, stop) + self.text[stop : holder.end - 1]
            return self._between(holder.start + 1, holder.end - 1, left if left.strip() else "")
        before = holder.places[at - 1][1]
        comma = end_of_blank(self.text, before)
        stop = end_of_blank(self.text, end) + 1 if holder.comma else end
        said = self._said(before, start, stop)
        if not holder.comma:
            said = said[: comma - before] + said[comma - before + 1 :]
        return self._between(before, stop, said)

    def _said(self, start: int, end: int, following: int) -> str:
        """Remarks without the blanks behind them; one that takes the rest of its line keeps the line's end."""
        said = self.text[start:end].rstrip()
        open_end = "//" in said.rpartition("\n")[2] and not _LINE_END.match(self.text, following)
        return said + self._line if open_end else said

    @property
    def _line(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _unit(self) -> str:
        found = re.search(r"(?m)^([ \t]+)\S", self.text)
        return "  " if found is None else "\t" if found[1].startswith("\t") else found[1][:8]

    def _indent(self, at: int) -> str:
        line = self.text.rfind("\n", 0, at) + 1
        found = re.match(r"[ \t]*", self.text[line:at])
        return found.group() if found else ""

    def _rendered(self, value: Any, indent: str) -> str:
        told = json.dumps(value, indent=self._unit, ensure_ascii=False)
        return told.replace("\n", self._line + indent)

    def _between(self, start: int, end: int, told: str) -> str:
        return self.text[:start] + told + self.text[end:]
