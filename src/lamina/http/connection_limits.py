"""Limits for slow and idle connections.

A connection that does not send a complete head in time, or does not read its response, is closed. If there are too many
connections, the one that has kept the server waiting longest is closed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from lamina.http.problem import MEDIA_TYPE, ProblemDetails
from lamina.http.response_sender import SECURITY_HEADERS

if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD_SECONDS = 5.0
"""Time for a complete request head, from the connection or from the last response."""
READ_SECONDS = 30.0
"""Time for which a response may stay unread while more of it is waiting; a feed can be resumed."""
MAX_CONNECTIONS = 512
SPARE_FILES = 256
"""Open files that a store and its models need beside connections."""


class LimitedConnection(H11Protocol):
    """A connection with time limits."""

    max_connections: ClassVar[int] = MAX_CONNECTIONS
    head_seconds: ClassVar[float] = HEAD_SECONDS
    read_seconds: ClassVar[float] = READ_SECONDS
    _head_timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None
    _waiting_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            self._evict_slowest()
        self._waiting_since = self.loop.time()
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_answering and self._head_timer is None:
            self._start_head_timer()
        super().data_received(data)
        if self._is_answering:
            self._stop_head_timer()

    def on_response_complete(self) -> None:
        self._waiting_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._waiting_since = self.loop.time()
        self._unread_timer = self.loop.call_later(self.read_seconds, self.cut_off)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; a client that reads nothing is aborted a little later."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(self.head_seconds, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP with a problem and the same headers as everything else."""
        problem = ProblemDetails(400, "BadRequest", "not a valid HTTP request")
        body = problem.body()
        headers = [*SECURITY_HEADERS, (b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close")]
        lines = [
            b"HTTP/1.1 400 Bad Request",
            *(b"%s: %s" % pair for pair in headers),
            b"content-length: %d" % len(body),
        ]
        self.transport.write(b"\r\n".join([*lines, b"", body]))
        self.transport.close()

    @property
    def client_idle_since(self) -> float | None:
        """The loop time since which the client has to send or read; None while the server is working."""
        is_server_working = self._is_answering and not self.cycle.more_body and not self.flow.write_paused
        return None if is_server_working else self._waiting_since

    def cut_off(self) -> None:
        """Abort the connection immediately."""
        self._waiting_since = None
        self._stop_head_timer()
        self.transport.abort()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(self.head_seconds, self.cut_off)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _evict_slowest(self) -> None:
        """Close the connection that has kept the server waiting longest, or this one if all others are being served."""
        others = (
            connection
            for connection in self.connections
            if isinstance(connection, LimitedConnection) and connection is not self
        )
        (_longest_waiting(others) or self).cut_off()


def _longest_waiting(connections: Iterable[LimitedConnection]) -> LimitedConnection | None:
    idle = [(since, connection) for connection in connections if (since := connection.client_idle_since) is not None]
    return min(idle, key=lambda pair: pair[0])[1] if idle else None


def make_connection_class(
    max_connections: int, head_seconds: float = HEAD_SECONDS, read_seconds: float = READ_SECONDS
) -> type[LimitedConnection]:
    """Return a connection class with these limits."""
    limits = {"max_connections": max_connections, "head_seconds": head_seconds, "read_seconds": read_seconds}
    return type("Connection", (LimitedConnection,), limits)


def raise_file_limit() -> int:
    """Raise the limit of open files as far as allowed; return how many connections that permits."""
    try:
        import resource
    except ImportError:  # a platform without such limits
        return MAX_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = 8 * MAX_CONNECTIONS + SPARE_FILES
    allowed = target if hard == resource.RLIM_INFINITY else min(hard, target)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
            soft = allowed
        except (OSError, ValueError):
            pass
    available = MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else soft - SPARE_FILES
    return max(1, min(MAX_CONNECTIONS, available))
