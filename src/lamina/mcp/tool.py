"""A tool: its name and words, what it takes and answers with, what right it needs, and the verb it stands for."""

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
    """One tool. `writes` says of given arguments whether they change anything."""

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
        """What it takes, in one piece: some hosts follow no references."""
        schema = self.takes.model_json_schema(schema_generator=_Untitled)
        parts = schema.pop("$defs", {})
        return _inlined(schema, parts)

    @cached_property
    def listed(self) -> types.Tool:
        """The tool as a list tells it."""
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
        """The arguments, or InvalidInput that says which one is wrong and how, without repeating it.

        For an agent, null and left out are the same: some hosts fill in every argument there is.
        """
        try:
            return self.takes.model_validate({name: value for name, value in given.items() if value is not None})
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False)[:_MOST_FAULTS]
            told = [f"{escaped('.'.join(map(str, fault['loc'])))[:_LONGEST_NAME]}: {_said(fault)}" for fault in faults]
            if any(fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1 for fault in faults):
                told.append(f"{self.name} takes {', '.join(self.takes.model_fields) or 'nothing'}")
            raise InvalidInput("; ".join(told)) from error


def _said(fault: ErrorDetails) -> str:
    """What is wrong, in words that do not come from inside."""
    match fault["type"]:
        case "extra_forbidden":
            return "there is no such argument"
        case "model_type":
            return "Input should be an object"
        case _:
            return fault["msg"]


class _Untitled(GenerateJsonSchema):
    """Schemas without a title for each field: it would only repeat the field's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _inlined(schema: Schema, parts: Mapping[str, Schema]) -> Schema:
    """The schema with every reference replaced by what it names."""

    def put(value: Any) -> Any:
        match value:
            case {"$ref": str(name)}:
                rest = {key: put(each) for key, each in value.items() if key != "$ref"}
                return {**put(parts[name.rpartition("/")[2]]), **rest}
            case dict():
                return {key: put(each) for key, each in value.items()}
            case list():
                return [put(each) for each in value]
            case _:
                return value

    return {key: put(value) for key, value in schema.items()}
