"""Pages that tell a person why something failed, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import Scope

from lamina.access import Principal
from lamina.errors import LaminaError, UndoRefused
from lamina.http.problem import ProblemDetails, problem_from_error
from lamina.web.action_result import ActionResult
from lamina.web.page_request import PageRequest
from lamina.web.template_environment import count_noun, render_template

_HEADING_BY_STATUS = {
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
_PLAIN_TEXTS = {
    "NoSuchPath": "There is no page at this address. Check the address.",
    "NoSuchMethod": "There is no page at this address. Go back and try again.",
}
"""Texts for people, in place of those for programs."""


@dataclass(frozen=True, slots=True)
class _ErrorPageRequest:
    """The request context of a page that no handler rendered."""

    caller: Principal | None
    csrf: str
    may_write: bool = False


def show_error(request: PageRequest, error: LaminaError) -> Response:
    """Return a page, or a fragment of one, that says why a request failed."""
    problem = problem_from_error(error)
    later = error.later if isinstance(error, UndoRefused) else ()
    commits = (error.commit,) if isinstance(error, UndoRefused) else ()
    title = "Not done" if request.is_fragment else ""
    on = request.http_request.path_params.get("id", "") if request.http_request.url.path.startswith("/atom/") else ""
    why = (
        f"{count_noun(len(later), 'later change')} built on it; undo them first, or undo all together"
        if later
        else problem.detail
    )
    result = ActionResult(title, commits=commits, error=why, later=later, atom_id=on)
    context = {"result": result, "heading": page_heading(problem.status)}
    return request.render("error.html", context, fragment="_action_result.html", status=problem.status)


def render_problem_page(problem: ProblemDetails, scope: Scope) -> bytes:
    """Render a page for a problem outside the handlers: unknown path, rate limit, internal error."""
    state = scope.get("state", {})
    result = ActionResult("", error=_PLAIN_TEXTS.get(problem.name, problem.detail))
    context = {
        "request": _ErrorPageRequest(state.get("caller"), state.get("csrf") or ""),
        "current_path": scope["path"],
        "inbox_count": None,
        "result": result,
        "heading": page_heading(problem.status),
    }
    return render_template("error.html", context).encode()


def page_heading(status: int) -> str:
    """Return the heading of an error page."""
    return _HEADING_BY_STATUS.get(status, "Not done")
