"""The health page: counts, retention, jobs, and problems with files."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from lamina.documents import stats_document
from lamina.web.fading import faded
from lamina.web.visit import Visit


def health(visit: Visit) -> Response:
    """Show counts, sizes and jobs."""
    whole_vault = visit.caller is not None and visit.house.is_kept_by(visit.caller)
    stats = stats_document(visit.memory, whole=whole_vault)
    context = {
        "stats": stats,
        "pending_count": stats.to_review,
        "whole_vault": whole_vault,
        "fading": faded(visit.memory),
    }
    return visit.page("health.html", context)


def problems(visit: Visit) -> Response:
    """Show the problems of every file; loaded separately, because it takes as long as there are files."""
    return visit.page("problems.html", {"diagnosis": visit.memory.doctor()}, part="_problems.html")


def fading(visit: Visit) -> Response:
    """Return the retention chart as JSON."""
    return JSONResponse(faded(visit.memory).data())
