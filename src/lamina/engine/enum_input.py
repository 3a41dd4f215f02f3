"""Parses values of enumerations that a caller gives as text."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from lamina.errors import InvalidInput

E = TypeVar("E", bound=StrEnum)


def parse_enum(enum_type: type[E], value: str, argument: str) -> E:
    """Return the enum member of a value; InvalidInput with the choices if there is none."""
    try:
        return enum_type(value)
    except ValueError as error:
        raise InvalidInput(f"{argument}: {value!r} is not one of {', '.join(enum_type)}") from error


def parse_enum_set(enum_type: type[E], values: str | Iterable[str] | None, argument: str) -> frozenset[E] | None:
    """Return the enum members of one or several values, None for no value; InvalidInput with the choices."""
    names = (values,) if isinstance(values, str) else tuple(values or ())
    return frozenset(parse_enum(enum_type, name, argument) for name in names) or None
