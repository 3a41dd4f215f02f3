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
from lamina.models.chat import UsageMeter
from lamina.models.errors import ModelError, ModelMissing
from lamina.models.prompt_fence import strip_invisible
from lamina.models.retry import CallTiming, RetryableError, RetryPolicy

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


class VendorClient:
    """Sends requests to one model on one server."""

    def __init__(self, library: str, extra: str, model: str, host: str, timing: CallTiming, meter: UsageMeter) -> None:
        if find_spec(library) is None:
            raise ModelMissing(f"{model} needs an extra: pip install 'lamina[{extra}]'")
        self.model, self.host = model, host
        self._library, self._timing, self._meter = library, timing, meter
        self._retry = RetryPolicy(host, timing)
        self._lock = threading.Lock()
        self._client: Any = None

    def send(self, options: dict[str, Any], request: Callable[[Any], Any]) -> bytes:
        """Return the body of the answer to a request, made with a client of these options. Raises RequestRejected if
        the server rejects it, ModelError for other failures."""
        library = import_module(self._library)
        client = self._open_client(library, options)
        return self._retry.call(lambda: self._send_once(library, lambda: request(client)))

    def record_usage(self, tokens_in: int, tokens_out: int) -> None:
        """Record the tokens of an answer."""
        self._meter.record_usage(self.model, tokens_in, tokens_out)

    def rejection_error(self, error: RequestRejected) -> ModelError:
        """Return the error for a request that the server rejects in every form."""
        excerpt = shorten_response(error.response)
        return ModelError(f"{self.host} answers {error.code}: {excerpt}; check the model's name and the address")

    def close(self) -> None:
        """Close the client; the next request opens a new one."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _open_client(self, library: Any, options: dict[str, Any]) -> Any:
        with self._lock:
            if self._client is None:
                _silence_debug_logs(self._library)
                # A redirect would send the key and the text to an address that the user did not configure.
                plain = library.DefaultHttpxClient(follow_redirects=False, timeout=self._timing.timeout)
                maker = getattr(library, options.pop("client"))
                self._client = maker(http_client=plain, timeout=self._timing.timeout, max_retries=0, **options)
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
