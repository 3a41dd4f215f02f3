"""The shape of an answer as servers want it, and the answer as they give it: parsed once, here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from lamina.models.chat import Message, T

_DROPPED = frozenset({"title", "default", "description"})
_BOUNDS: Mapping[str, str] = {
    "maxLength": "at most {} characters",
    "minLength": "at least {} characters",
    "maxItems": "at most {} items",
    "minItems": "at least {} items",
    "minimum": "not below {}",
    "maximum": "not above {}",
}
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_THOUGHT = "</think>"

Schema = dict[str, Any]


def wire_schema(shape: type[BaseModel]) -> Schema:
    """A model's JSON schema as strict servers accept it: no references, every field required, no others allowed."""
    whole = shape.model_json_schema()
    return _strict(whole, whole.get("$defs", {}))


def without_bounds(schema: Schema) -> Schema:
    """The same shape with its bounds told in words, for servers that know no such keywords."""
    told = [words.format(schema[name]) for name, words in _BOUNDS.items() if name in schema]
    loose = {name: value for name, value in schema.items() if name not in _BOUNDS}
    if "items" in loose:
        loose["items"] = without_bounds(loose["items"])
    if "properties" in loose:
        loose["properties"] = {name: without_bounds(each) for name, each in loose["properties"].items()}
    return {**loose, "description": ", ".join(told)} if told else loose


def unbounded(schema: Schema, path: str = "$") -> list[str]:
    """Every string, list and number of a schema that has no end: a small model would never stop writing one."""
    kind, found = schema.get("type"), []
    if kind == "string" and not {"maxLength", "enum", "const"} & schema.keys():
        found.append(path)
    if kind == "array" and "maxItems" not in schema:
        found.append(path)
    if kind in ("integer", "number") and not {"minimum", "maximum"} <= schema.keys():
        found.append(path)
    if kind == "object" and schema.get("additionalProperties") is not False:
        found.append(path)
    if kind == "array":
        found += unbounded(schema.get("items", {}), f"{path}[]")
    for name, each in schema.get("properties", {}).items():
        found += unbounded(each, f"{path}.{name}")
    return found if kind else [*found, path]


def told_in_words(messages: Sequence[Message], shape: type[BaseModel]) -> list[Message]:
    """The messages with the shape as an instruction at their end, for servers that take no schema."""
    schema = json.dumps(wire_schema(shape), ensure_ascii=False, separators=(",", ":"))
    asked = f"Answer with one JSON object and nothing else. It has this JSON schema: {schema}"
    return [*messages[:-1], replace(messages[-1], content=f"{messages[-1].content}\n\n{asked}")]


def parsed(text: str, shape: type[T]) -> T | None:
    """The value in a reply, also where the model wraps it in a code fence, a thought or a sentence; None without."""
    for candidate in _candidates(text):
        try:
            return shape.model_validate_json(candidate)
        except ValidationError:
            continue
    return None


def _candidates(text: str) -> Iterator[str]:
    said = text.rpartition(_THOUGHT)[2].strip()
    yield said
    yield from (found.strip() for found in _FENCE.findall(said))
    start, end = said.find("{"), said.rfind("}")
    if 0 <= start < end:
        yield said[start : end + 1]


def _strict(schema: Schema, shared: Mapping[str, Schema]) -> Schema:
    if "$ref" in schema:
        return _strict(shared[schema["$ref"].rpartition("/")[2]], shared)
    plain = {name: value for name, value in schema.items() if name not in _DROPPED and name != "$defs"}
    if "items" in plain:
        plain["items"] = _strict(plain["items"], shared)
    if "properties" in plain:
        plain["properties"] = {name: _strict(each, shared) for name, each in plain["properties"].items()}
        plain |= {"required": list(plain["properties"]), "additionalProperties": False}
    return plain
