"""A request to the server: its caller, and whether it changes anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from lamina.access.principal import Principal
    from lamina.memory import Memory

_MAX_NAME_LENGTH = 60
_RESERVED_NAMES = frozenset({"human", "lamina"})
"""Names that the journal uses for a person and for lamina itself; no client may use them."""


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """A request. `caller` is set by the security middleware; `client_name` is the client's claim and proves nothing."""

    caller: Principal | None
    client_name: str
    is_write: bool


MemoryProvider = Callable[[ClientRequest], "Memory"]
"""Returns the memory as a client may use it, or raises Refused; may block, so it is called in a worker thread."""


def make_client_request(context: ServerRequestContext[Any, Any], *, is_write: bool) -> ClientRequest:
    """Return the client request of an MCP request."""
    params = context.session.client_params
    name = params.client_info.name if params is not None else ""
    return ClientRequest(
        request_caller(context.request), _avoid_reserved_name(_printable_name(name)) or "agent", is_write
    )


def request_caller(request: Any) -> Principal | None:
    """Return the caller that the security middleware set; None on stdio, which has no middleware."""
    scope = getattr(request, "scope", None) or {}
    state = scope.get("state") or {}
    caller: Principal | None = state.get("caller")
    return caller


def _avoid_reserved_name(name: str) -> str:
    return f"client {name}" if name.casefold() in _RESERVED_NAMES else name


def _printable_name(name: str) -> str:
    """Return a printable name that fits on a line of the journal."""
    printable = "".join(char for char in name if char.isprintable())
    return " ".join(printable.split())[:_MAX_NAME_LENGTH].strip()
