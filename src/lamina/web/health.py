"""The health of a memory: what there is of what, how it fades, what runs, and what is wrong with which file."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from lamina.documents import stats_document
from lamina.web.fading import faded
from lamina.web.visit import Visit


def health(visit: Visit) -> Response:
    """Counts, sizes, jobs."""
    whole = visit.caller is not None and visit.house.is_kept_by(visit.caller)
    stats = stats_document(visit.memory, whole=whole)
    told = {"stats": stats, "left": stats.to_review, "whole": whole, "fading": faded(visit.memory)}
    return visit.page("health.html", told)


def problems(visit: Visit) -> Response:
    """What a look at every file finds; asked for later, for it takes as long as there are files."""
    return visit.page("problems.html", {"found": visit.memory.doctor()}, part="_problems.html")


def fading(visit: Visit) -> Response:
    """The curves and where memories lie on them, as data for the picture."""
    return JSONResponse(faded(visit.memory).data())
