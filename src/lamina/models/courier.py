"""A client of a vendor's library, loaded when it is first needed: it counts requests and translates failures into our
errors.

The libraries of OpenAI and Anthropic are generated from one template, so one class serves both.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from lamina.errors import InvalidInput
from lamina.models.chat import Meter
from lamina.models.errors import ModelError, ModelMissing
from lamina.models.fence import seen
from lamina.models.patience import Busy, Patience, Timing

_TOO_MANY, _NOT_MADE, _SERVER_FAULT = 429, 501, 500
_BUSY = (408, 409, _TOO_MANY)
_WRONG_KEY = (401, 403)
NOT_THERE = (404, 405)
"""Statuses of a server that does not know the path or the model."""
_NOT_TAKEN = (400, 422, _NOT_MADE, *NOT_THERE)
_OUT_OF_CREDIT = "insufficient_quota"


class NotTaken(Exception):
    """A server rejected the request as it is; `response` is what it says."""

    def __init__(self, code: int, told: str) -> None:
        super().__init__(told)
        self.code, self.told = code, told


class Courier:
    """Sends requests to one model on one server."""

    def __init__(self, library: str, extra: str, model: str, host: str, timing: Timing, meter: Meter) -> None:
        if find_spec(library) is None:
            raise ModelMissing(f"{model} needs an extra: pip install 'lamina[{extra}]'")
        self.model, self.host = model, host
        self._library, self._timing, self._meter = library, timing, meter
        self._patience = Patience(host, timing)
        self._opening = threading.Lock()
        self._client: Any = None

    def send(self, options: dict[str, Any], request: Callable[[Any], Any]) -> bytes:
        """Return the body of the answer to a request, made with a client of these options. Raises RequestRejected if
        the server rejects it, ModelError for other failures."""
        library = import_module(self._library)
        client = self._opened(library, options)
        return self._patience.call(lambda: self._once(library, lambda: request(client)))

    def spent(self, tokens_in: int, tokens_out: int) -> None:
        """Record the tokens of an answer."""
        self._meter.spent(self.model, tokens_in, tokens_out)

    def refused(self, error: NotTaken) -> ModelError:
        """Return the error for a request that the server rejects in every form."""
        excerpt = brief(error.told)
        return ModelError(f"{self.host} answers {error.code}: {excerpt}; check the model's name and the address")

    def close(self) -> None:
        """Close the client; the next request opens a new one."""
        with self._opening:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _opened(self, library: Any, options: dict[str, Any]) -> Any:
        with self._opening:
            if self._client is None:
                _hush(self._library)
                # A redirect would send the key and the text to an address that the user did not configure.
                plain = library.DefaultHttpxClient(follow_redirects=False, timeout=self._timing.timeout)
                maker = getattr(library, options.pop("client"))
                self._client = maker(http_client=plain, timeout=self._timing.timeout, max_retries=0, **options)
            return self._client

    def _once(self, library: Any, request: Callable[[], Any]) -> bytes:
        self._meter.begin(self.model)
        try:
            body: bytes = request().http_response.content
        except library.APITimeoutError as error:
            raise Busy(f"takes longer than {self._timing.timeout:g} s", again=False) from error
        except library.APIConnectionError as error:
            raise Busy(f"does not answer: {brief(str(error.__cause__ or error))}") from error
        except library.APIStatusError as error:
            raise self._told(error.status_code, error.response) from error
        return body

    def _told(self, code: int, response: Any) -> Exception:
        """Return the error for a status and response."""
        text: str = response.text
        if code == _TOO_MANY and _OUT_OF_CREDIT in text:
            return ModelError(f"{self.host} has no credit left for this key: {brief(text)}")
        if code in _WRONG_KEY:
            return ModelError(f"{self.host} refuses the key ({code}); check the API key")
        if code in _NOT_TAKEN:
            return NotTaken(code, text)
        if code in _BUSY or code >= _SERVER_FAULT:
            return Busy(f"answers {code}: {brief(text)}", _asked_pause(response.headers.get("retry-after", "")))
        return self.refused(NotTaken(code, text))


def _hush(library: str) -> None:
    """Raise the library's log level: at DEBUG it logs whole requests, and with them what is remembered. An explicitly
    set level stays."""
    logger = logging.getLogger(library)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)


def host_of(address: str) -> str:
    """Return host and port of an address."""
    parts = urlsplit(address)
    return (parts.hostname or "") + (f":{parts.port}" if parts.port else "")


def usable_key(key: str | None) -> str:
    """Return the key as a header accepts it; local servers need none, but the libraries require one. Raises
    InvalidInput for characters that no key has."""
    if key and not (key.isascii() and key.isprintable()):
        raise InvalidInput("the chat key holds characters no key has; check chat_key")
    return key or "none"


def brief(told: str) -> str:
    """Return the start of a server's response, on one line and without invisible characters."""
    return seen(told[:200]) or "nothing"


def guessed_tokens(text: str) -> int:
    """Estimate the tokens of a text, if a server does not report them."""
    return len(text) // 4 + 1


def _asked_pause(told: str) -> float:
    return float(told) if told.isdecimal() and len(told) < 7 else 0.0
