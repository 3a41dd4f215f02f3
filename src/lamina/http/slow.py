"""Connections that take their time: a head or a body that does not come, an answer that nobody reads, and too many.

Whoever opens a thousand connections and says nothing on them must not keep anybody else waiting. A connection that has
not sent a whole head in time is closed, as is one that leaves what it is sent lying; where there are too many, the one
that has kept us waiting longest makes way.
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
"""How long a whole head may take, from the first moment or since the last answer."""
READ_SECONDS = 30.0
"""How long an answer may lie unread where more of it waits; a feed goes on where it was cut."""
MOST_CONNECTIONS = 512
SPARE_FILES = 256
"""How many files a store and its models need beside connections."""


class Connection(H11Protocol):
    """One connection that has to come to the point."""

    room: ClassVar[int] = MOST_CONNECTIONS
    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.room:
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
        """Closing waits until the other side has read everything; whoever reads nothing is cut off."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP gets a problem like everything else, and the same headers."""
        problem = Problem(400, "BadRequest", "this is no HTTP request")
        body = problem.body()
        told = [*SECURITY, (b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close")]
        lines = [b"HTTP/1.1 400 Bad Request", *(b"%s: %s" % pair for pair in told), b"content-length: %d" % len(body)]
        self.transport.write(b"\r\n".join([*lines, b"", body]))
        self.transport.close()

    @property
    def kept_waiting_since(self) -> float | None:
        """Since when the other side has to send or to read, by the loop's clock; None while it is our turn."""
        is_ours = self._is_answering and not self.cycle.more_body and not self.flow.write_paused
        return None if is_ours else self._since

    def cut(self) -> None:
        """End the connection at once."""
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
        """Cut who has kept us waiting longest; where everybody else is being answered, this one has come too late."""
        others = (
            connection
            for connection in self.connections
            if isinstance(connection, Connection) and connection is not self
        )
        (_longest(others) or self).cut()


def _longest(connections: Iterable[Connection]) -> Connection | None:
    waits = [(since, connection) for connection in connections if (since := connection.kept_waiting_since) is not None]
    return min(waits, key=lambda pair: pair[0])[1] if waits else None


def connections(room: int) -> type[Connection]:
    """Connections of which there are so many at most."""
    return type("Connection", (Connection,), {"room": room})


def raise_limits() -> int:
    """Let this process open as many files as it is allowed to; how many connections there is room for then."""
    try:
        import resource
    except ImportError:  # a platform without such limits
        return MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8 * MOST_CONNECTIONS + SPARE_FILES
    most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    if soft != resource.RLIM_INFINITY and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
        except (OSError, ValueError):
            pass
    room = MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else soft - SPARE_FILES
    return max(1, min(MOST_CONNECTIONS, room))
