"""The health page: counts, retention, jobs, and problems with files."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from lamina.documents import stats_document
from lamina.web.page_request import PageRequest
from lamina.web.retention_chart import build_retention_chart


def show_health(request: PageRequest) -> Response:
    """Show counts, sizes and jobs."""
    whole_vault = request.caller is not None and request.served_memory.is_vault_admin(request.caller)
    stats = stats_document(request.memory, whole_vault=whole_vault)
    context = {
        "stats": stats,
        "pending_count": stats.to_review,
        "whole_vault": whole_vault,
        "fading": build_retention_chart(request.memory),
    }
    return request.render("health.html", context)


def show_problems(request: PageRequest) -> Response:
    """Show the problems of every file; loaded separately, because it takes as long as there are files."""
    return request.render("problems.html", {"diagnosis": request.memory.doctor()}, fragment="_problems.html")


def retention_data(request: PageRequest) -> Response:
    """Return the retention chart as JSON."""
    return JSONResponse(build_retention_chart(request.memory).data())
