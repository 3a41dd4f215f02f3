"""A real server on a real vault, and a client that says exactly what it is told to."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI

import lamina
from lamina.access import RateLimits, Right, ServedMemory
from lamina.atom.provenance import Origin
from lamina.clock import Clock
from lamina.http.app import make_api, secure_app
from lamina.http.change_feed import MAX_LISTENERS, ChangeFeed
from lamina.http.connection_limits import LimitedConnection
from lamina.http.request_body import MAX_SECONDS
from lamina.server import ApiServer, make_app, make_uvicorn_config

NO_RATE_LIMIT = 1_000_000


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


@dataclass
class LiveServer:
    """A server that runs, with what it runs on."""

    house: ServedMemory
    app: FastAPI
    port: int
    near: Path
    handled: list[str] = field(default_factory=list)
    """The path of every request that got as far as the application behind the gate."""

    def ask(
        self,
        method: str,
        target: str,
        token: str | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        host: str | None = None,
    ) -> Reply:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        fields = dict(headers or {})
        sent = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        if sent is not None and "Content-Type" not in fields:
            fields["Content-Type"] = "application/json"
        if token:
            fields["Authorization"] = f"Bearer {token}"
        try:
            line.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            line.putheader("Host", host if host is not None else f"127.0.0.1:{self.port}")
            for name, value in fields.items():
                line.putheader(name, value)
            if sent is not None:
                line.putheader("Content-Length", str(len(sent)))
            line.endheaders(sent)
            reply = line.getresponse()
            return Reply(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
        finally:
            line.close()

    def raw(self, words: bytes, seconds: float = 20.0) -> bytes:
        """Say these very bytes, and hear everything until the server is done."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as line:
            line.sendall(words)
            data = b""
            while piece := line.recv(65536):
                data += piece
            return data

    def token(
        self, name: str, scope: str = "org:local", right: Right = Right.ADMIN, origin: Origin = Origin.HUMAN
    ) -> str:
        return self.house.tokens.create(name, scope, right, origin)[1]

    def remember(self, token: str, content: str, **fields: object) -> str:
        reply = self.ask("POST", "/v1/remember", token, {"content": content, **fields})
        assert reply.status == 200, reply.body
        return str(reply.data["outcomes"][0]["atom"]["id"])


@contextmanager
def run_server(
    folder: Path,
    *,
    budgets: RateLimits | None = None,
    beat: float = 15.0,
    clock: Clock | None = None,
    whole: bool = False,
    max_listeners: int = MAX_LISTENERS,
    body_seconds: float = MAX_SECONDS,
    connection_class: type[LimitedConnection] | None = None,
    **settings: Any,
) -> Iterator[LiveServer]:
    """A server for as long as this lasts; `whole`: with MCP and the pages, as `lamina serve` puts it together."""
    memory = lamina.open(folder / "vault", watch=False, background=False, clock=clock, **settings)
    served = ServedMemory.for_memory(memory, budgets or RateLimits(NO_RATE_LIMIT, NO_RATE_LIMIT))
    gate = (
        make_app(served)
        if whole
        else secure_app(make_api(served, ChangeFeed(served, 0.02, beat, max_listeners)), body_seconds=body_seconds)
    )
    app = gate.app
    assert isinstance(app, FastAPI)
    handled: list[str] = []
    app.add_middleware(_Counting, handled=handled)
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    near = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    near.bind(str(folder / "near.sock"))
    near.listen(64)
    server = ApiServer(make_uvicorn_config(gate, connection_class))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener, near])), daemon=True)
    thread.start()
    try:
        yield LiveServer(served, app, listener.getsockname()[1], folder / "near.sock", handled)
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
        near.close()
        memory.close()
        assert not thread.is_alive(), "the server did not end"


class _Counting:
    """Stands where handlers begin, and notes what gets there."""

    def __init__(self, app: Any, handled: list[str]) -> None:
        self._app, self._handled = app, handled

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self._handled.append(scope["path"])
        await self._app(scope, receive, send)
