"""The list of atoms, narrowed down by what they are."""

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
    """Atoms, newest first."""
    asked, offset = visit.asked, visit.number("offset", 0, 10**7)
    status = asked.get("status") or Status.ACTIVE.value
    chosen = {name: asked.get(name) or None for name in ("kind", "memory_type", "subject", "session_id")}
    found = visit.memory.list(
        status=None if status == ANY else status,
        limit=PAGE + 1,
        offset=offset,
        **chosen,
        as_of=asked.get("as_of") or None,
        known_at=asked.get("known_at") or None,
    )
    counts = visit.memory.stats()
    told = {
        "atoms": found[:PAGE],
        "more": len(found) > PAGE,
        "offset": offset,
        "page": PAGE,
        "status": status,
        "asked": asked,
        "statuses": (*Status, ANY),
        "kinds": sorted(counts["by_kind"]),
        "memory_types": tuple(MemoryType),
        "rest": _rest(visit),
    }
    return visit.page("browse.html", told, part="_list.html")


def _rest(visit: Visit) -> str:
    """What is asked besides the place in the list, for the links to other places."""
    return urlencode([(name, value) for name in _ASKED if (value := visit.asked.get(name))])
