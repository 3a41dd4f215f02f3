"""Any endpoint that speaks OpenAI's `/v1/embeddings`: hosted, or a server on the user's own machine."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np

from lamina.errors import InvalidInput
from lamina.models.dense import Dense
from lamina.models.errors import ModelError, ModelUnreachable
from lamina.vectors.levels import Floats

BATCH = 64
RETRIES = 3
TIMEOUT = 30.0
_LONGEST_PAUSE = 30.0
_TOO_MANY = 429
_WRONG_KEY = (401, 403)


def remote(
    base_url: str,
    model: str,
    api_key: str | None = None,
    *,
    dimensions: int | None = None,
    timeout: float = TIMEOUT,
    sleep: Callable[[float], None] = time.sleep,
) -> Dense:
    """An embedder behind `base_url`, which ends before `/embeddings`, as in OpenAI's own libraries."""
    endpoint = Endpoint(base_url, model, api_key, timeout=timeout, sleep=sleep)
    return Dense(f"openai:{model}@{endpoint.host}", endpoint, endpoint, dimensions=dimensions)


class Endpoint:
    """Asks an endpoint for vectors; patient with a busy one, plain about one that refuses."""

    def __init__(
        self, base_url: str, model: str, api_key: str | None, *, timeout: float, sleep: Callable[[float], None]
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(f"{base_url!r} is no address of an endpoint; give one such as http://127.0.0.1:8080/v1")
        self.host = parts.hostname + (f":{parts.port}" if parts.port else "")
        self._address = base_url.rstrip("/") + "/embeddings"
        self._model, self._timeout, self._sleep = model, timeout, sleep
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "lamina"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._opener = build_opener(_NoRedirect)

    def __call__(self, texts: Sequence[str]) -> Floats:
        return np.concatenate([self._batch(texts[n : n + BATCH]) for n in range(0, len(texts), BATCH)])

    def _batch(self, texts: Sequence[str]) -> Floats:
        asked = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        answer = self._ask(json.dumps(asked).encode())
        try:
            rows = _rows(json.loads(answer))
        except (ValueError, TypeError, KeyError) as error:
            raise ModelError(f"{self.host} answered something else than embeddings: {_brief(answer)}") from error
        if len(rows) != len(texts):
            raise ModelError(f"{self.host} gave {len(rows)} vectors for {len(texts)} texts")
        return rows

    def _ask(self, body: bytes) -> bytes:
        pauses = _pauses()
        while True:
            try:
                return self._post(body)
            except HTTPError as error:
                with error:
                    told = error.read()
                pause = next(pauses, None) if error.code == _TOO_MANY or error.code >= 500 else None
                if pause is None:
                    raise self._refused(error.code, told) from error
                self._sleep(max(pause, _asked_pause(error)))
            except (OSError, HTTPException) as error:
                pause = next(pauses, None)
                if pause is None:
                    why = str(getattr(error, "reason", error)) or type(error).__name__
                    raise ModelUnreachable(f"{self.host} does not answer: {why}; is it running?") from error
                self._sleep(pause)

    def _post(self, body: bytes) -> bytes:
        request = Request(self._address, data=body, headers=self._headers, method="POST")
        with self._opener.open(request, timeout=self._timeout) as response:
            answer: bytes = response.read()
        return answer

    def _refused(self, code: int, told: bytes) -> ModelError:
        if code in _WRONG_KEY:
            return ModelError(f"{self.host} refuses the key ({code}); check the API key")
        if code == _TOO_MANY or code >= 500:
            return ModelUnreachable(f"{self.host} answers {code} again and again: {_brief(told)}; try again later")
        return ModelError(f"{self.host} answers {code}: {_brief(told)}; check the address and the model's name")


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would carry the key and the texts to a place the user did not name."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


def _pauses() -> Iterator[float]:
    return (0.5 * 2**n for n in range(RETRIES))


def _asked_pause(error: HTTPError) -> float:
    """What a busy endpoint asks for, within reason."""
    told = error.headers.get("Retry-After", "")
    return min(float(told), _LONGEST_PAUSE) if told.isdecimal() else 0.0


def _rows(answer: Any) -> Floats:
    found = sorted(answer["data"], key=lambda each: each["index"])
    if [each["index"] for each in found] != list(range(len(found))):
        raise ValueError("places are missing")
    rows = np.array([each["embedding"] for each in found], np.float32)
    if rows.ndim != 2:
        raise ValueError("no rows")
    return rows


def _brief(told: bytes) -> str:
    return " ".join(told[:200].decode("utf-8", "replace").split()) or "nothing"
