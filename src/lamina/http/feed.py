"""The change feed: the commits of a scope as server-sent events, resumable after a disconnect.

The journal is polled once per scope for all its listeners. Events carry positions, verbs and ids; content is read with
the atom.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from lamina.documents import entry_document
from lamina.errors import LaminaError
from lamina.http.journal import after, position

if TYPE_CHECKING:
    from lamina.access import Caller, House
    from lamina.atom.scope import Scope
    from lamina.memory import Memory
    from lamina.store.base import Entry

logger = logging.getLogger("lamina.http")

EVERY = 0.25
BEAT = 15.0
"""Seconds between two polls of the journal, and between two heartbeats of an idle stream."""
MOST_WAITING = 1000
"""Commits queued for one listener; a slower one is disconnected and can resume."""
MOST_LISTENERS = 200


class _Sign(Enum):
    SILENT = 0
    ENDED = 1


class _Listener:
    """The events queued for one client."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Entry | _Sign] = asyncio.Queue()
        self._ended = False

    def tell(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if self._queue.qsize() >= MOST_WAITING:
                self.end()
            if self._ended:
                return
            self._queue.put_nowait(entry)

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self._queue.put_nowait(_Sign.ENDED)

    async def next(self, seconds: float) -> Entry | _Sign:
        try:
            async with asyncio.timeout(seconds):
                return await self._queue.get()
        except TimeoutError:
            return _Sign.SILENT


@dataclass(slots=True)
class _Watch:
    """One scope with listeners. `started`: the journal position is known, so no later commit is missed."""

    task: asyncio.Task[None] | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    listeners: set[_Listener] = field(default_factory=set)


class Feed:
    """The listeners of every scope. All state belongs to the event loop; only the journal is read in threads."""

    def __init__(self, house: House, every: float = EVERY, beat: float = BEAT) -> None:
        self._house, self._every, self._beat = house, every, beat
        self._watches: dict[Scope, _Watch] = {}
        self._over = False
        self.looks = 0
        """How often the journal was polled."""

    @property
    def listeners(self) -> int:
        """The number of listeners."""
        return sum(len(watch.listeners) for watch in self._watches.values())

    @property
    def is_full(self) -> bool:
        """Whether no further listener is accepted."""
        return self._over or self.listeners >= MOST_LISTENERS

    def close(self) -> None:
        """End every stream; clients can resume where they were."""
        self._over = True
        for watch in self._watches.values():
            for listener in watch.listeners:
                listener.end()

    async def stream(self, caller: Caller, since: int | None, *, reasons: bool = False) -> AsyncIterator[bytes]:
        """Yield the events after a position, or from now on, until the stream is closed."""
        memory = self._house.seat(caller)
        async with self._joined(caller.scope) as listener:
            last = since if since is not None else await run_in_threadpool(position, memory)
            yield f"retry: 2000\n: from {last}\n\n".encode()
            batches = after(memory, last)
            while (missed := await run_in_threadpool(next, batches, None)) is not None and self._is_welcome(caller):
                yield b"".join(event(entry, reasons=reasons) for entry in missed)
                last = missed[-1].seq if missed else last
            while True:
                item = await listener.next(self._beat)
                if item is _Sign.ENDED or not self._is_welcome(caller):
                    return
                if item is _Sign.SILENT:
                    yield b": alive\n\n"
                elif not isinstance(item, _Sign) and item.seq > last:
                    last = item.seq
                    yield event(item, reasons=reasons)

    def _is_welcome(self, caller: Caller) -> bool:
        """Return whether the caller's token or session is still valid; otherwise its streams end."""
        return self._house.tokens.welcomes(caller)

    @asynccontextmanager
    async def _joined(self, scope: Scope) -> AsyncIterator[_Listener]:
        watch = self._watches.setdefault(scope, _Watch())
        listener = _Listener()
        watch.listeners.add(listener)
        if watch.task is None:
            watch.task = asyncio.create_task(self._watch(scope, watch))
        if self._over:
            listener.end()
        try:
            await watch.begun.wait()
            yield listener
        finally:
            watch.listeners.discard(listener)
            if not watch.listeners:
                watch.task.cancel()
                if self._watches.get(scope) is watch:
                    del self._watches[scope]

    async def _watch(self, scope: Scope, watch: _Watch) -> None:
        memory = self._house.memory.seat(scope)
        last: int | None = None
        try:
            while True:
                try:
                    self.looks += 1
                    last, entries = await run_in_threadpool(_look, memory, last)
                except LaminaError as error:
                    logger.warning("reading the journal failed and will be retried: %s", type(error).__name__)
                    entries = ()
                if last is not None:
                    watch.begun.set()
                for listener in watch.listeners:
                    listener.tell(entries)
                await asyncio.sleep(self._every)
        finally:  # without polling no listener would get further events
            watch.begun.set()
            for listener in watch.listeners:
                listener.end()


def event(entry: Entry, *, reasons: bool = False) -> bytes:
    """Return a commit as an event; its position is the id. Reasons may quote content, so they are off by default."""
    data = entry_document(entry).data()
    if not reasons:
        del data["reason"]
    return f"id: {entry.seq}\nevent: commit\ndata: {json.dumps(data)}\n\n".encode()


def _look(seat: Memory, last: int | None) -> tuple[int, Sequence[Entry]]:
    """Return the journal's position and the commits since the last poll."""
    now = position(seat)
    if last is None or now <= last:
        return now, ()
    entries = seat.journal(last)
    return (entries[-1].seq if entries else now), entries
