"""Servers with OpenAI's chat completions API: OpenAI, Ollama, llama.cpp, vLLM, LM Studio, OpenRouter."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from lamina.models.chat import Message, UsageMeter
from lamina.models.chat_schema import append_schema, build_wire_schema, describe_bounds
from lamina.models.chat_services import SERVICES, add_version, clean_address, redact_address
from lamina.models.errors import ModelError
from lamina.models.retry_and_circuit_breaker import CallTiming
from lamina.models.vendor_chat import (
    NOT_FOUND_STATUSES,
    ChatResponse,
    RequestRejected,
    ResponseBody,
    ResponseEnd,
    UnexpectedBody,
    VendorChat,
    estimate_tokens,
)

logger = logging.getLogger("lamina")

SEED = 7
_REFUSAL = re.compile(
    r"unsupported|not support|not permitted|not allowed|unknown|unrecogni|instead|invalid schema|unexpected|failed to",
    re.IGNORECASE,
)
_FORMAT_PROBLEM = re.compile(r"response_format|json_schema|schema|grammar|structured", re.IGNORECASE)
_BOUND_KEYWORD = re.compile(r"maxLength|minLength|maxItems|minItems|maximum|minimum")


class _CompletionMessage(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _CompletionChoice(BaseModel):
    message: _CompletionMessage
    finish_reason: str | None = None


class _CompletionUsage(BaseModel):
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class _Completion(ResponseBody):
    noun: ClassVar[str] = "completion"
    choices: list[_CompletionChoice] = Field(min_length=1)
    usage: _CompletionUsage | None = None

    def to_response(self, request: Mapping[str, Any]) -> ChatResponse:
        choice = self.choices[0]
        text = choice.message.refusal or choice.message.content or ""
        prompt_tokens = sum(estimate_tokens(message["content"]) for message in request["messages"])
        usage = self.usage or _CompletionUsage(prompt_tokens=prompt_tokens, completion_tokens=estimate_tokens(text))
        declined = choice.message.refusal or choice.finish_reason == "content_filter"
        normal_end = ResponseEnd.CUT if choice.finish_reason == "length" else ResponseEnd.WHOLE
        ending = ResponseEnd.DECLINED if declined else normal_end
        return ChatResponse(
            text, ending, usage.prompt_tokens, usage.completion_tokens, "response_format" not in request
        )


class OpenAIChat(VendorChat):
    """A chat model at `base_url`, which ends before `/chat/completions`, as in OpenAI's own library.

    If a server does not know the path and the address has no version, the address with /v1 is tried; `address` is the
    one that is called. Parameters that a server rejected (a bound, a temperature) are not sent again.
    """

    library, client_class, extra = "openai", "OpenAI", "llm"

    def __init__(
        self,
        name: str,
        base_url: str = SERVICES["openai"].address,
        api_key: str | None = None,
        *,
        timing: CallTiming | None = None,
        meter: UsageMeter | None = None,
        service: str = "openai",
    ) -> None:
        super().__init__(service, name, clean_address(base_url), api_key, timing, meter)
        self._given_address = self._called_address = self.address
        self._refused_parts: frozenset[str] = frozenset()

    def _request_response(
        self, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool
    ) -> ChatResponse:
        while True:
            request = self._build_request(
                messages, schema, most_tokens, in_words or "response_format" in self._refused_parts
            )
            try:
                return self._create(request)
            except UnexpectedBody as error:
                if not self._switch_address():
                    raise ModelError(f"{error}; {self._hint()}") from error
            except RequestRejected as error:
                refused = _find_refused_part(error.response, request, self._refused_parts)
                if refused is not None:
                    self._refused_parts |= {refused}
                elif error.code not in NOT_FOUND_STATUSES:
                    raise self.rejection_error(error) from error
                elif not self._switch_address():
                    raise ModelError(f"{self.rejection_error(error)}; {self._hint()}") from error

    def _switch_address(self) -> bool:
        """Switch to the address with a version; return False, and go back to the configured one, if it has a version
        already."""
        self.close()
        self._called_address, versioned = self.address, add_version(self.address)
        if versioned is None:
            self.address = self._given_address
            return False
        logger.warning("no chat at %s; trying %s", redact_address(self.address), redact_address(versioned))
        self.address = versioned
        return True

    def _hint(self) -> str:
        address = redact_address(self._called_address)
        return f"chat_url is what comes before /chat/completions; the address called was {address}"

    def _create(self, request: dict[str, Any]) -> ChatResponse:
        return self._send(
            request, lambda client: client.chat.completions.with_raw_response.create(**request), _Completion
        )

    def _build_request(
        self, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool
    ) -> dict[str, Any]:
        prompt = append_schema(messages, schema) if in_words else messages
        limit = "max_completion_tokens" if "max_tokens" in self._refused_parts else "max_tokens"
        request: dict[str, Any] = {
            "model": self._name,
            "messages": [message.to_wire() for message in prompt],
            limit: most_tokens,
            "temperature": 0,
            "seed": SEED,
        }
        if not in_words:
            shape = build_wire_schema(schema)
            shape = describe_bounds(shape) if "bounds" in self._refused_parts else shape
            schema_format = {"name": schema.__name__, "strict": True, "schema": shape}
            request["response_format"] = {"type": "json_schema", "json_schema": schema_format}
        return {name: value for name, value in request.items() if name not in self._refused_parts}


def _find_refused_part(response: str, request: dict[str, Any], already: frozenset[str]) -> str | None:
    """Return the part of a request that a server rejects, if it can be left out; else None."""
    if not _REFUSAL.search(response):
        return None
    for name in ("max_tokens", "temperature", "seed"):
        if name in response and name in request:
            return name
    if "response_format" not in request or not _FORMAT_PROBLEM.search(response):
        return None
    return "bounds" if _BOUND_KEYWORD.search(response) and "bounds" not in already else "response_format"
