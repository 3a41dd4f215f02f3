"""The definition of a tool: name, descriptions, argument and result types, and the function it calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import mcp.types as types
from pydantic import ValidationError
from pydantic.json_schema import GenerateJsonSchema

from lamina.argument_checks import describe_faults
from lamina.documents.argument_types import VerbArguments
from lamina.documents.json_document import JsonDocument
from lamina.errors import InvalidInput
from lamina.mcp.result_text import ToolResult

if TYPE_CHECKING:
    from lamina.memory import Memory

A = TypeVar("A", bound=VerbArguments)
Schema = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolDefinition(Generic[A]):
    """One tool, named as the function it calls. `is_read` returns whether arguments change nothing."""

    title: str
    description: str
    arguments_type: type[A]
    result_type: type[JsonDocument]
    run: Callable[[Memory, A], ToolResult]
    is_destructive: bool = False
    is_idempotent: bool = False
    is_read_only: bool = False
    is_read: Callable[[A], bool] = lambda arguments: False

    @property
    def name(self) -> str:
        """The name that clients call it by."""
        return self.run.__name__

    def is_write(self, arguments: A) -> bool:
        """Return whether these arguments change anything."""
        return not (self.is_read_only or self.is_read(arguments))

    @cached_property
    def input_schema(self) -> Schema:
        """The schema of the arguments without references, because some hosts do not follow them."""
        schema = self.arguments_type.model_json_schema(schema_generator=_UntitledSchema)
        parts = schema.pop("$defs", {})
        return _inline_references(schema, parts)

    @cached_property
    def listing(self) -> types.Tool:
        """The tool as listed by the server."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=self.result_type.model_json_schema(schema_generator=_UntitledSchema, mode="serialization"),
            annotations=types.ToolAnnotations(
                title=self.title,
                read_only_hint=self.is_read_only,
                destructive_hint=self.is_destructive,
                idempotent_hint=self.is_idempotent or self.is_read_only,
                open_world_hint=False,
            ),
        )

    def parse_arguments(self, raw_arguments: Mapping[str, Any]) -> A:
        """Return the arguments, or raise InvalidInput that says which one is wrong and why, without repeating it.

        Null and missing are the same: some hosts send every argument.
        """
        try:
            return self.arguments_type.model_validate(
                {name: value for name, value in raw_arguments.items() if value is not None}, strict=False
            )
        except ValidationError as error:
            message = describe_faults(error)
            if any(fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1 for fault in error.errors()):
                message += f"; the arguments of {self.name} are {', '.join(self.arguments_type.model_fields) or 'none'}"
            raise InvalidInput(message) from error


class _UntitledSchema(GenerateJsonSchema):
    """Generates schemas without a title for each field: it would only repeat the field's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _inline_references(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Return the schema with every reference replaced by its definition."""

    def put(value: Any) -> Any:
        match value:
            case {"$ref": str(name)}:
                rest = {key: put(item) for key, item in value.items() if key != "$ref"}
                return {**put(definitions[name.rpartition("/")[2]]), **rest}
            case dict():
                return {key: put(item) for key, item in value.items()}
            case list():
                return [put(item) for item in value]
            case _:
                return value

    return {key: put(value) for key, value in schema.items()}
