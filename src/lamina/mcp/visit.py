"""A visit: one request to the server, who it comes from, and whether it changes anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from lamina.access.caller import Caller
    from lamina.memory import Memory

_LONGEST_NAME = 60
_OURS = frozenset({"human", "lamina"})
"""Names the journal has for a person and for lamina itself; no client goes by them."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Who asks: `caller` where a gate let them in, `client` as they call themselves, which proves nothing."""

    caller: Caller | None
    client: str
    writes: bool


Seat = Callable[[Visit], "Memory"]
"""Gives a visitor the memory as they may use it, or raises Refused; may block, so it is called in a worker thread."""


def visit_of(context: ServerRequestContext[Any, Any], *, writes: bool) -> Visit:
    """The visit a request is."""
    params = context.session.client_params
    name = params.client_info.name if params is not None else ""
    return Visit(caller_of(context.request), _own(_plain(name)) or "agent", writes)


def caller_of(request: Any) -> Caller | None:
    """Whom the gate found the request to come from; None on stdio, which has no gate."""
    scope = getattr(request, "scope", None) or {}
    state = scope.get("state") or {}
    found: Caller | None = state.get("caller")
    return found


def _own(name: str) -> str:
    return f"client {name}" if name.casefold() in _OURS else name


def _plain(name: str) -> str:
    """A name that fits a line of the journal."""
    seen = "".join(char for char in name if char.isprintable())
    return " ".join(seen.split())[:_LONGEST_NAME].strip()
