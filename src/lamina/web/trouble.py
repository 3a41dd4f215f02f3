"""Pages that tell a person why something failed, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import Scope

from lamina.access import Caller
from lamina.errors import LaminaError, UndoRefused
from lamina.http.problem import Problem, problem_of
from lamina.web.paper import many, printed
from lamina.web.said import Said
from lamina.web.visit import Visit

_HEADINGS = {
    400: "Bad request",
    401: "Sign in first",
    403: "Not allowed",
    404: "Not found",
    405: "Not found",
    409: "Not done",
    410: "Erased",
    413: "Too large",
    422: "Not valid",
    429: "Too many requests",
    500: "Internal error",
    503: "The vault is busy",
    504: "Timed out",
}
_PLAINLY = {
    "NoSuchPath": "There is no page at this address. Check the address.",
    "NoSuchMethod": "There is no page at this address. Go back and try again.",
}
"""Texts for people, in place of those for programs."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """The request context of a page that no handler rendered."""

    caller: Caller | None
    csrf: str
    may_write: bool = False


def trouble(visit: Visit, error: LaminaError) -> Response:
    """Return a page, or a fragment of one, that says why a request failed."""
    problem = problem_of(error)
    later = error.later if isinstance(error, UndoRefused) else ()
    commits = (error.commit,) if isinstance(error, UndoRefused) else ()
    title = "Not done" if visit.is_fragment else ""
    on = visit.request.path_params.get("id", "") if visit.request.url.path.startswith("/atom/") else ""
    why = (
        f"{many(len(later), 'later change')} built on it; undo them first, or undo all together"
        if later
        else problem.detail
    )
    result = Said(title, commits=commits, error=why, later=later, atom_id=on)
    context = {"result": result, "heading": heading(problem.status)}
    return visit.page("error.html", context, part="_action_result.html", status=problem.status)


def problem_page(problem: Problem, scope: Scope) -> bytes:
    """Render a page for a problem outside the handlers: unknown path, rate limit, internal error."""
    state = scope.get("state", {})
    result = Said("", error=_PLAINLY.get(problem.name, problem.detail))
    context = {
        "request": _Reader(state.get("caller"), state.get("csrf") or ""),
        "current_path": scope["path"],
        "inbox_count": None,
        "result": result,
        "heading": heading(problem.status),
    }
    return printed("error.html", context).encode()


def heading(status: int) -> str:
    """Return the heading of an error page."""
    return _HEADINGS.get(status, "Not done")
