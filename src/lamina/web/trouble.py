"""What a person sees where something could not be done: why, and what to do next."""

from __future__ import annotations

from starlette.responses import Response

from lamina.errors import LaminaError, UndoRefused
from lamina.http.problem import problem_of
from lamina.web.said import Said
from lamina.web.visit import Visit


def trouble(visit: Visit, error: LaminaError) -> Response:
    """A page, or the part of one, that tells why something was not done."""
    problem = problem_of(error)
    later = error.later if isinstance(error, UndoRefused) else ()
    commits = (error.commit,) if isinstance(error, UndoRefused) else ()
    said = Said("That was not done", commits=commits, trouble=problem.detail, later=later)
    return visit.page("trouble.html", {"said": said}, part="_said.html", status=problem.status)
