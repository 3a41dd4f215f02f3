"""The uvicorn configuration: limited connections, no access log, and a shutdown that also ends streams."""

from __future__ import annotations

import socket

import uvicorn

from lamina.http import slow, threads
from lamina.http.gate import Gate

PATIENCE = 5
"""Seconds to wait for running requests at shutdown."""


def serving(gate: Gate) -> uvicorn.Config:
    """Return the uvicorn configuration for this app; the caller provides the sockets."""
    return uvicorn.Config(
        gate,
        http=slow.connections(slow.raise_limits()),
        ws="none",
        loop="asyncio",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        backlog=2048,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=PATIENCE,
    )


class Server(uvicorn.Server):
    """A uvicorn server that ends its streams first at shutdown and then waits for running requests.

    `max_threads`: requests that are worked on at the same time.
    """

    def __init__(self, config: uvicorn.Config, at_once: int = threads.MANY) -> None:
        super().__init__(config)
        self._at_once = at_once

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        threads.begin(self._at_once)
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        gate = self.config.app
        if isinstance(gate, Gate):
            gate.end()
        await super().shutdown(sockets)
        if isinstance(gate, Gate):
            await gate.settle(PATIENCE)
