"""A request to the server: its caller, and whether it changes anything."""

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
"""Names that the journal uses for a person and for lamina itself; no client may use them."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A request. `caller` is set by the security middleware; `client_name` is the client's claim and proves nothing."""

    caller: Caller | None
    client: str
    writes: bool


Seat = Callable[[Visit], "Memory"]
"""Returns the memory as a client may use it, or raises Refused; may block, so it is called in a worker thread."""


def visit_of(context: ServerRequestContext[Any, Any], *, writes: bool) -> Visit:
    """Return the client request of an MCP request."""
    params = context.session.client_params
    name = params.client_info.name if params is not None else ""
    return Visit(caller_of(context.request), _own(_plain(name)) or "agent", writes)


def caller_of(request: Any) -> Caller | None:
    """Return the caller that the security middleware set; None on stdio, which has no middleware."""
    scope = getattr(request, "scope", None) or {}
    state = scope.get("state") or {}
    caller: Caller | None = state.get("caller")
    return caller


def _own(name: str) -> str:
    return f"client {name}" if name.casefold() in _OURS else name


def _plain(name: str) -> str:
    """Return a printable name that fits on a line of the journal."""
    printable = "".join(char for char in name if char.isprintable())
    return " ".join(printable.split())[:_LONGEST_NAME].strip()
