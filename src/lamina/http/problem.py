"""Errors as RFC 9457 problem documents: what happened and what to do next, without memory content."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.responses import Response

from lamina.access import Principal, Right
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
from lamina.text.timestamps import format_time
from lamina.validation_messages import describe_fault

logger = logging.getLogger("lamina.http")

MEDIA_TYPE = "application/problem+json"
BUSY_SECONDS = 1
_TYPE_PREFIX = "urn:lamina:error:"
_MAX_DETAIL = 2000
_STATUS_BY_ERROR: tuple[tuple[type[LaminaError], int], ...] = (
    (InvalidScope, 403),
    (InvalidInput, 422),
    (Erased, 410),
    (NotFound, 404),
    (Refused, 409),
    (ModelError, 424),
    (StoreError, 503),
)
"""The first matching class counts."""

ProblemData = str | int | float | bool | None | Sequence[str] | Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    """Why a request failed. `name` is the error's class name; `data` is what a program needs to continue."""

    status: int
    name: str
    detail: str
    data: Mapping[str, ProblemData] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, ProblemData]:
        """Return the members of RFC 9457 and the data of the error."""
        members: dict[str, ProblemData] = {
            "type": f"{_TYPE_PREFIX}{self.name}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail[:_MAX_DETAIL],
        }
        return {**{name: value for name, value in self.data.items() if name not in members}, **members}

    def body(self) -> bytes:
        """Return the document as ASCII JSON, which can encode whatever a caller sent."""
        return json.dumps(self.document()).encode("ascii")

    def response(self) -> Response:
        """Return the problem as an HTTP response."""
        return Response(self.body(), self.status, dict(self.headers), MEDIA_TYPE)


class ProblemError(Exception):
    """Ends a request with a problem."""

    def __init__(self, problem: ProblemDetails) -> None:
        self.problem = problem
        super().__init__(problem.name)


INTERNAL_ERROR = ProblemDetails(500, "Failed", "internal error; acknowledged writes are safe. See the server's log")


def problem_from_error(error: LaminaError) -> ProblemDetails:
    """Return the problem for an error of lamina. Messages about the disk are only logged: they contain paths."""
    status = next((code for kind, code in _STATUS_BY_ERROR if isinstance(error, kind)), 500)
    name, detail, headers = type(error).__name__, str(error), dict[str, str]()
    if isinstance(error, StoreBusy):
        headers["Retry-After"] = str(BUSY_SECONDS)
    elif isinstance(error, StoreError) and not isinstance(error, StoreTooNew):
        logger.error("the store failed: %s", error)
        detail = "the store failed; acknowledged writes are safe. Try again, or see the server's log"
    return ProblemDetails(status, name, detail, _error_data(error), headers)


def _error_data(error: LaminaError) -> dict[str, ProblemData]:
    """Return the attributes of the error as JSON values."""
    data: dict[str, ProblemData] = {}
    for name, value in vars(error).items():
        if isinstance(value, datetime):
            data[name] = format_time(value)
        elif isinstance(value, (list, tuple)):
            data[name] = [str(item) for item in value]
        elif isinstance(value, (str, int, float)) and not name.startswith("_"):
            data[name] = value
    return data


def validation_problem(errors: Sequence[Mapping[str, object]]) -> ProblemDetails:
    """Return the problem for a request that does not match its schema: where and why, without the values sent."""
    faults = [{"at": _format_location(error.get("loc", ())), "message": describe_fault(error)} for error in errors[:20]]
    detail = "; ".join(f"{fault['at']}: {fault['message']}" for fault in faults[:5])
    return ProblemDetails(422, "InvalidInput", detail or "the request does not match its schema", {"errors": faults})


def _format_location(loc: object) -> str:
    parts = loc if isinstance(loc, (list, tuple)) else ()
    return ".".join(str(part)[:80] for part in parts)


def forbidden_problem(caller: Principal, right: Right) -> ProblemDetails:
    """Return the problem for a caller without the required right."""
    detail = f"{caller.name} may {caller.right}, this needs {right}; ask the vault's owner for a token with that right"
    return ProblemDetails(403, "Forbidden", detail, {"needs": right.value, "has": caller.right.value})


def problem_from_http(error: HTTPException) -> ProblemDetails:
    """Return the problem for an error of the framework: unknown path, unknown method, or a body that is not JSON."""
    names = {404: "NoSuchPath", 405: "NoSuchMethod", 400: "BadRequest"}
    details = {
        404: "unknown path; /v1/openapi.json lists all paths",
        405: "method not allowed for this path; /v1/openapi.json lists the methods",
        400: "the body is not valid JSON",
    }
    name = names.get(error.status_code, "HttpError")
    return ProblemDetails(
        error.status_code, name, details.get(error.status_code, str(error.detail)), headers=error.headers or {}
    )
