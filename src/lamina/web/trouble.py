"""What a person sees where something could not be done: why, and what to do next."""

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
    400: "That cannot be read",
    401: "Sign in first",
    403: "You may not do that",
    404: "Nothing is here",
    405: "Nothing is here",
    409: "Not done",
    410: "It was erased",
    413: "That is too much at once",
    422: "That cannot be asked",
    429: "Too much at once",
    500: "Something went wrong here",
    503: "The vault is busy",
    504: "It took too long",
}
_PLAINLY = {
    "NoSuchPath": "There is no page at this address. It may have been mistyped.",
    "NoSuchMethod": "There is no page at this address. It may be where a form led to; go back and try again.",
}
"""What is told to programs in words of theirs, in words for people."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """Whoever reads a page that no handler made."""

    caller: Caller | None
    csrf: str
    may_write: bool = False


def trouble(visit: Visit, error: LaminaError) -> Response:
    """A page, or the part of one, that tells why something was not done."""
    problem = problem_of(error)
    later = error.later if isinstance(error, UndoRefused) else ()
    commits = (error.commit,) if isinstance(error, UndoRefused) else ()
    title = "That was not done" if visit.is_fragment else ""
    on = visit.request.path_params.get("id", "") if visit.request.url.path.startswith("/atom/") else ""
    why = (
        f"{many(len(later), 'later change')} built on it; undo the later first, or all of it"
        if later
        else problem.detail
    )
    said = Said(title, commits=commits, trouble=why, later=later, on=on)
    told = {"said": said, "heading": heading(problem.status)}
    return visit.page("trouble.html", told, part="_said.html", status=problem.status)


def problem_page(problem: Problem, scope: Scope) -> bytes:
    """The page that tells a problem nobody of ours could answer: no such path, too much asked, a failure."""
    state = scope.get("state", {})
    said = Said("", trouble=_PLAINLY.get(problem.name, problem.detail))
    told = {
        "visit": _Reader(state.get("caller"), state.get("csrf") or ""),
        "here": scope["path"],
        "inbox_count": None,
        "said": said,
        "heading": heading(problem.status),
    }
    return printed("trouble.html", told).encode()


def heading(status: int) -> str:
    """What a page of trouble is called."""
    return _HEADINGS.get(status, "Not done")
