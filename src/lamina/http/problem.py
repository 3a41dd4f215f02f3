"""Errors as problem+json documents: what went wrong and what to do next, and nothing of what is remembered."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.responses import Response

from lamina.errors import (
    Erased,
    InvalidInput,
    InvalidScope,
    LaminaError,
    NotFound,
    Refused,
    StoreBusy,
    StoreError,
    StoreTooNew,
)
from lamina.models.errors import ModelError
from lamina.text.times import format_time

logger = logging.getLogger("lamina.http")

MEDIA_TYPE = "application/problem+json"
BUSY_SECONDS = 1
_KIND = "urn:lamina:error:"
_LONGEST = 2000
_STATUS: tuple[tuple[type[LaminaError], int], ...] = (
    (InvalidScope, 403),
    (InvalidInput, 422),
    (Erased, 410),
    (NotFound, 404),
    (Refused, 409),
    (ModelError, 424),
    (StoreError, 503),
)
"""The first that fits counts."""

Data = str | int | float | bool | None | Sequence[str] | Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request was not done. `name` is that of the error; `data` what a program needs to go on."""

    status: int
    name: str
    detail: str
    data: Mapping[str, Data] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Data]:
        """The members of RFC 9457, and those of the error."""
        told: dict[str, Data] = {
            "type": f"{_KIND}{self.name}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail[:_LONGEST],
        }
        return {**{name: value for name, value in self.data.items() if name not in told}, **told}

    def body(self) -> bytes:
        """The document as ASCII, so that nothing a caller sent keeps it from being written."""
        return json.dumps(self.document()).encode("ascii")

    def response(self) -> Response:
        """The answer that tells it."""
        return Response(self.body(), self.status, dict(self.headers), MEDIA_TYPE)


FAILED = Problem(500, "Failed", "something went wrong here; nothing acknowledged is lost. The log of the server tells")


def problem_of(error: LaminaError) -> Problem:
    """An error of lamina's tree; what the disk said stays in the log, for it tells where on the machine things lie."""
    status = next((each for kind, each in _STATUS if isinstance(error, kind)), 500)
    name, detail, headers = type(error).__name__, str(error), dict[str, str]()
    if isinstance(error, StoreBusy):
        headers["Retry-After"] = str(BUSY_SECONDS)
    elif isinstance(error, StoreError) and not isinstance(error, StoreTooNew):
        logger.error("the store failed: %s", error)
        detail = "the store failed; nothing acknowledged is lost. The log of the server tells more; try again"
    return Problem(status, name, detail, _data_of(error), headers)


def _data_of(error: LaminaError) -> dict[str, Data]:
    """What the error carries beside its message."""
    told: dict[str, Data] = {}
    for name, value in vars(error).items():
        if isinstance(value, datetime):
            told[name] = format_time(value)
        elif isinstance(value, (list, tuple)):
            told[name] = [str(each) for each in value]
        elif isinstance(value, (str, int, float)) and not name.startswith("_"):
            told[name] = value
    return told


def invalid(errors: Sequence[Mapping[str, object]]) -> Problem:
    """A request that does not fit its schema: where, and why, without what was sent."""
    told = [{"at": _place(error.get("loc", ())), "message": _said(error)} for error in errors[:20]]
    detail = "; ".join(f"{each['at']}: {each['message']}" for each in told[:5])
    return Problem(422, "InvalidInput", detail or "the request does not fit its schema", {"errors": told})


def _place(loc: object) -> str:
    parts = loc if isinstance(loc, (list, tuple)) else ()
    return ".".join(str(part)[:80] for part in parts)


def _said(error: Mapping[str, object]) -> str:
    if error.get("type") == "json_invalid":
        return "this is no JSON"
    return str(error.get("msg", "is not as it should be")).removeprefix("Value error, ")[:300]


def of_http(error: HTTPException) -> Problem:
    """What the framework itself refuses: no such path, no such method, a body that cannot be read."""
    names = {404: "NoSuchPath", 405: "NoSuchMethod", 400: "BadRequest"}
    said = {
        404: "there is nothing at this path; /v1/openapi.json tells what there is",
        405: "the path is there, but not for this method; /v1/openapi.json tells which",
        400: "the body cannot be read as JSON",
    }
    name = names.get(error.status_code, "HttpError")
    return Problem(error.status_code, name, said.get(error.status_code, str(error.detail)), headers=error.headers or {})
