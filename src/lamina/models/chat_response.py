"""A chat server's response, whatever API it came from, and the second attempt if it cannot be parsed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from lamina.models.chat import ChatReply, T
from lamina.models.chat_schema import parse_reply
from lamina.models.errors import ModelError
from lamina.models.vendor_client import shorten_response
from lamina.telemetry import TOKENS_IN, TOKENS_OUT, trace_model_call


class ResponseEnd(StrEnum):
    """How a response ended."""

    WHOLE = "whole"
    CUT = "cut"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class ChatResponse:
    """One response; `in_words`: the schema was sent as text, because the server rejects or ignores JSON schemas."""

    text: str
    ending: ResponseEnd
    tokens_in: int
    tokens_out: int
    in_words: bool


def request_reply(send: Callable[[bool], ChatResponse], schema: type[T], model: str, most_tokens: int) -> ChatReply[T]:
    """Return the value that a model answers, asked with a schema and, if the answer cannot be parsed, once more with
    the schema as text. Raises ModelError if that fails."""
    with trace_model_call("chat", model) as attributes:
        chat_reply = _request_until_parsed(send, schema, model, most_tokens)
        attributes.update({TOKENS_IN: chat_reply.tokens_in, TOKENS_OUT: chat_reply.tokens_out})
    return chat_reply


def _request_until_parsed(
    send: Callable[[bool], ChatResponse], schema: type[T], model: str, most_tokens: int
) -> ChatReply[T]:
    tokens_in = tokens_out = calls = 0
    in_words = False
    while True:
        response = send(in_words)
        tokens_in, tokens_out, calls = tokens_in + response.tokens_in, tokens_out + response.tokens_out, calls + 1
        if response.ending is ResponseEnd.DECLINED:
            raise ModelError(f"{model} declines to answer: {shorten_response(response.text)}")
        if response.ending is ResponseEnd.CUT:
            raise ModelError(f"{model} was cut off at {most_tokens} tokens, so its answer is not used")
        value = parse_reply(response.text, schema)
        if value is not None:
            return ChatReply(value, tokens_in, tokens_out, calls, not response.in_words)
        if response.in_words:
            raise ModelError(f"{model} did not answer in the requested format: {shorten_response(response.text)}")
        in_words = True
