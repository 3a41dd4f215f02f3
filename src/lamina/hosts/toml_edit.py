"""Edits one table in a TOML file of another program and leaves the rest of the file unchanged."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from lamina.errors import InvalidInput


def set_table(text: str, group: str, name: str, values: Mapping[str, Any]) -> str:
    """Return the text with a table in a group of tables; InvalidInput if that cannot be done safely."""
    before = _parse_toml(text)
    if before.get(group, {}).get(name) == dict(values):
        return text
    line = "\r\n" if "\r\n" in text else "\n"
    table = render_table(group, name, values).replace("\n", line)
    place = _find_table(text, group, name)
    if place is not None:
        after = text[: place[0]] + table + text[place[1] :]
    else:
        gap = "" if not text else line if text.endswith("\n") else line * 2
        after = f"{text}{gap}{table}"
    expected = copy.deepcopy(before)
    expected.setdefault(group, {})[name] = dict(values)
    return _verify_change(after, expected)


def get_table(text: str, group: str, name: str) -> Any:
    """Return the table of a name in a group; None if there is none."""
    tables = _parse_toml(text).get(group)
    return tables.get(name) if isinstance(tables, dict) else None


def remove_table(text: str, group: str, name: str) -> str:
    """Return the text without a table, and without its group if that is empty then."""
    before = _parse_toml(text)
    if name not in before.get(group, {}):
        return text
    place = _find_table(text, group, name)
    if place is None:
        raise _unsafe_edit()
    start, end = place
    head = text[:start]
    # The empty line before the table is removed with it.
    head = (
        head.removesuffix("\r\n" if head.endswith("\r\n\r\n") else "\n")
        if head.endswith(("\n\n", "\r\n\r\n"))
        else head
    )
    expected = copy.deepcopy(before)
    del expected[group][name]
    if not expected[group]:
        del expected[group]
    return _verify_change(head + text[end:], expected)


def render_table(group: str, name: str, values: Mapping[str, Any]) -> str:
    """Return a table as TOML text."""
    rows = [f"{key} = {_render_value(value)}" for key, value in values.items()]
    return "\n".join([f"[{group}.{name}]", *rows, ""])


def _render_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_render_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_render_value, value))}]"
    if not isinstance(value, str | bool | int | float):
        raise _unsafe_edit()
    return json.dumps(value, ensure_ascii=False)


def _find_table(text: str, group: str, name: str) -> tuple[int, int] | None:
    """Return the start and end of a table with its subtables; None if it is not contiguous."""
    heads = list(_TABLE_HEADER.finditer(text))
    our_header = re.compile(rf"""\[[ \t]*{group}[ \t]*\.[ \t]*(["']?){re.escape(name)}\1[ \t]*[.\]]""")
    places = [n for n, header in enumerate(heads) if our_header.match(header["head"])]
    if not places or places != list(range(places[0], places[-1] + 1)):
        return None
    end = heads[places[-1] + 1].start() if places[-1] + 1 < len(heads) else len(text)
    start = heads[places[0]].start()
    return start, end - _trailing_length(text[start:end])


def _trailing_length(table: str) -> int:
    """Return the length of the blanks and comments at the end of a table; they belong to what follows."""
    lines = table.splitlines(keepends=True)
    count = 0
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        count += len(lines.pop())
    return count


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(str(error)) from error
    return document


def _verify_change(text: str, expected: Mapping[str, Any]) -> str:
    """Return the text if it parses to the expected content; otherwise InvalidInput."""
    try:
        if tomllib.loads(text) == expected:
            return text
    except tomllib.TOMLDecodeError:
        pass
    raise _unsafe_edit()


def _unsafe_edit() -> InvalidInput:
    return InvalidInput("its layout cannot be changed safely by a program")


_TABLE_HEADER = re.compile(r"(?m)^[ \t]*(?P<head>\[[^\n]*)")
