"""The change feed: every commit of a scope as it happens, as server-sent events that go on where they were cut.

However many listen to a scope, the journal is asked once. What is sent are positions, verbs and ids; whoever wants the
words asks for the atom.
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
"""Seconds between two looks at the journal, and after which a silent stream says that it is still there."""
MOST_WAITING = 1000
"""Commits that may wait for one listener; whoever is slower is cut off, and comes back where it was."""
MOST_LISTENERS = 200


class _Sign(Enum):
    SILENT = 0
    ENDED = 1


class _Listener:
    """What waits to be sent to one of them."""

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
    """One scope that is listened to. `begun`: the journal's position was noted, so nothing after it is missed."""

    task: asyncio.Task[None] | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    listeners: set[_Listener] = field(default_factory=set)


class Feed:
    """Who listens to what. All of it happens on the server's loop; only the journal is read in threads."""

    def __init__(self, house: House, every: float = EVERY, beat: float = BEAT) -> None:
        self._house, self._every, self._beat = house, every, beat
        self._watches: dict[Scope, _Watch] = {}
        self._over = False
        self.looks = 0
        """How often the journal was looked at."""

    @property
    def listeners(self) -> int:
        """How many listen."""
        return sum(len(watch.listeners) for watch in self._watches.values())

    @property
    def is_full(self) -> bool:
        """Whether there is no room for one more."""
        return self._over or self.listeners >= MOST_LISTENERS

    def close(self) -> None:
        """End every stream; whoever listened comes back where it was."""
        self._over = True
        for watch in self._watches.values():
            for listener in watch.listeners:
                listener.end()

    async def stream(self, caller: Caller, since: int | None, *, reasons: bool = False) -> AsyncIterator[bytes]:
        """The events after a position, or from this moment on, until somebody ends it."""
        seat = self._house.seat(caller)
        async with self._joined(caller.scope) as listener:
            last = since if since is not None else await run_in_threadpool(position, seat)
            yield f"retry: 2000\n: from {last}\n\n".encode()
            pieces = after(seat, last)
            while (missed := await run_in_threadpool(next, pieces, None)) is not None and self._is_welcome(caller):
                yield b"".join(event(each, reasons=reasons) for each in missed)
                last = missed[-1].seq if missed else last
            while True:
                told = await listener.next(self._beat)
                if told is _Sign.ENDED or not self._is_welcome(caller):
                    return
                if told is _Sign.SILENT:
                    yield b": alive\n\n"
                elif not isinstance(told, _Sign) and told.seq > last:
                    last = told.seq
                    yield event(told, reasons=reasons)

    def _is_welcome(self, caller: Caller) -> bool:
        """A token that was revoked or ran out, or a session that was left, ends the streams opened with it."""
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
        seat = self._house.memory.seat(scope)
        last: int | None = None
        try:
            while True:
                try:
                    self.looks += 1
                    last, entries = await run_in_threadpool(_look, seat, last)
                except LaminaError as error:
                    logger.warning("the journal will be looked at again: %s", type(error).__name__)
                    entries = ()
                if last is not None:
                    watch.begun.set()
                for listener in watch.listeners:
                    listener.tell(entries)
                await asyncio.sleep(self._every)
        finally:  # whatever ended it: nobody goes on listening to what nobody looks at
            watch.begun.set()
            for listener in watch.listeners:
                listener.end()


def event(entry: Entry, *, reasons: bool = False) -> bytes:
    """A commit as an event: its position is the event's id. Reasons may quote what was said, so they are left out."""
    told = entry_document(entry).data()
    if not reasons:
        del told["reason"]
    return f"id: {entry.seq}\nevent: commit\ndata: {json.dumps(told)}\n\n".encode()


def _look(seat: Memory, last: int | None) -> tuple[int, Sequence[Entry]]:
    """Where the journal is, and what was committed since the last look."""
    now = position(seat)
    if last is None or now <= last:
        return now, ()
    entries = seat.journal(last)
    return (entries[-1].seq if entries else now), entries
