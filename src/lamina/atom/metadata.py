"""Define the values that metadata may have: text, numbers, booleans, and lists of these."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

MetadataScalar: TypeAlias = str | bool | int | float
MetadataValue: TypeAlias = MetadataScalar | tuple[MetadataScalar, ...]
Metadata: TypeAlias = Mapping[str, MetadataValue]

LIST_SEPARATOR = ", "
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?(?:e[+-]?[0-9]{1,3})?")


def to_text(value: MetadataValue) -> str:
    """Return a value as text: true and false for booleans, the items of a list with commas between them."""
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            return LIST_SEPARATOR.join(map(to_text, value))
        case _:
            return str(value)


def parse_scalar(text: str) -> MetadataScalar:
    """Return the boolean or number that is written as this text, else the text; 007 and 1.10 are no numbers."""
    if text in ("true", "false"):
        return text == "true"
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text) if "." in text or "e" in text else int(text)
    return number if str(number) == text else text


def parse_value(text: str) -> MetadataValue:
    """Return the value that a person writes as this text: "42" in quotes is text, [a, b] is a list."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        is_list = text.startswith("[") and text.endswith("]")
        return tuple(parse_scalar(item.strip()) for item in text[1:-1].split(",")) if is_list else text
    return check_value(value) if isinstance(value, str | list) else parse_scalar(text)


def check_value(value: object) -> MetadataValue:
    """Return the value, a list as a tuple; ValueError if metadata cannot have it."""
    return tuple(map(_check_scalar, value)) if isinstance(value, list | tuple) else _check_scalar(value)


def _check_scalar(value: object) -> MetadataScalar:
    if not isinstance(value, str | bool | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError("a value must be text, a number, true or false, or a list of these")
    return value


def iterate_texts(metadata: Metadata) -> Iterator[str]:
    """Yield every value of metadata as text, the items of lists one by one."""
    for value in metadata.values():
        yield from map(to_text, value) if isinstance(value, tuple) else (to_text(value),)


def map_texts(value: MetadataValue, change: Callable[[str], str]) -> MetadataValue:
    """Return a value with its texts changed; numbers and booleans stay, unless their text would not."""
    if isinstance(value, tuple):
        return tuple(_map_text(item, change) for item in value)
    return _map_text(value, change)


def _map_text(value: MetadataScalar, change: Callable[[str], str]) -> MetadataScalar:
    text = to_text(value)
    changed = change(text)
    return value if changed == text else changed
