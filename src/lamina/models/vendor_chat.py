"""Chat models that are called with a vendor's library, which is loaded when it is first needed.

The libraries of OpenAI and Anthropic are generated from one template, so they have one base class. It counts requests,
translates failures into our errors, and asks a second time if an answer cannot be parsed.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from lamina.errors import InvalidInput
from lamina.models.chat import MOST_TOKENS, ChatReply, Message, NoUsageMeter, T, UsageMeter
from lamina.models.chat_schema import parse_reply
from lamina.models.errors import ModelError, ModelMissing
from lamina.models.prompt_fence import strip_invisible
from lamina.models.retry_and_circuit_breaker import CallTiming, RetryableError, RetryPolicy
from lamina.telemetry import TOKENS_IN, TOKENS_OUT, trace_model_call

_TOO_MANY_REQUESTS, _NOT_IMPLEMENTED, _SERVER_ERROR = 429, 501, 500
_BUSY_STATUSES = (408, 409, _TOO_MANY_REQUESTS)
_WRONG_KEY_STATUSES = (401, 403)
NOT_FOUND_STATUSES = (404, 405)
"""Statuses of a server that does not know the path or the model."""
_REJECTED_STATUSES = (400, 422, _NOT_IMPLEMENTED, *NOT_FOUND_STATUSES)
_OUT_OF_CREDIT = "insufficient_quota"


class RequestRejected(Exception):
    """A server rejected the request as it is; `response` is what it says."""

    def __init__(self, code: int, response: str) -> None:
        super().__init__(response)
        self.code, self.response = code, response


class ResponseEnd(StrEnum):
    """A way in which a response ended."""

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


class ResponseBody(BaseModel, ABC):
    """The part of a response body that is read."""

    noun: ClassVar[str]

    @abstractmethod
    def to_response(self, request: Mapping[str, Any]) -> ChatResponse:
        """Return the reply, with an estimate of its tokens if the server reports none."""


class UnexpectedBody(ModelError):
    """A server's answer has another shape than those of its API."""


class VendorChat(ABC):
    """A chat model on one server. If it rejects the schema of an answer, or answers something else, it is asked once
    more with the schema as text."""

    library: ClassVar[str]
    client_class: ClassVar[str]
    extra: ClassVar[str]

    def __init__(
        self,
        service: str,
        name: str,
        address: str,
        api_key: str | None,
        timing: CallTiming | None,
        meter: UsageMeter | None,
    ) -> None:
        self.address, self._name, self._api_key = address, name, check_key(api_key)
        self.host = host_of(address)
        self.model = f"{service}:{name}@{self.host}"
        """The name of the model and its host."""
        if find_spec(self.library) is None:
            raise ModelMissing(f"{self.model} needs an extra: pip install 'lamina[{self.extra}]'")
        self._timing, self._meter = timing or CallTiming(), meter or NoUsageMeter()
        self._retry = RetryPolicy(self.host, self._timing)
        self._lock = threading.Lock()
        self._client: Any = None

    def ask(self, messages: Sequence[Message], schema: type[T], *, most_tokens: int = MOST_TOKENS) -> ChatReply[T]:
        """Return the model's answer as a value of `schema`, in at most `most_tokens` tokens. Raises ModelError if it
        fails."""
        with trace_model_call("chat", self.model) as attributes:
            reply = self._ask_until_parsed(messages, schema, most_tokens)
            attributes.update({TOKENS_IN: reply.tokens_in, TOKENS_OUT: reply.tokens_out})
        return reply

    def close(self) -> None:
        """Close the client; the next request opens a new one."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    @abstractmethod
    def _request_response(
        self, messages: Sequence[Message], schema: type[BaseModel], most_tokens: int, in_words: bool
    ) -> ChatResponse:
        """Return the server's response. Raises ModelError if it rejects the request in every form."""

    def _ask_until_parsed(self, messages: Sequence[Message], schema: type[T], most_tokens: int) -> ChatReply[T]:
        tokens_in = tokens_out = calls = 0
        in_words = False
        while True:
            response = self._request_response(messages, schema, most_tokens, in_words)
            tokens_in, tokens_out, calls = tokens_in + response.tokens_in, tokens_out + response.tokens_out, calls + 1
            if response.ending is ResponseEnd.DECLINED:
                raise ModelError(f"{self.model} declines to answer: {shorten_response(response.text)}")
            if response.ending is ResponseEnd.CUT:
                raise ModelError(f"{self.model} was cut off at {most_tokens} tokens, so its answer is not used")
            value = parse_reply(response.text, schema)
            if value is not None:
                return ChatReply(value, tokens_in, tokens_out, calls, not response.in_words)
            if response.in_words:
                excerpt = shorten_response(response.text)
                raise ModelError(f"{self.model} did not answer in the requested format: {excerpt}")
            in_words = True

    def _send(
        self, request: Mapping[str, Any], create: Callable[[Any], Any], body_type: type[ResponseBody]
    ) -> ChatResponse:
        """Return the response to a request, which `create` makes with a client. Raises RequestRejected if the server
        rejects it, UnexpectedBody if its answer cannot be read, ModelError for other failures."""
        library = import_module(self.library)
        client = self._open_client(library)
        body = self._retry.call(lambda: self._send_once(library, lambda: create(client)))
        try:
            response = body_type.model_validate_json(body).to_response(request)
        except ValidationError as error:
            excerpt = shorten_response(body.decode("utf-8", "replace"))
            raise UnexpectedBody(f"{self.host} did not answer with a {body_type.noun}: {excerpt}") from error
        self._meter.record_usage(self.model, response.tokens_in, response.tokens_out)
        return response

    def rejection_error(self, error: RequestRejected) -> ModelError:
        """Return the error for a request that the server rejects in every form."""
        excerpt = shorten_response(error.response)
        return ModelError(f"{self.host} answers {error.code}: {excerpt}; check the model's name and the address")

    def _client_options(self) -> dict[str, Any]:
        return {"base_url": self.address, "api_key": self._api_key}

    def _open_client(self, library: Any) -> Any:
        with self._lock:
            if self._client is None:
                _silence_debug_logs(self.library)
                # A redirect would send the key and the text to an address that the user did not configure.
                plain = library.DefaultHttpxClient(follow_redirects=False, timeout=self._timing.timeout)
                self._client = getattr(library, self.client_class)(
                    http_client=plain, timeout=self._timing.timeout, max_retries=0, **self._client_options()
                )
            return self._client

    def _send_once(self, library: Any, request: Callable[[], Any]) -> bytes:
        self._meter.begin(self.model)
        try:
            body: bytes = request().http_response.content
        except library.APITimeoutError as error:
            raise RetryableError(f"takes longer than {self._timing.timeout:g} s", can_retry=False) from error
        except library.APIConnectionError as error:
            raise RetryableError(f"does not answer: {shorten_response(str(error.__cause__ or error))}") from error
        except library.APIStatusError as error:
            raise self._error_for(error.status_code, error.response) from error
        return body

    def _error_for(self, code: int, response: Any) -> Exception:
        """Return the error for a status and response."""
        text: str = response.text
        if code == _TOO_MANY_REQUESTS and _OUT_OF_CREDIT in text:
            return ModelError(f"{self.host} has no credit left for this key: {shorten_response(text)}")
        if code in _WRONG_KEY_STATUSES:
            return ModelError(f"{self.host} refuses the key ({code}); check the API key")
        if code in _REJECTED_STATUSES:
            return RequestRejected(code, text)
        if code in _BUSY_STATUSES or code >= _SERVER_ERROR:
            return RetryableError(
                f"answers {code}: {shorten_response(text)}", _parse_retry_after(response.headers.get("retry-after", ""))
            )
        return self.rejection_error(RequestRejected(code, text))


def _silence_debug_logs(library: str) -> None:
    """Raise the library's log level: at DEBUG it logs whole requests, and with them what is remembered. An explicitly
    set level stays."""
    logger = logging.getLogger(library)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)


def host_of(address: str) -> str:
    """Return host and port of an address."""
    parts = urlsplit(address)
    return (parts.hostname or "") + (f":{parts.port}" if parts.port else "")


def check_key(key: str | None) -> str:
    """Return the key as a header accepts it; local servers need none, but the libraries require one. Raises
    InvalidInput for characters that no key has."""
    if key and not (key.isascii() and key.isprintable()):
        raise InvalidInput("the chat key holds characters no key has; check chat_key")
    return key or "none"


def shorten_response(response: str) -> str:
    """Return the start of a server's response, on one line and without invisible characters."""
    return strip_invisible(response[:200]) or "nothing"


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, if a server does not report them."""
    return len(text) // 4 + 1


def _parse_retry_after(header: str) -> float:
    return float(header) if header.isdecimal() and len(header) < 7 else 0.0
