"""MCP over streamable HTTP, for many clients on one vault. Every request is independent.

The security middleware in front checks host, origin and token and sets the caller; a request without a caller is
refused.
"""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from math import ceil
from typing import TYPE_CHECKING

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response

from lamina.access.caller import Right
from lamina.errors import Refused
from lamina.mcp.listening import Listeners
from lamina.mcp.server import make_server

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from lamina.access.caller import Caller
    from lamina.access.house import House
    from lamina.mcp.visit import Visit
    from lamina.memory import Memory

LARGEST_BODY = 1024 * 1024
_NOBODY = {
    "type": "urn:lamina:error:NoCaller",
    "title": "Unauthorized",
    "status": 401,
    "detail": "the request has no caller; mount the app behind the security middleware",
}


class McpApp:
    """The ASGI app. Serve it inside `running()`, which may be entered once."""

    def __init__(self, house: House) -> None:
        self._house, self._listeners = house, Listeners()
        server = make_server(self._seat, listeners=self._listeners)
        self._manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=LARGEST_BODY)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return the context that must be open while the app serves."""
        return self._manager.run()

    def end(self) -> None:
        """End every stream because the server is shutting down."""
        self._listeners.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if (scope.get("state") or {}).get("caller") is None:
            body = json.dumps(_NOBODY).encode()
            await Response(body, 401, media_type="application/problem+json")(scope, receive, send)
        elif scope["method"] != "POST":
            # Without sessions there is nothing to stream or to end; the protocol allows 405 here.
            await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
        else:
            await self._manager.handle_request(scope, receive, send)

    def _seat(self, visit: Visit) -> Memory:
        """Return the caller's memory. The middleware counted the request as a read; writes are counted here."""
        caller = visit.caller
        if caller is None or not self._house.tokens.welcomes(caller):
            raise Refused("the token of this request is not valid; it may have been revoked")
        if visit.writes:
            self._check_write(caller)
        return self._house.seat(caller)

    def _check_write(self, caller: Caller) -> None:
        if not caller.may(Right.WRITE):
            raise Refused(f"{caller.name} may {caller.right}; this needs a token with the right to {Right.WRITE}")
        wait = self._house.budgets.take(f"{caller.name}/{caller.token}", write=True)
        if wait:
            raise Refused(f"{caller.name} exceeded the limit of writes per minute; try again in {ceil(wait)} seconds")


def mcp_app(house: House) -> McpApp:
    """Return the MCP app for a served memory: mount it behind the security middleware, and keep `running()` open."""
    return McpApp(house)
