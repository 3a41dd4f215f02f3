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

from lamina.access.principal import Right
from lamina.errors import Refused
from lamina.mcp.server import make_server
from lamina.mcp.subscriptions import Subscriptions

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from lamina.access.principal import Principal
    from lamina.access.served_memory import ServedMemory
    from lamina.mcp.client_request import ClientRequest
    from lamina.memory import Memory

MAX_BODY_BYTES = 1024 * 1024
_NO_CALLER = {
    "type": "urn:lamina:error:NoCaller",
    "title": "Unauthorized",
    "status": 401,
    "detail": "the request has no caller; mount the app behind the security middleware",
}


class McpApp:
    """The ASGI app: mount it behind the security middleware; serve it inside `running()`, which may be entered once."""

    def __init__(self, served_memory: ServedMemory) -> None:
        self._served_memory, self._subscriptions = served_memory, Subscriptions()
        server = make_server(self._memory_for, subscriptions=self._subscriptions)
        self._manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=MAX_BODY_BYTES)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return the context that must be open while the app serves."""
        return self._manager.run()

    def close_streams(self) -> None:
        """End every stream because the server is shutting down."""
        self._subscriptions.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if (scope.get("state") or {}).get("caller") is None:
            body = json.dumps(_NO_CALLER).encode()
            await Response(body, 401, media_type="application/problem+json")(scope, receive, send)
        elif scope["method"] != "POST":
            # Without sessions there is nothing to stream or to end; the protocol allows 405 here.
            await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
        else:
            await self._manager.handle_request(scope, receive, send)

    def _memory_for(self, request: ClientRequest) -> Memory:
        """Return the caller's memory. The middleware counted the request as a read; writes are counted here."""
        caller = request.caller
        if caller is None or not self._served_memory.tokens.is_authorised(caller):
            raise Refused("the token of this request is not valid; it may have been revoked")
        if request.is_write:
            self._check_write(caller)
        return self._served_memory.memory_for(caller)

    def _check_write(self, caller: Principal) -> None:
        if not caller.may(Right.WRITE):
            raise Refused(f"{caller.name} may {caller.right}; this needs a token with the right to {Right.WRITE}")
        wait = self._served_memory.rate_limiter.take(f"{caller.name}/{caller.token}", write=True)
        if wait:
            raise Refused(f"{caller.name} exceeded the limit of writes per minute; try again in {ceil(wait)} seconds")
