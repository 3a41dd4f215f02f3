"""Checks the arguments of public verbs against their annotations, so that a wrong one is named before anything is done.

`verb` marks a public method: it checks the arguments, and reports the call to telemetry if it has an operation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated, Any, ParamSpec, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from lamina.errors import InvalidInput
from lamina.telemetry import Operation, traced
from lamina.text.normal_form import escape_hidden
from lamina.validation_messages import MUST_BE, describe_fault

P = ParamSpec("P")
R = TypeVar("R")

Amount = Annotated[int, Field(ge=0)]
"""How many rows, hits or tokens."""

_MAX_FAULTS, _MAX_NAME_LENGTH = 5, 80


class _ArgumentModel(BaseModel):
    """The arguments of one verb; values are not converted, so text is no number."""

    model_config = ConfigDict(strict=True, arbitrary_types_allowed=True, protected_namespaces=())


def verb(
    operation: Operation | None = None, *, fields: type | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that raises InvalidInput, with the name of the argument, if one is unknown, missing or wrong.

    `fields` is the typed dictionary of a method's `**fields`: its keys are arguments of the method.
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        check = _ArgumentCheck(function, fields)

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            check(args, kwargs)
            return function(*args, **kwargs)

        result = checked if operation is None else traced(operation)(checked)
        result.__signature__ = check.signature  # type: ignore[attr-defined]
        if fields is not None:
            hints = {**function.__annotations__, **fields.__annotations__}
            shown = {*check.signature.parameters, "return"}
            result.__annotations__ = {name: hint for name, hint in hints.items() if name in shown}
        return result

    return wrap


class _ArgumentCheck:
    """The check of one verb's arguments; its model is built at the first call, because that takes time."""

    def __init__(self, function: Callable[..., object], fields: type | None) -> None:
        self._function, self._fields = function, fields
        self.signature = _expand_signature(inspect.signature(function), fields)

    def __call__(self, args: Iterable[object], kwargs: dict[str, object]) -> None:
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            names = [name for name in self.signature.parameters if name != "self"]
            unknown = [f"{name}: unknown argument" for name in kwargs if name not in names]
            problem = ", ".join(unknown) or str(error)
            known = ", ".join(names) or "none"
            raise InvalidInput(f"{problem}; the arguments of {self._function.__name__} are {known}") from error
        given.pop("self", None)
        try:
            self._model.__pydantic_validator__.validate_python(given)
        except ValidationError as error:
            raise InvalidInput(_describe_alternatives(error)) from error

    @functools.cached_property
    def _model(self) -> type[BaseModel]:
        hints = get_type_hints(self._function, include_extras=True)
        hints |= get_type_hints(self._fields, include_extras=True) if self._fields else {}
        arguments: dict[str, Any] = {
            name: (hints[name], None) for name in self.signature.parameters if name in hints and name != "self"
        }
        return create_model(self._function.__name__, __base__=_ArgumentModel, **arguments)


def _expand_signature(signature: inspect.Signature, fields: type | None) -> inspect.Signature:
    """Return the signature with the keys of a typed dictionary in the place of `**fields`."""
    if fields is None:
        return signature
    named = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    return signature.replace(
        parameters=[
            *named,
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=..., annotation=hint.__forward_arg__)
                for name, hint in fields.__annotations__.items()
            ),
        ]
    )


def describe_faults(error: ValidationError, noun: str = "input") -> str:
    """Return what is wrong with which argument, without repeating the values; `noun` stands for the whole input."""
    faults = error.errors(include_url=False, include_input=False)[:_MAX_FAULTS]
    return "; ".join(f"{_fault_name(fault['loc']) or noun}: {describe_fault(fault)}" for fault in faults)


def _describe_alternatives(error: ValidationError) -> str:
    """Return the faults of a call; an argument that may have several types is named once, with all of them."""
    messages: dict[str, list[str]] = {}
    for fault in error.errors(include_url=False, include_input=False):
        name, *parts = fault["loc"]
        place = _fault_name((name, *(part for part in parts if isinstance(part, int))))
        messages.setdefault(place, []).append(describe_fault(fault))
    return "; ".join(f"{place}: {_join_alternatives(texts)}" for place, texts in list(messages.items())[:_MAX_FAULTS])


def _join_alternatives(messages: list[str]) -> str:
    first, *others = dict.fromkeys(messages)
    return " or ".join([first, *(text.removeprefix(MUST_BE) for text in others)])


def _fault_name(location: Iterable[str | int]) -> str:
    return escape_hidden(".".join(map(str, location)))[:_MAX_NAME_LENGTH]


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
