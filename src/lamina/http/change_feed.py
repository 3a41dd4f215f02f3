"""The change feed: the commits of a scope as server-sent events, resumable after a disconnect.

The journal is polled once per scope for all its listeners. Events carry positions, verbs and ids; content is read with
the atom.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from lamina.documents.journal import entry_document
from lamina.errors import LaminaError

if TYPE_CHECKING:
    from lamina.access import Principal, ServedMemory
    from lamina.atom.provenance import Scope
    from lamina.memory import Memory
    from lamina.store.base import JournalEntry

logger = logging.getLogger("lamina.http")

POLL_SECONDS = 0.25
HEARTBEAT_SECONDS = 15.0
"""Seconds between two polls of the journal, and between two heartbeats of an idle stream."""
MAX_QUEUED_COMMITS = 1000
"""Commits queued for one listener; a slower one is disconnected and can resume."""
MAX_LISTENERS = 200
FIRST_BATCH, LARGEST_BATCH = 200, 3200
"""Positions read per batch, doubled each time up to the largest: most may be commits of other scopes."""


class _StreamSignal(Enum):
    TIMEOUT = 0
    CLOSED = 1


class _FeedListener:
    """The events queued for one client."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[JournalEntry | _StreamSignal] = asyncio.Queue()
        self._is_closed = False

    def enqueue(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            if self._queue.qsize() >= MAX_QUEUED_COMMITS:
                self.close()
            if self._is_closed:
                return
            self._queue.put_nowait(entry)

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._queue.put_nowait(_StreamSignal.CLOSED)

    async def next(self, seconds: float) -> JournalEntry | _StreamSignal:
        try:
            async with asyncio.timeout(seconds):
                return await self._queue.get()
        except TimeoutError:
            return _StreamSignal.TIMEOUT


@dataclass(slots=True)
class _ScopeWatch:
    """One scope with listeners. `started`: the journal position is known, so no later commit is missed."""

    task: asyncio.Task[None] | None = None
    started: asyncio.Event = field(default_factory=asyncio.Event)
    listeners: set[_FeedListener] = field(default_factory=set)


class ChangeFeed:
    """The listeners of every scope. All state belongs to the event loop; only the journal is read in threads."""

    def __init__(
        self,
        served_memory: ServedMemory,
        poll_seconds: float = POLL_SECONDS,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        max_listeners: int = MAX_LISTENERS,
    ) -> None:
        self._served_memory, self._max_listeners = served_memory, max_listeners
        self._poll_seconds, self._heartbeat_seconds = poll_seconds, heartbeat_seconds
        self._watches: dict[Scope, _ScopeWatch] = {}
        self._is_closed = False

    @property
    def listeners(self) -> int:
        """The number of listeners."""
        return sum(len(watch.listeners) for watch in self._watches.values())

    @property
    def polled_scopes(self) -> frozenset[Scope]:
        """The scopes whose journal is polled: those with listeners."""
        return frozenset(self._watches)

    @property
    def is_full(self) -> bool:
        """Return whether no further listener is accepted."""
        return self._is_closed or self.listeners >= self._max_listeners

    def close(self) -> None:
        """End every stream; clients can resume where they were."""
        self._is_closed = True
        for watch in self._watches.values():
            for listener in watch.listeners:
                listener.close()

    async def stream(self, caller: Principal, since: int | None, *, reasons: bool = False) -> AsyncIterator[bytes]:
        """Yield the events after a position, or from now on, until the stream is closed."""
        memory = self._served_memory.memory_for(caller)
        async with self._subscribe(caller.scope) as listener:
            last = since if since is not None else await run_in_threadpool(last_position, memory)
            yield f"retry: 2000\n: from {last}\n\n".encode()
            batches = iter_commits_after(memory, last)
            while (missed := await run_in_threadpool(next, batches, None)) is not None and self._is_authorised(caller):
                yield b"".join(format_event(entry, reasons=reasons) for entry in missed)
                last = missed[-1].seq if missed else last
            while True:
                item = await listener.next(self._heartbeat_seconds)
                if item is _StreamSignal.CLOSED or not self._is_authorised(caller):
                    return
                if item is _StreamSignal.TIMEOUT:
                    yield b": alive\n\n"
                elif not isinstance(item, _StreamSignal) and item.seq > last:
                    last = item.seq
                    yield format_event(item, reasons=reasons)

    def _is_authorised(self, caller: Principal) -> bool:
        """Return whether the caller's token or session is still valid; otherwise its streams end."""
        return self._served_memory.tokens.is_authorised(caller)

    @asynccontextmanager
    async def _subscribe(self, scope: Scope) -> AsyncIterator[_FeedListener]:
        watch = self._watches.setdefault(scope, _ScopeWatch())
        listener = _FeedListener()
        watch.listeners.add(listener)
        if watch.task is None:
            watch.task = asyncio.create_task(self._poll_journal(scope, watch))
        if self._is_closed:
            listener.close()
        try:
            await watch.started.wait()
            yield listener
        finally:
            watch.listeners.discard(listener)
            if not watch.listeners:
                watch.task.cancel()
                if self._watches.get(scope) is watch:
                    del self._watches[scope]

    async def _poll_journal(self, scope: Scope, watch: _ScopeWatch) -> None:
        memory = self._served_memory.memory.for_caller(scope)
        last: int | None = None
        try:
            while True:
                try:
                    last, entries = await run_in_threadpool(_read_new_commits, memory, last)
                except LaminaError as error:
                    logger.warning("reading the journal failed and will be retried: %s", type(error).__name__)
                    entries = ()
                if last is not None:
                    watch.started.set()
                for listener in watch.listeners:
                    listener.enqueue(entries)
                await asyncio.sleep(self._poll_seconds)
        finally:  # without polling no listener would get further events
            watch.started.set()
            for listener in watch.listeners:
                listener.close()


def format_event(entry: JournalEntry, *, reasons: bool = False) -> bytes:
    """Return a commit as an event; its position is the id. Reasons may quote content, so they are off by default."""
    data = entry_document(entry).data()
    if not reasons:
        del data["reason"]
    return f"id: {entry.seq}\nevent: commit\ndata: {json.dumps(data)}\n\n".encode()


def _read_new_commits(memory: Memory, last: int | None) -> tuple[int, Sequence[JournalEntry]]:
    """Return the journal's position and the commits since the last poll."""
    now = last_position(memory)
    if last is None or now <= last:
        return now, ()
    entries = memory.journal(last)
    return (entries[-1].seq if entries else now), entries


def last_position(memory: Memory) -> int:
    """Return the position of the last commit in the memory's scopes."""
    return max((entry.seq for entry in memory.journal(limit=1)), default=0)


def iter_commits_after(memory: Memory, since: int) -> Iterator[list[JournalEntry]]:
    """Yield the commits after a position in batches, oldest first, up to the last one at the start."""
    last, size = last_position(memory), FIRST_BATCH
    while since < last:
        yield memory.journal(since, until=since + size)
        since, size = since + size, min(2 * size, LARGEST_BATCH)


def list_commits_after(memory: Memory, since: int, limit: int) -> list[JournalEntry]:
    """Return at most `limit` commits after a position, oldest first."""
    commits: list[JournalEntry] = []
    for batch in iter_commits_after(memory, since):
        commits += batch
        if len(commits) >= limit:
            break
    return commits[:limit]
