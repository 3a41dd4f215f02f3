"""Parses values of enumerations that a caller gives as text."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from lamina.errors import InvalidInput

E = TypeVar("E", bound=StrEnum)


def parse_enum(enum_type: type[E], value: str, noun: str) -> E:
    """Return the enum member of a value; InvalidInput with the choices if there is none."""
    try:
        return enum_type(value)
    except ValueError as error:
        raise InvalidInput(f"{value!r} is no {noun}; choose from {', '.join(enum_type)}") from error
