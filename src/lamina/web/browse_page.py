"""The page that lists atoms, with filters."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import Response

from lamina.atom.kinds import MemoryType
from lamina.atom.status import Status
from lamina.web.page_request import PageRequest

PAGE_SIZE = 40
MAX_TOPICS = 100
"""The most topics that the filter suggests."""
ANY_STATUS = "any"
_FILTERS = ("status", "kind", "memory_type", "subject", "topic", "session_id", "episode_id", "as_of", "known_at")


def show_browse(request: PageRequest) -> Response:
    """List atoms, newest first."""
    query, offset = request.query, request.int_parameter("offset", 0, 10**7)
    status = query.get("status") or Status.ACTIVE.value
    names = ("kind", "memory_type", "subject", "topic", "session_id", "episode_id")
    filters = {name: query.get(name) or None for name in names}
    atoms = request.memory.list(
        status=None if status == ANY_STATUS else status,
        limit=PAGE_SIZE + 1,
        offset=offset,
        **filters,
        as_of=query.get("as_of") or None,
        known_at=query.get("known_at") or None,
    )
    counts = request.memory.upkeep.stats()
    context = {
        "atoms": atoms[:PAGE_SIZE],
        "more": len(atoms) > PAGE_SIZE,
        "offset": offset,
        "page": PAGE_SIZE,
        "status": status,
        "query": query,
        "statuses": (*Status, ANY_STATUS),
        "kinds": sorted(counts["by_kind"]),
        "memory_types": tuple(MemoryType),
        "topics": request.memory.topics(MAX_TOPICS),
        "filter_query": _filter_query(request),
    }
    return request.render("browse.html", context, fragment="_list.html")


def _filter_query(request: PageRequest) -> str:
    """Return the filters as a query string, for the links to other pages of the list."""
    return urlencode([(name, value) for name in _FILTERS if (value := request.query.get(name))])
