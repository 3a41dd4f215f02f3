"""The page that lists atoms, with filters."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import Response

from lamina.atom.kinds import MemoryType
from lamina.atom.status import Status
from lamina.web.visit import Visit

PAGE = 40
ANY = "any"
_ASKED = ("status", "kind", "memory_type", "subject", "session_id", "as_of", "known_at")


def browse(visit: Visit) -> Response:
    """List atoms, newest first."""
    query, offset = visit.asked, visit.number("offset", 0, 10**7)
    status = query.get("status") or Status.ACTIVE.value
    filters = {name: query.get(name) or None for name in ("kind", "memory_type", "subject", "session_id")}
    atoms = visit.memory.list(
        status=None if status == ANY else status,
        limit=PAGE + 1,
        offset=offset,
        **filters,
        as_of=query.get("as_of") or None,
        known_at=query.get("known_at") or None,
    )
    counts = visit.memory.stats()
    context = {
        "atoms": atoms[:PAGE],
        "more": len(atoms) > PAGE,
        "offset": offset,
        "page": PAGE,
        "status": status,
        "query": query,
        "statuses": (*Status, ANY),
        "kinds": sorted(counts["by_kind"]),
        "memory_types": tuple(MemoryType),
        "filter_query": _rest(visit),
    }
    return visit.page("browse.html", context, part="_list.html")


def _rest(visit: Visit) -> str:
    """Return the filters as a query string, for the links to other pages of the list."""
    return urlencode([(name, value) for name in _ASKED if (value := visit.asked.get(name))])
