"""The uvicorn configuration: limited connections, no access log, and a shutdown that also ends streams."""

from __future__ import annotations

import socket

import uvicorn

from lamina.http import connection_limits, thread_limit
from lamina.http.security_middleware import SecurityMiddleware

SHUTDOWN_SECONDS = 5
"""Seconds to wait for running requests at shutdown."""


def make_uvicorn_config(app: SecurityMiddleware) -> uvicorn.Config:
    """Return the uvicorn configuration for this app; the caller provides the sockets."""
    return uvicorn.Config(
        app,
        http=connection_limits.make_connection_class(connection_limits.raise_file_limit()),
        ws="none",
        loop="asyncio",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        backlog=2048,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


class ApiServer(uvicorn.Server):
    """A uvicorn server that ends its streams first at shutdown and then waits for running requests.

    `max_threads`: requests that are worked on at the same time.
    """

    def __init__(self, config: uvicorn.Config, max_threads: int = thread_limit.MAX_THREADS) -> None:
        super().__init__(config)
        self._max_threads = max_threads

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        thread_limit.set_limit(self._max_threads)
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        gate = self.config.app
        if isinstance(gate, SecurityMiddleware):
            gate.close_streams()
        await super().shutdown(sockets)
        if isinstance(gate, SecurityMiddleware):
            await gate.wait_for_late_requests(SHUTDOWN_SECONDS)
