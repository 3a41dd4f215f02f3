"""Changes to a TOML file of somebody else's: one table put at its end, or taken out, and nothing else touched."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from lamina.errors import InvalidInput


def put_table(text: str, group: str, name: str, values: Mapping[str, Any]) -> str:
    """The text with this table in a group of tables."""
    before = _parsed(text)
    if before.get(group, {}).get(name) == dict(values):
        return text
    line = "\r\n" if "\r\n" in text else "\n"
    table = rendered(group, name, values).replace("\n", line)
    found = _place(text, group, name)
    if found is not None:
        after = text[: found[0]] + table + text[found[1] :]
    else:
        gap = "" if not text else line if text.endswith("\n") else line * 2
        after = f"{text}{gap}{table}"
    wanted = copy.deepcopy(before)
    wanted.setdefault(group, {})[name] = dict(values)
    return _checked(after, wanted)


def table_at(text: str, group: str, name: str) -> Any:
    """What a group holds under a name; None where nothing does."""
    found = _parsed(text).get(group)
    return found.get(name) if isinstance(found, dict) else None


def take_table(text: str, group: str, name: str) -> str:
    """The text without this table; without the group, where it has no other."""
    before = _parsed(text)
    if name not in before.get(group, {}):
        return text
    found = _place(text, group, name)
    if found is None:
        raise _by_hand()
    start, end = found
    head = text[:start]
    # The empty line that parts it from what stands before goes with it.
    head = (
        head.removesuffix("\r\n" if head.endswith("\r\n\r\n") else "\n")
        if head.endswith(("\n\n", "\r\n\r\n"))
        else head
    )
    wanted = copy.deepcopy(before)
    del wanted[group][name]
    if not wanted[group]:
        del wanted[group]
    return _checked(head + text[end:], wanted)


def rendered(group: str, name: str, values: Mapping[str, Any]) -> str:
    """A table as TOML."""
    rows = [f"{key} = {_value(value)}" for key, value in values.items()]
    return "\n".join([f"[{group}.{name}]", *rows, ""])


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if not isinstance(value, str | bool | int | float):
        raise _by_hand()
    return json.dumps(value, ensure_ascii=False)


def _place(text: str, group: str, name: str) -> tuple[int, int] | None:
    """Where a table stands, with tables inside it: from its head to the end of its last row."""
    heads = list(_HEAD.finditer(text))
    own = re.compile(rf"""\[[ \t]*{group}[ \t]*\.[ \t]*(["']?){re.escape(name)}\1[ \t]*[.\]]""")
    places = [n for n, each in enumerate(heads) if own.match(each["head"])]
    if not places or places != list(range(places[0], places[-1] + 1)):
        return None
    end = heads[places[-1] + 1].start() if places[-1] + 1 < len(heads) else len(text)
    start = heads[places[0]].start()
    return start, end - _trailing(text[start:end])


def _trailing(table: str) -> int:
    """How much of the end of a table is blank or a remark, which belongs to what comes next."""
    lines = table.splitlines(keepends=True)
    count = 0
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        count += len(lines.pop())
    return count


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(str(error)) from error
    return found


def _checked(text: str, wanted: Mapping[str, Any]) -> str:
    """The text, if it says what is wanted and nothing else: what cannot be changed so is left to its owner."""
    try:
        if tomllib.loads(text) == wanted:
            return text
    except tomllib.TOMLDecodeError:
        pass
    raise _by_hand()


def _by_hand() -> InvalidInput:
    return InvalidInput("it is written in a way that cannot be changed safely")


_HEAD = re.compile(r"(?m)^[ \t]*(?P<head>\[[^\n]*)")
