"""Any server that speaks OpenAI's chat completions: OpenAI, Ollama, llama.cpp, vLLM, LM Studio, OpenRouter."""

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
        """What was said, with a guess at its tokens where the server tells none."""
        choice = self.choices[0]
        text = choice.message.refusal or choice.message.content or ""
        asked = sum(guessed_tokens(each["content"]) for each in request["messages"])
        used = self.usage or _Tokens(prompt_tokens=asked, completion_tokens=guessed_tokens(text))
        declined = choice.message.refusal or choice.finish_reason == "content_filter"
        cut = Ending.CUT if choice.finish_reason == "length" else Ending.WHOLE
        ending = Ending.DECLINED if declined else cut
        return Spoken(text, ending, used.prompt_tokens, used.completion_tokens, "response_format" not in request)


class _NoCompletion(ModelError):
    """A server answered something else than a completion."""


class OpenAIChat:
    """A chat model behind `base_url`, which ends before `/chat/completions`, as in OpenAI's own library.

    Where a server does not know the path and the address has no version, it is asked once more with /v1. The answer's
    schema goes along with the question. A server that will not take the schema, or that answers something else, is
    asked once more in words. What a server once refused (a bound, a temperature) it is not sent again.
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
        return self._courier.model

    @property
    def address(self) -> str:
        """The address that is called; with /v1 where the given one did without and only that answers."""
        return self._address

    def close(self) -> None:
        self._courier.close()

    def ask(self, messages: Sequence[Message], schema: type[T], *, most_tokens: int = MOST_TOKENS) -> Reply[T]:
        """What the model answers, as a value of `schema`, in at most so many tokens."""
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
        """Switch to the address with a version; False where this one has one, and the given one counts again."""
        self._courier.close()
        self._called, other = self._address, other_address(self._address)
        if other is None:
            self._address = self._given_address
            return False
        logger.warning("no chat at %s; trying %s", shown_address(self._address), shown_address(other))
        self._address = other
        return True

    def _hint(self) -> str:
        return f"chat_url is what stands before /chat/completions; called was {shown_address(self._called)}"

    def _completion(self, request: dict[str, Any]) -> Spoken:
        body = self._courier.send(
            {"client": "OpenAI", "base_url": self._address, "api_key": self._api_key},
            lambda client: client.chat.completions.with_raw_response.create(**request),
        )
        try:
            said = _Completion.model_validate_json(body).spoken(request)
        except ValidationError as error:
            told = brief(body.decode("utf-8", "replace"))
            raise _NoCompletion(f"{self._courier.host} answered something else than a completion: {told}") from error
        self._courier.spent(said.tokens_in, said.tokens_out)
        return said

    def _request(
        self, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool
    ) -> dict[str, Any]:
        told = told_in_words(messages, schema) if in_words else messages
        limit = "max_completion_tokens" if "max_tokens" in self._without else "max_tokens"
        request: dict[str, Any] = {
            "model": self._name,
            "messages": [each.sent() for each in told],
            limit: most_tokens,
            "temperature": 0,
            "seed": SEED,
        }
        if not in_words:
            shape = wire_schema(schema)
            shape = without_bounds(shape) if "bounds" in self._without else shape
            named = {"name": schema.__name__, "strict": True, "schema": shape}
            request["response_format"] = {"type": "json_schema", "json_schema": named}
        return {name: value for name, value in request.items() if name not in self._without}


def _refused(told: str, request: dict[str, Any], already: frozenset[str]) -> str | None:
    """The part of a request that a server will not have, if it is one we can do without."""
    if not _REFUSES.search(told):
        return None
    for name in ("max_tokens", "temperature", "seed"):
        if name in told and name in request:
            return name
    if "response_format" not in request or not _FORMAT.search(told):
        return None
    return "bounds" if _BOUND.search(told) and "bounds" not in already else "response_format"
