"""Shapes of answers: bounded, strict, and read leniently."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

import lamina
from lamina.capture.llm.prompts import ModelStatements, PairAnswers
from lamina.dream.bridge_step import Insight
from lamina.dream.page_summary import Condensed, ShortCard
from lamina.dream.probe_step import Doubts
from lamina.dream.synthesis_step import Summary
from lamina.models.chat import system_message, user_message
from lamina.models.chat_schema import append_schema, build_wire_schema, describe_bounds, find_unbounded, parse_reply
from lamina.models.reranker import Picks
from lamina.recall.cited_answer import AnswerGiven

ANSWER_SCHEMAS: tuple[type[BaseModel], ...] = (
    AnswerGiven,
    Condensed,
    Doubts,
    Insight,
    ModelStatements,
    PairAnswers,
    Picks,
    ShortCard,
    Summary,
)


class Inner(BaseModel):
    name: str = Field(max_length=9)


class Shape(BaseModel):
    """A shape with something of everything."""

    word: Literal["a", "b"]
    inners: list[Inner] = Field(max_length=3)
    names: list[Annotated[str, Field(max_length=5)]] = Field(max_length=2)
    n: int = Field(ge=0, le=9)


@pytest.mark.parametrize("shape", ANSWER_SCHEMAS)
def test_every_requested_schema_is_bounded(shape: type[BaseModel]) -> None:
    assert find_unbounded(build_wire_schema(shape)) == []


def test_every_schema_is_covered_here() -> None:
    """Whatever is given to `Chat.ask` anywhere in the package stands in the list above."""
    result: set[str] = set()
    for file in Path(lamina.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "ask":
                shapes = (arg for arg in node.args[1:2] if isinstance(arg, ast.Name))
                result |= {item.id for item in shapes if item.id[0].isupper() and not item.id.isupper()}
    assert result == {shape.__name__ for shape in ANSWER_SCHEMAS}


class NoEnd(BaseModel):
    words: list[str]
    n: int
    text: str
    either: str | int = Field(max_length=3)


def test_unbounded_schemas_are_detected() -> None:
    assert find_unbounded(build_wire_schema(NoEnd)) == ["$.words", "$.words[]", "$.n", "$.text", "$.either"]
    assert find_unbounded({"type": "object", "properties": {}}) == ["$"]


def test_a_schema_is_strict_and_self_contained() -> None:
    schema = build_wire_schema(Shape)
    assert schema["required"] == ["word", "inners", "names", "n"]
    assert schema["additionalProperties"] is schema["properties"]["inners"]["items"]["additionalProperties"] is False
    text = json.dumps(schema)
    assert not any(word in text for word in ("$ref", "$defs", "title", "default", "description"))


def test_bounds_can_be_described_in_words() -> None:
    schema = describe_bounds(build_wire_schema(Shape))
    text = json.dumps(schema)
    assert not any(word in text for word in ("maxLength", "maxItems", "maximum", "minimum"))
    assert schema["properties"]["names"]["description"] == "at most 2 items"
    assert schema["properties"]["names"]["items"]["description"] == "at most 5 characters"
    assert schema["properties"]["n"]["description"] == "not below 0, not above 9"
    assert schema["required"] == build_wire_schema(Shape)["required"]


GOOD = '{"name": "Ann"}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here you are:\n```\n{GOOD}\n```\nAnything else?",
        f"Sure! {GOOD} Done.",
        f"<think>it could be {{this}} or that</think>\n{GOOD}",
        f"```json\n{{broken\n```\nsorry:\n```json\n{GOOD}\n```",
    ],
)
def test_a_wrapped_value_is_found(text: str) -> None:
    assert parse_reply(text, Inner) == Inner(name="Ann")


@pytest.mark.parametrize(
    "text", ["", "Ann", "{}", '{"name": 3}', '{"name": "far too long for it"}', '{"name": "An', "[" * 100_000, "null"]
)
def test_a_value_that_does_not_fit_the_schema_is_none(text: str) -> None:
    assert parse_reply(text, Inner) is None


@given(st.text(max_size=300) | st.text(alphabet='{}[]"`\\:,a \n', max_size=80))
def test_no_text_breaks_the_parser(text: str) -> None:
    assert parse_reply(text, Inner) is None or isinstance(parse_reply(text, Inner), Inner)


def test_the_schema_in_words_is_at_the_end_of_the_prompt() -> None:
    messages = append_schema([system_message("rules"), user_message("question")], Inner)
    assert [message.role for message in messages] == ["system", "user"]
    assert messages[1].content.startswith("question\n\nAnswer with one JSON object")
    assert '"maxLength":9' in messages[1].content
