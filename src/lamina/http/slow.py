"""Limits for slow and idle connections.

A connection that does not send a complete head in time, or does not read its response, is closed. If there are too many
connections, the one that has kept the server waiting longest is closed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from lamina.http.headers import SECURITY
from lamina.http.problem import MEDIA_TYPE, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD_SECONDS = 5.0
"""Time for a complete request head, from the connection or from the last response."""
READ_SECONDS = 30.0
"""Time for which a response may stay unread while more of it is waiting; a feed can be resumed."""
MOST_CONNECTIONS = 512
SPARE_FILES = 256
"""Open files that a store and its models need beside connections."""


class Connection(H11Protocol):
    """A connection with time limits."""

    max_connections: ClassVar[int] = MOST_CONNECTIONS
    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            self._make_room()
        self._since = self.loop.time()
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_answering and self._waiting is None:
            self._wait_for_head()
        super().data_received(data)
        if self._is_answering:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._since = self.loop.time()
        self._unread = self.loop.call_later(READ_SECONDS, self.cut)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; a client that reads nothing is aborted a little later."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP with a problem and the same headers as everything else."""
        problem = Problem(400, "BadRequest", "not a valid HTTP request")
        body = problem.body()
        headers = [*SECURITY, (b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close")]
        lines = [
            b"HTTP/1.1 400 Bad Request",
            *(b"%s: %s" % pair for pair in headers),
            b"content-length: %d" % len(body),
        ]
        self.transport.write(b"\r\n".join([*lines, b"", body]))
        self.transport.close()

    @property
    def kept_waiting_since(self) -> float | None:
        """The loop time since which the client has to send or read; None while the server is working."""
        is_server_working = self._is_answering and not self.cycle.more_body and not self.flow.write_paused
        return None if is_server_working else self._since

    def cut(self) -> None:
        """Abort the connection immediately."""
        self._since = None
        self._stop_waiting()
        self.transport.abort()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_head(self) -> None:
        self._waiting = self.loop.call_later(HEAD_SECONDS, self.cut)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _make_room(self) -> None:
        """Close the connection that has kept the server waiting longest, or this one if all others are being served."""
        others = (
            connection
            for connection in self.connections
            if isinstance(connection, Connection) and connection is not self
        )
        (_longest(others) or self).cut()


def _longest(connections: Iterable[Connection]) -> Connection | None:
    idle = [(since, connection) for connection in connections if (since := connection.kept_waiting_since) is not None]
    return min(idle, key=lambda pair: pair[0])[1] if idle else None


def connections(room: int) -> type[Connection]:
    """Return a connection class with a limit on the number of connections."""
    return type("Connection", (Connection,), {"max_connections": room})


def raise_limits() -> int:
    """Raise the limit of open files as far as allowed; return how many connections that permits."""
    try:
        import resource
    except ImportError:  # a platform without such limits
        return MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = 8 * MOST_CONNECTIONS + SPARE_FILES
    allowed = target if hard == resource.RLIM_INFINITY else min(hard, target)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
            soft = allowed
        except (OSError, ValueError):
            pass
    available = MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else soft - SPARE_FILES
    return max(1, min(MOST_CONNECTIONS, available))
