"""Servers with OpenAI's chat completions API: OpenAI, Ollama, llama.cpp, vLLM, LM Studio, OpenRouter."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from lamina.models.chat import MOST_TOKENS, Message, Meter, NoMeter, Reply, T
from lamina.models.chat_address import SERVICES, cleaned_address, other_address, shown_address
from lamina.models.chat_schema import told_in_words, wire_schema, without_bounds
from lamina.models.courier import NOT_THERE, Courier, NotTaken, brief, guessed_tokens, host_of, usable_key
from lamina.models.errors import ModelError
from lamina.models.patience import Timing
from lamina.models.spoken import Ending, Spoken, reply

logger = logging.getLogger("lamina")

SEED = 7
_REFUSES = re.compile(
    r"unsupported|not support|not permitted|not allowed|unknown|unrecogni|instead|invalid schema|unexpected|failed to",
    re.IGNORECASE,
)
_FORMAT = re.compile(r"response_format|json_schema|schema|grammar|structured", re.IGNORECASE)
_BOUND = re.compile(r"maxLength|minLength|maxItems|minItems|maximum|minimum")


class _Said(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class _Completion(BaseModel):
    """The part of a completion that is read."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Tokens | None = None

    def spoken(self, request: Mapping[str, Any]) -> Spoken:
        """Return the reply, with an estimate of its tokens if the server reports none."""
        choice = self.choices[0]
        text = choice.message.refusal or choice.message.content or ""
        prompt_tokens = sum(guessed_tokens(message["content"]) for message in request["messages"])
        usage = self.usage or _Tokens(prompt_tokens=prompt_tokens, completion_tokens=guessed_tokens(text))
        declined = choice.message.refusal or choice.finish_reason == "content_filter"
        normal_end = Ending.CUT if choice.finish_reason == "length" else Ending.WHOLE
        ending = Ending.DECLINED if declined else normal_end
        return Spoken(text, ending, usage.prompt_tokens, usage.completion_tokens, "response_format" not in request)


class _NoCompletion(ModelError):
    """A server's answer is not a completion."""


class OpenAIChat:
    """A chat model at `base_url`, which ends before `/chat/completions`, as in OpenAI's own library.

    If a server does not know the path and the address has no version, the address with /v1 is tried. The schema of the
    answer is sent with the question. If a server rejects the schema, or answers something else, it is asked once more
    with the schema as text. Parameters that a server rejected (a bound, a temperature) are not sent again.
    """

    def __init__(
        self,
        name: str,
        base_url: str = SERVICES["openai"].address,
        api_key: str | None = None,
        *,
        timing: Timing | None = None,
        meter: Meter | None = None,
        service: str = "openai",
    ) -> None:
        self._name, self._address, self._api_key = name, cleaned_address(base_url), usable_key(api_key)
        self._given_address = self._called = self._address
        host = host_of(self._address)
        self._courier = Courier(
            "openai", "llm", f"{service}:{name}@{host}", host, timing or Timing(), meter or NoMeter()
        )
        self._without: frozenset[str] = frozenset()

    @property
    def model(self) -> str:
        """The name of the model and its host."""
        return self._courier.model

    @property
    def address(self) -> str:
        """The address that is called; with /v1 if only that answers."""
        return self._address

    def close(self) -> None:
        """Close the connections."""
        self._courier.close()

    def ask(self, messages: Sequence[Message], schema: type[T], *, most_tokens: int = MOST_TOKENS) -> Reply[T]:
        """Return the model's answer as a value of `schema`, in at most `most_tokens` tokens. Raises ModelError if it
        fails."""
        return reply(
            lambda in_words: self._spoken(messages, schema, most_tokens, in_words), schema, self.model, most_tokens
        )

    def _spoken(self, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool) -> Spoken:
        while True:
            request = self._request(messages, schema, most_tokens, in_words or "response_format" in self._without)
            try:
                return self._completion(request)
            except _NoCompletion as error:
                if not self._switches_address():
                    raise ModelError(f"{error}; {self._hint()}") from error
            except NotTaken as error:
                refused = _refused(error.told, request, self._without)
                if refused is not None:
                    self._without |= {refused}
                elif error.code not in NOT_THERE:
                    raise self._courier.refused(error) from error
                elif not self._switches_address():
                    raise ModelError(f"{self._courier.refused(error)}; {self._hint()}") from error

    def _switches_address(self) -> bool:
        """Switch to the address with a version; return False, and go back to the configured one, if it has a version
        already."""
        self._courier.close()
        self._called, versioned = self._address, other_address(self._address)
        if versioned is None:
            self._address = self._given_address
            return False
        logger.warning("no chat at %s; trying %s", shown_address(self._address), shown_address(versioned))
        self._address = versioned
        return True

    def _hint(self) -> str:
        return f"chat_url is what comes before /chat/completions; the address called was {shown_address(self._called)}"

    def _completion(self, request: dict[str, Any]) -> Spoken:
        body = self._courier.send(
            {"client": "OpenAI", "base_url": self._address, "api_key": self._api_key},
            lambda client: client.chat.completions.with_raw_response.create(**request),
        )
        try:
            response = _Completion.model_validate_json(body).spoken(request)
        except ValidationError as error:
            excerpt = brief(body.decode("utf-8", "replace"))
            raise _NoCompletion(f"{self._courier.host} did not answer with a completion: {excerpt}") from error
        self._courier.spent(response.tokens_in, response.tokens_out)
        return response

    def _request(
        self, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool
    ) -> dict[str, Any]:
        prompt = told_in_words(messages, schema) if in_words else messages
        limit = "max_completion_tokens" if "max_tokens" in self._without else "max_tokens"
        request: dict[str, Any] = {
            "model": self._name,
            "messages": [message.sent() for message in prompt],
            limit: most_tokens,
            "temperature": 0,
            "seed": SEED,
        }
        if not in_words:
            shape = wire_schema(schema)
            shape = without_bounds(shape) if "bounds" in self._without else shape
            schema_format = {"name": schema.__name__, "strict": True, "schema": shape}
            request["response_format"] = {"type": "json_schema", "json_schema": schema_format}
        return {name: value for name, value in request.items() if name not in self._without}


def _refused(told: str, request: dict[str, Any], already: frozenset[str]) -> str | None:
    """Return the part of a request that a server rejects, if it can be left out; else None."""
    if not _REFUSES.search(told):
        return None
    for name in ("max_tokens", "temperature", "seed"):
        if name in told and name in request:
            return name
    if "response_format" not in request or not _FORMAT.search(told):
        return None
    return "bounds" if _BOUND.search(told) and "bounds" not in already else "response_format"
