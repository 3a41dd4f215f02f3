"""Servers with Anthropic's messages API. It takes no temperature, and bounds of a schema only as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from lamina.models.chat import MOST_TOKENS, ChatReply, Message, NoUsageMeter, Role, T, UsageMeter
from lamina.models.chat_address import clean_address
from lamina.models.chat_response import ChatResponse, ResponseEnd, request_reply
from lamina.models.chat_schema import append_schema, build_wire_schema, describe_bounds
from lamina.models.errors import ModelError
from lamina.models.retry import CallTiming
from lamina.models.vendor_client import (
    RequestRejected,
    VendorClient,
    check_key,
    estimate_tokens,
    host_of,
    shorten_response,
)

ANTHROPIC = "https://api.anthropic.com"
_SCHEMA_PROBLEM = re.compile(r"output_config|output_format|json_schema|schema|structured", re.IGNORECASE)
_RESPONSE_ENDS = {"max_tokens": ResponseEnd.CUT, "refusal": ResponseEnd.DECLINED}


class _ContentBlock(BaseModel):
    type: str = ""
    text: str = ""


class _MessageUsage(BaseModel):
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cache_creation_input_tokens: int | None = Field(default=None, ge=0)
    cache_read_input_tokens: int | None = Field(default=None, ge=0)

    @property
    def total_input_tokens(self) -> int:
        """All input tokens, cached ones included."""
        return self.input_tokens + (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)


class _MessageBody(BaseModel):
    """The part of a message that is read."""

    content: list[_ContentBlock]
    stop_reason: str | None = None
    usage: _MessageUsage | None = None

    def to_response(self, request: Mapping[str, Any]) -> ChatResponse:
        """Return the reply, with an estimate of its tokens if the server reports none."""
        text = "".join(block.text for block in self.content if block.type == "text")
        prompt_tokens = sum(estimate_tokens(message["content"]) for message in request["messages"])
        usage = self.usage or _MessageUsage(input_tokens=prompt_tokens, output_tokens=estimate_tokens(text))
        ending = _RESPONSE_ENDS.get(self.stop_reason or "", ResponseEnd.WHOLE)
        return ChatResponse(text, ending, usage.total_input_tokens, usage.output_tokens, "output_config" not in request)


class AnthropicChat:
    """A chat model at `base_url`, which ends before `/v1/messages`, as in Anthropic's own library.

    If a server rejects the schema, or answers something else, it is asked once more with the schema as text.
    """

    def __init__(
        self,
        name: str,
        base_url: str = ANTHROPIC,
        api_key: str | None = None,
        *,
        timing: CallTiming | None = None,
        meter: UsageMeter | None = None,
    ) -> None:
        address = clean_address(base_url).removesuffix("/messages").removesuffix("/v1")
        host = host_of(address)
        self._name, self.address = name, address
        self._options = {"base_url": address, "api_key": check_key(api_key), "open_telemetry": False}
        self._client = VendorClient(
            "anthropic", "anthropic", f"anthropic:{name}@{host}", host, timing or CallTiming(), meter or NoUsageMeter()
        )
        self._takes_schemas = True

    @property
    def model(self) -> str:
        """The name of the model and its host."""
        return self._client.model

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, messages: Sequence[Message], schema: type[T], *, most_tokens: int = MOST_TOKENS) -> ChatReply[T]:
        """Return the model's answer as a value of `schema`, in at most `most_tokens` tokens. Raises ModelError if it
        fails."""
        return request_reply(
            lambda in_words: self._request_response(messages, schema, most_tokens, in_words),
            schema,
            self.model,
            most_tokens,
        )

    def _request_response(
        self, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool
    ) -> ChatResponse:
        in_words = in_words or not self._takes_schemas
        try:
            return self._send(_build_request(self._name, messages, schema, most_tokens, in_words))
        except RequestRejected as error:
            if in_words or not _SCHEMA_PROBLEM.search(error.response):
                raise self._client.rejection_error(error) from error
        self._takes_schemas = False
        return self._request_response(messages, schema, most_tokens, in_words=True)

    def _send(self, request: dict[str, Any]) -> ChatResponse:
        body = self._client.send(
            {"client": "Anthropic", **self._options}, lambda client: client.messages.with_raw_response.create(**request)
        )
        try:
            response = _MessageBody.model_validate_json(body).to_response(request)
        except ValidationError as error:
            excerpt = shorten_response(body.decode("utf-8", "replace"))
            raise ModelError(f"{self._client.host} did not answer with a message: {excerpt}") from error
        self._client.record_usage(response.tokens_in, response.tokens_out)
        return response


def _build_request(
    name: str, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool
) -> dict[str, Any]:
    prompt = append_schema(messages, schema) if in_words else messages
    sent = [message.to_wire() for message in prompt if message.role is not Role.SYSTEM]
    request: dict[str, Any] = {"model": name, "max_tokens": most_tokens, "messages": sent}
    rules = "\n\n".join(message.to_wire()["content"] for message in prompt if message.role is Role.SYSTEM)
    if rules:
        request["system"] = rules
    if not in_words:
        shape = describe_bounds(build_wire_schema(schema))
        request["output_config"] = {"format": {"type": "json_schema", "schema": shape}}
    return request
