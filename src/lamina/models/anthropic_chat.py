"""Servers that speak Anthropic's messages. They take no temperature, and the bounds of a shape only in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from lamina.models.chat import MOST_TOKENS, Message, Meter, NoMeter, Reply, Role, T
from lamina.models.chat_address import cleaned_address
from lamina.models.chat_schema import told_in_words, wire_schema, without_bounds
from lamina.models.courier import Courier, NotTaken, brief, guessed_tokens, host_of, usable_key
from lamina.models.errors import ModelError
from lamina.models.patience import Timing
from lamina.models.spoken import Ending, Spoken, reply

ANTHROPIC = "https://api.anthropic.com"
_SHAPE = re.compile(r"output_config|output_format|json_schema|schema|structured", re.IGNORECASE)
_ENDINGS = {"max_tokens": Ending.CUT, "refusal": Ending.DECLINED}


class _Block(BaseModel):
    type: str = ""
    text: str = ""


class _Tokens(BaseModel):
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cache_creation_input_tokens: int | None = Field(default=None, ge=0)
    cache_read_input_tokens: int | None = Field(default=None, ge=0)

    @property
    def read(self) -> int:
        return self.input_tokens + (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)


class _Answer(BaseModel):
    """The part of a message that is read."""

    content: list[_Block]
    stop_reason: str | None = None
    usage: _Tokens | None = None

    def spoken(self, request: Mapping[str, Any]) -> Spoken:
        """What was said aloud, with a guess at its tokens where the server tells none."""
        text = "".join(each.text for each in self.content if each.type == "text")
        asked = sum(guessed_tokens(each["content"]) for each in request["messages"])
        used = self.usage or _Tokens(input_tokens=asked, output_tokens=guessed_tokens(text))
        ending = _ENDINGS.get(self.stop_reason or "", Ending.WHOLE)
        return Spoken(text, ending, used.read, used.output_tokens, "output_config" not in request)


class AnthropicChat:
    """A chat model behind `base_url`, which ends before `/v1/messages`, as in Anthropic's own library.

    A server that will not take the schema, or that answers something else, is asked once more in words.
    """

    def __init__(
        self,
        name: str,
        base_url: str = ANTHROPIC,
        api_key: str | None = None,
        *,
        timing: Timing | None = None,
        meter: Meter | None = None,
    ) -> None:
        address = cleaned_address(base_url).removesuffix("/messages").removesuffix("/v1")
        host = host_of(address)
        self._name, self.address = name, address
        self._options = {"base_url": address, "api_key": usable_key(api_key), "open_telemetry": False}
        self._courier = Courier(
            "anthropic", "anthropic", f"anthropic:{name}@{host}", host, timing or Timing(), meter or NoMeter()
        )
        self._takes_schemas = True

    @property
    def model(self) -> str:
        return self._courier.model

    def close(self) -> None:
        self._courier.close()

    def ask(self, messages: Sequence[Message], schema: type[T], *, most_tokens: int = MOST_TOKENS) -> Reply[T]:
        """What the model answers, as a value of `schema`, in at most so many tokens."""
        return reply(
            lambda in_words: self._spoken(messages, schema, most_tokens, in_words), schema, self.model, most_tokens
        )

    def _spoken(self, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool) -> Spoken:
        in_words = in_words or not self._takes_schemas
        try:
            return self._answer(_request(self._name, messages, schema, most_tokens, in_words))
        except NotTaken as error:
            if in_words or not _SHAPE.search(error.told):
                raise self._courier.refused(error) from error
        self._takes_schemas = False
        return self._spoken(messages, schema, most_tokens, in_words=True)

    def _answer(self, request: dict[str, Any]) -> Spoken:
        body = self._courier.send(
            {"client": "Anthropic", **self._options}, lambda client: client.messages.with_raw_response.create(**request)
        )
        try:
            said = _Answer.model_validate_json(body).spoken(request)
        except ValidationError as error:
            told = brief(body.decode("utf-8", "replace"))
            raise ModelError(f"{self._courier.host} answered something else than a message: {told}") from error
        self._courier.spent(said.tokens_in, said.tokens_out)
        return said


def _request(
    name: str, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool
) -> dict[str, Any]:
    told = told_in_words(messages, schema) if in_words else messages
    spoken = [each.sent() for each in told if each.role is not Role.SYSTEM]
    request: dict[str, Any] = {"model": name, "max_tokens": most_tokens, "messages": spoken}
    rules = "\n\n".join(each.sent()["content"] for each in told if each.role is Role.SYSTEM)
    if rules:
        request["system"] = rules
    if not in_words:
        shape = without_bounds(wire_schema(schema))
        request["output_config"] = {"format": {"type": "json_schema", "schema": shape}}
    return request
