"""Connections that take their time: a head that does not come, and more connections than there is room for.

Whoever opens a thousand connections and says nothing on them must not keep anybody else waiting. A connection that has
not sent a whole head in time is closed; where there are too many, the one that has kept us waiting longest makes way.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from uvicorn.protocols.http.h11_impl import H11Protocol

from lamina.http.headers import SECURITY
from lamina.http.problem import MEDIA_TYPE, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD_SECONDS = 5.0
"""How long a whole head may take, from the first moment or since the last answer."""
MOST_CONNECTIONS = 512
SPARE_FILES = 256
"""How many files a store and its models need beside connections."""


class Connection(H11Protocol):
    """One connection that has to come to the point."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            _make_room(each for each in self.connections if isinstance(each, Connection))
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_answering and self._waiting is None:
            self._wait_for_head()
        super().data_received(data)
        if self._is_answering:
            self._stop_waiting()

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
    def waiting_since(self) -> float | None:
        """Since when a head is waited for, by the loop's clock; None while a request is answered."""
        return self._waiting.when() if self._waiting is not None else None

    def cut(self) -> None:
        """End the connection at once."""
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


def _make_room(connections: Iterable[Connection]) -> None:
    """Cut the connection that has kept us waiting longest; without one, all are at work and the youngest goes."""
    found = list(connections)
    idle = [each for each in found if each.waiting_since is not None]
    least = min(idle, key=lambda each: each.waiting_since or 0.0, default=None)
    if least is not None:
        least.cut()
    elif found:
        found[-1].cut()


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
