"""What a chat server said, whatever wire it came over; and the two turns in which it may say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from lamina.models.chat import Reply, T
from lamina.models.chat_schema import parsed
from lamina.models.courier import brief
from lamina.models.errors import ModelError
from lamina.telemetry import TOKENS_IN, TOKENS_OUT, model_call


class Ending(StrEnum):
    """How a reply ended."""

    WHOLE = "whole"
    CUT = "cut"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class Spoken:
    """One reply; `in_words`: its shape was asked for in words, because the server takes no schema or ignored it."""

    text: str
    ending: Ending
    tokens_in: int
    tokens_out: int
    in_words: bool


def reply(speak: Callable[[bool], Spoken], schema: type[T], model: str, most_tokens: int) -> Reply[T]:
    """The value a model gives, asked with a schema and, if that gives something else, once more in words."""
    with model_call("chat", model) as learnt:
        given = _given(speak, schema, model, most_tokens)
        learnt.update({TOKENS_IN: given.tokens_in, TOKENS_OUT: given.tokens_out})
    return given


def _given(speak: Callable[[bool], Spoken], schema: type[T], model: str, most_tokens: int) -> Reply[T]:
    tokens_in = tokens_out = calls = 0
    in_words = False
    while True:
        said = speak(in_words)
        tokens_in, tokens_out, calls = tokens_in + said.tokens_in, tokens_out + said.tokens_out, calls + 1
        if said.ending is Ending.DECLINED:
            raise ModelError(f"{model} declines to answer: {brief(said.text)}")
        if said.ending is Ending.CUT:
            raise ModelError(f"{model} was cut off at {most_tokens} tokens; nothing of it is used")
        value = parsed(said.text, schema)
        if value is not None:
            return Reply(value, tokens_in, tokens_out, calls, not said.in_words)
        if said.in_words:
            raise ModelError(f"{model} answered something else than what was asked for: {brief(said.text)}")
        in_words = True
