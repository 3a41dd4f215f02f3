"""JSON schemas as servers accept them, and the parsing of their answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from lamina.models.chat import Message, T

_DROPPED = frozenset({"title", "default", "description"})
_BOUND_TEXTS: Mapping[str, str] = {
    "maxLength": "at most {} characters",
    "minLength": "at least {} characters",
    "maxItems": "at most {} items",
    "minItems": "at least {} items",
    "minimum": "not below {}",
    "maximum": "not above {}",
}
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_THINKING_END = "</think>"

Schema = dict[str, Any]


def build_wire_schema(answer_type: type[BaseModel]) -> Schema:
    """Return a model's JSON schema as strict servers accept it: no references, every field required, no others
    allowed."""
    schema = answer_type.model_json_schema()
    return _make_strict(schema, schema.get("$defs", {}))


def describe_bounds(schema: Schema) -> Schema:
    """Return the same schema with its bounds in descriptions, for servers that do not accept such keywords."""
    descriptions = [words.format(schema[name]) for name, words in _BOUND_TEXTS.items() if name in schema]
    loose = {name: value for name, value in schema.items() if name not in _BOUND_TEXTS}
    if "items" in loose:
        loose["items"] = describe_bounds(loose["items"])
    if "properties" in loose:
        loose["properties"] = {name: describe_bounds(part) for name, part in loose["properties"].items()}
    return {**loose, "description": ", ".join(descriptions)} if descriptions else loose


def find_unbounded(schema: Schema, path: str = "$") -> list[str]:
    """Return the paths of every string, list and number of a schema without a limit: a small model might never stop
    writing one."""
    kind, paths = schema.get("type"), []
    if kind == "string" and not {"maxLength", "enum", "const"} & schema.keys():
        paths.append(path)
    if kind == "array" and "maxItems" not in schema:
        paths.append(path)
    if kind in ("integer", "number") and not {"minimum", "maximum"} <= schema.keys():
        paths.append(path)
    if kind == "object" and schema.get("additionalProperties") is not False:
        paths.append(path)
    if kind == "array":
        paths += find_unbounded(schema.get("items", {}), f"{path}[]")
    for name, part in schema.get("properties", {}).items():
        paths += find_unbounded(part, f"{path}.{name}")
    return paths if kind else [*paths, path]


def append_schema(messages: Sequence[Message], answer_type: type[BaseModel]) -> list[Message]:
    """Return the messages with the schema as an instruction at the end, for servers that accept no schema."""
    schema = json.dumps(build_wire_schema(answer_type), ensure_ascii=False, separators=(",", ":"))
    instruction = f"Answer with one JSON object and nothing else. It has this JSON schema: {schema}"
    return [*messages[:-1], replace(messages[-1], content=f"{messages[-1].content}\n\n{instruction}")]


def parse_reply(text: str, answer_type: type[T]) -> T | None:
    """Return the value in a reply, also if the model wraps it in a code fence, reasoning or a sentence; None if there
    is none."""
    for candidate in _json_candidates(text):
        try:
            return answer_type.model_validate_json(candidate)
        except ValidationError:
            continue
    return None


def _json_candidates(text: str) -> Iterator[str]:
    """Yield the parts of a reply that may be the JSON object."""
    reply = text.rpartition(_THINKING_END)[2].strip()
    yield reply
    yield from (block.strip() for block in _FENCE.findall(reply))
    start, end = reply.find("{"), reply.rfind("}")
    if 0 <= start < end:
        yield reply[start : end + 1]


def _make_strict(schema: Schema, shared: Mapping[str, Schema]) -> Schema:
    if "$ref" in schema:
        return _make_strict(shared[schema["$ref"].rpartition("/")[2]], shared)
    strict = {name: value for name, value in schema.items() if name not in _DROPPED and name != "$defs"}
    if "items" in strict:
        strict["items"] = _make_strict(strict["items"], shared)
    if "properties" in strict:
        strict["properties"] = {name: _make_strict(part, shared) for name, part in strict["properties"].items()}
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict
