"""Servers with Anthropic's messages API. It takes no temperature, and bounds of a schema only as text."""

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
        """All input tokens, cached ones included."""
        return self.input_tokens + (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)


class _Answer(BaseModel):
    """The part of a message that is read."""

    content: list[_Block]
    stop_reason: str | None = None
    usage: _Tokens | None = None

    def spoken(self, request: Mapping[str, Any]) -> Spoken:
        """Return the reply, with an estimate of its tokens if the server reports none."""
        text = "".join(block.text for block in self.content if block.type == "text")
        prompt_tokens = sum(guessed_tokens(message["content"]) for message in request["messages"])
        usage = self.usage or _Tokens(input_tokens=prompt_tokens, output_tokens=guessed_tokens(text))
        ending = _ENDINGS.get(self.stop_reason or "", Ending.WHOLE)
        return Spoken(text, ending, usage.read, usage.output_tokens, "output_config" not in request)


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
        """The name of the model and its host."""
        return self._courier.model

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
            response = _Answer.model_validate_json(body).spoken(request)
        except ValidationError as error:
            excerpt = brief(body.decode("utf-8", "replace"))
            raise ModelError(f"{self._courier.host} did not answer with a message: {excerpt}") from error
        self._courier.spent(response.tokens_in, response.tokens_out)
        return response


def _request(
    name: str, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool
) -> dict[str, Any]:
    prompt = told_in_words(messages, schema) if in_words else messages
    sent = [message.sent() for message in prompt if message.role is not Role.SYSTEM]
    request: dict[str, Any] = {"model": name, "max_tokens": most_tokens, "messages": sent}
    rules = "\n\n".join(message.sent()["content"] for message in prompt if message.role is Role.SYSTEM)
    if rules:
        request["system"] = rules
    if not in_words:
        shape = without_bounds(wire_schema(schema))
        request["output_config"] = {"format": {"type": "json_schema", "schema": shape}}
    return request
