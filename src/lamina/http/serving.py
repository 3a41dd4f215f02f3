"""How uvicorn serves this: our connections, no line in a log for what people ask, and an end that ends streams too."""

from __future__ import annotations

import socket

import uvicorn
from anyio.to_thread import current_default_thread_limiter

from lamina.http import slow
from lamina.http.gate import Gate

PATIENCE = 5
"""Seconds for which requests that are being answered are waited for at the end."""
THREADS = 16
"""Requests that are worked on at once; more would only take turns, and all of them be late."""


def serving(gate: Gate) -> uvicorn.Config:
    """The settings that go with this API; where it listens is for whoever hands over the sockets."""
    return uvicorn.Config(
        gate, http=slow.connections(slow.raise_limits()), ws="none", loop="asyncio", lifespan="on", access_log=False,
        log_config=None, server_header=False, proxy_headers=False, backlog=2048, timeout_keep_alive=5,
        timeout_graceful_shutdown=PATIENCE,
    )  # fmt: skip


class Server(uvicorn.Server):
    """A server that first tells its streams to end, and only then waits for what is still being answered."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        current_default_thread_limiter().total_tokens = THREADS
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        gate = self.config.app
        if isinstance(gate, Gate):
            gate.end()
        await super().shutdown(sockets)
        if isinstance(gate, Gate):
            await gate.settle(PATIENCE)
