"""Servers with Anthropic's messages API. It takes no temperature, and bounds of a schema only as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from lamina.models.chat import Message, Role, UsageMeter
from lamina.models.chat_schema import append_schema, build_wire_schema, describe_bounds
from lamina.models.chat_services import clean_address
from lamina.models.retry_and_circuit_breaker import CallTiming
from lamina.models.vendor_chat import (
    ChatResponse,
    RequestRejected,
    ResponseBody,
    ResponseEnd,
    VendorChat,
    estimate_tokens,
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


class _MessageBody(ResponseBody):
    noun: ClassVar[str] = "message"
    content: list[_ContentBlock]
    stop_reason: str | None = None
    usage: _MessageUsage | None = None

    def to_response(self, request: Mapping[str, Any]) -> ChatResponse:
        text = "".join(block.text for block in self.content if block.type == "text")
        prompt_tokens = sum(estimate_tokens(message["content"]) for message in request["messages"])
        usage = self.usage or _MessageUsage(input_tokens=prompt_tokens, output_tokens=estimate_tokens(text))
        ending = _RESPONSE_ENDS.get(self.stop_reason or "", ResponseEnd.WHOLE)
        return ChatResponse(text, ending, usage.total_input_tokens, usage.output_tokens, "output_config" not in request)


class AnthropicChat(VendorChat):
    """A chat model at `base_url`, which ends before `/v1/messages`, as in Anthropic's own library."""

    library, client_class, extra = "anthropic", "Anthropic", "anthropic"

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
        super().__init__("anthropic", name, address, api_key, timing, meter)
        self._takes_schemas = True

    def _client_options(self) -> dict[str, Any]:
        return {**super()._client_options(), "open_telemetry": False}

    def _request_response(
        self, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool
    ) -> ChatResponse:
        in_words = in_words or not self._takes_schemas
        request = _build_request(self._name, messages, schema, most_tokens, in_words)
        try:
            return self._send(request, lambda client: client.messages.with_raw_response.create(**request), _MessageBody)
        except RequestRejected as error:
            if in_words or not _SCHEMA_PROBLEM.search(error.response):
                raise self.rejection_error(error) from error
        self._takes_schemas = False
        return self._request_response(messages, schema, most_tokens, in_words=True)


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
