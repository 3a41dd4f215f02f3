"""MCP over HTTP as it is served: a real vault, the real gate, a real socket."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_client import ERAS, Agent
from starlette.routing import Route

import lamina
from lamina.access import RateLimits, Right, ServedMemory
from lamina.atom.provenance import Origin
from lamina.http.app import make_api, secure_app
from lamina.mcp.http_transport import McpApp
from lamina.server import ApiServer, make_uvicorn_config

T = TypeVar("T")

NO_RATE_LIMIT = 1_000_000


@dataclass(frozen=True)
class LiveMcpServer:
    """A server that runs."""

    house: ServedMemory
    app: McpApp
    url: str

    def token(
        self, name: str, right: Right = Right.WRITE, scope: str = "org:local", origin: Origin = Origin.AGENT
    ) -> str:
        return self.house.tokens.create(name, scope, right, origin)[1]

    def run_agent(self, token: str, work: Callable[[Agent], Awaitable[T]], era: str = ERAS[-1]) -> T:
        """Let an agent do its work."""

        async def visited() -> T:
            async with self.agent(token, era) as agent:
                return await work(agent)

        return anyio.run(visited)

    def agent(self, token: str, era: str = ERAS[-1]) -> _Connected:
        return _Connected(self.url, token, era)


class _Connected:
    """A client with a token, connected for as long as it is entered."""

    def __init__(self, url: str, token: str, era: str) -> None:
        self._http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30)
        self._client = Client(streamable_http_client(url, http_client=self._http), mode=era, read_timeout_seconds=30)

    async def __aenter__(self) -> Agent:
        return Agent(await self._client.__aenter__())

    async def __aexit__(self, *error: object) -> None:
        await self._client.__aexit__(*error)  # type: ignore[arg-type]
        await self._http.aclose()


@contextmanager
def run_mcp_server(folder: Path, *, budgets: RateLimits | None = None) -> Iterator[LiveMcpServer]:
    """A server for as long as this lasts."""
    memory = lamina.open(folder, watch=False)
    served = ServedMemory.for_memory(memory, budgets or RateLimits(NO_RATE_LIMIT, NO_RATE_LIMIT))
    api, app = make_api(served), McpApp(served)
    api.router.routes.append(Route("/mcp", app))
    api.router.lifespan_context = lambda _: app.running()
    listener = socket.create_server(("127.0.0.1", 0))
    server = ApiServer(make_uvicorn_config(secure_app(api)))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
    thread.start()
    try:
        yield LiveMcpServer(served, app, f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
    finally:
        app.close_streams()
        server.should_exit = True
        thread.join(20)
        listener.close()
        memory.close()
        assert not thread.is_alive(), "the server did not end"
