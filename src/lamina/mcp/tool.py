"""The definition of a tool: name, descriptions, argument and result types, and the function it calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import mcp.types as types
from pydantic import ValidationError
from pydantic.json_schema import GenerateJsonSchema

from lamina.documents.document import Document
from lamina.errors import InvalidInput
from lamina.mcp.arguments import Arguments
from lamina.mcp.told import Told
from lamina.text.hidden import escaped

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from lamina.memory import Memory

A = TypeVar("A", bound=Arguments)
Schema = dict[str, Any]

_MOST_FAULTS = 5
_LONGEST_NAME = 80


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[A]):
    """One tool. `is_write` returns for given arguments whether they change anything."""

    name: str
    title: str
    description: str
    takes: type[A]
    answers: type[Document]
    run: Callable[[Memory, A], Told]
    writes: Callable[[A], bool]
    destructive: bool = False
    idempotent: bool = False
    read_only: bool = False

    @cached_property
    def input_schema(self) -> Schema:
        """The schema of the arguments without references, because some hosts do not follow them."""
        schema = self.takes.model_json_schema(schema_generator=_Untitled)
        parts = schema.pop("$defs", {})
        return _inlined(schema, parts)

    @cached_property
    def listed(self) -> types.Tool:
        """The tool as listed by the server."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=self.answers.model_json_schema(schema_generator=_Untitled, mode="serialization"),
            annotations=types.ToolAnnotations(
                title=self.title,
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent or self.read_only,
                open_world_hint=False,
            ),
        )

    def parse(self, given: Mapping[str, Any]) -> A:
        """Return the arguments, or raise InvalidInput that says which one is wrong and why, without repeating it.

        Null and missing are the same: some hosts send every argument.
        """
        try:
            return self.takes.model_validate({name: value for name, value in given.items() if value is not None})
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False)[:_MOST_FAULTS]
            messages = [
                f"{escaped('.'.join(map(str, fault['loc'])))[:_LONGEST_NAME]}: {_said(fault)}" for fault in faults
            ]
            if any(fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1 for fault in faults):
                messages.append(f"the arguments of {self.name} are {', '.join(self.takes.model_fields) or 'none'}")
            raise InvalidInput("; ".join(messages)) from error


def _said(fault: ErrorDetails) -> str:
    """Return what is wrong, without internal terms."""
    match fault["type"]:
        case "extra_forbidden":
            return "unknown argument"
        case "model_type":
            return "Input should be an object"
        case _:
            return fault["msg"]


class _Untitled(GenerateJsonSchema):
    """Generates schemas without a title for each field: it would only repeat the field's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _inlined(schema: Schema, parts: Mapping[str, Schema]) -> Schema:
    """Return the schema with every reference replaced by its definition."""

    def put(value: Any) -> Any:
        match value:
            case {"$ref": str(name)}:
                rest = {key: put(item) for key, item in value.items() if key != "$ref"}
                return {**put(parts[name.rpartition("/")[2]]), **rest}
            case dict():
                return {key: put(item) for key, item in value.items()}
            case list():
                return [put(item) for item in value]
            case _:
                return value

    return {key: put(value) for key, value in schema.items()}
