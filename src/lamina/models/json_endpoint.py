"""An HTTP endpoint that takes and returns JSON: hosted, or a server on the user's machine."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from lamina.errors import InvalidInput
from lamina.models.errors import ModelError, ModelUnreachable

RETRIES = 3
TIMEOUT = 30.0
_MAX_DELAY = 30.0
_TOO_MANY_REQUESTS = 429
_WRONG_KEY_STATUSES = (401, 403)

T = TypeVar("T")


class JsonEndpoint:
    """A path at an address. Requests are retried if the server is busy; a rejection raises an error."""

    def __init__(
        self,
        base_url: str,
        path: str,
        api_key: str | None,
        *,
        timeout: float = TIMEOUT,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(
                f"{base_url!r} is not the address of an endpoint; write one such as http://127.0.0.1:8080/v1"
            )
        self.host = parts.hostname + (f":{parts.port}" if parts.port else "")
        self._address = base_url.rstrip("/") + path
        self._timeout, self._sleep = timeout, sleep
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "lamina"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._opener = build_opener(NoRedirect)

    def request(self, body: Mapping[str, object], parse: Callable[[Any], T], expected: str) -> T:
        """Return the parsed answer; `expected` names what it should be. Raises ModelError if it is something else."""
        answer = self._post_with_retries(json.dumps(body).encode())
        try:
            return parse(json.loads(answer))
        except (ValueError, TypeError, KeyError) as error:
            raise ModelError(f"{self.host} did not answer with {expected}: {_shorten(answer)}") from error

    def _post_with_retries(self, body: bytes) -> bytes:
        """Post a body and return the response; retry if the server is busy or unreachable."""
        delays = _retry_delays()
        while True:
            try:
                return self._post(body)
            except HTTPError as error:
                with error:
                    response = error.read()
                delay = next(delays, None) if error.code == _TOO_MANY_REQUESTS or error.code >= 500 else None
                if delay is None:
                    raise self._error_for(error.code, response) from error
                self._sleep(max(delay, _parse_retry_after(error)))
            except (OSError, HTTPException) as error:
                delay = next(delays, None)
                if delay is None:
                    reason = str(getattr(error, "reason", error)) or type(error).__name__
                    raise ModelUnreachable(f"{self.host} does not answer: {reason}; is it running?") from error
                self._sleep(delay)

    def _post(self, body: bytes) -> bytes:
        request = Request(self._address, data=body, headers=self._headers, method="POST")
        with self._opener.open(request, timeout=self._timeout) as response:
            answer: bytes = response.read()
        return answer

    def _error_for(self, code: int, response: bytes) -> ModelError:
        if code in _WRONG_KEY_STATUSES:
            return ModelError(f"{self.host} refuses the key ({code}); check the API key")
        if code == _TOO_MANY_REQUESTS or code >= 500:
            return ModelUnreachable(
                f"{self.host} answers {code} again and again: {_shorten(response)}; try again later"
            )
        return ModelError(f"{self.host} answers {code}: {_shorten(response)}; check the address and the model's name")


class NoRedirect(HTTPRedirectHandler):
    """Rejects redirects: one would send the key and the texts to an address that the user did not configure."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


def _retry_delays() -> Iterator[float]:
    return (0.5 * 2**n for n in range(RETRIES))


def _parse_retry_after(error: HTTPError) -> float:
    """Return the delay that a busy endpoint asks for, up to the limit."""
    header = error.headers.get("Retry-After", "")
    return min(float(header), _MAX_DELAY) if header.isdecimal() else 0.0


def _shorten(response: bytes) -> str:
    return " ".join(response[:200].decode("utf-8", "replace").split()) or "nothing"
