"""Subscriptions: clients are notified when commits change what they may read.

Every listener follows the journal with its own memory, so that no client learns of a commit it may not see.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import mcp.types as types
from mcp.server import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from lamina.errors import Refused, StoreError
from lamina.logs import wordless
from lamina.mcp.listing import ATOM, INBOX, JOURNAL, PROFILE

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.store.base import Entry

logger = logging.getLogger("lamina.mcp")

Context = ServerRequestContext[Any, Any]
Wanted = types.SubscriptionsListenRequestParams

EVERY = 1.0
"""Seconds between two polls of the journal."""
MOST_LISTENERS = 64
_WAITS = frozenset({"constrained", "challenged"})


Take = Callable[[], "Memory"]
"""Returns the listener's memory, or raises Refused once the listener is no longer authorised."""


class Listeners:
    """The open subscriptions."""

    def __init__(self, every: float = EVERY, most: int = MOST_LISTENERS) -> None:
        self._every, self._most = every, most
        self._here: set[ListenHandler] = set()

    async def serve(self, context: Context, params: Wanted, take: Take) -> types.SubscriptionsListenResult:
        """Notify one listener of changes until it disconnects, loses its authorisation, or all streams are closed."""
        if len(self._here) >= self._most:
            raise MCPError(types.INTERNAL_ERROR, f"{self._most} clients listen already; poll the resources instead")
        bus = InMemorySubscriptionBus()
        handler = ListenHandler(bus)
        self._here.add(handler)
        try:
            since = await anyio.to_thread.run_sync(lambda: _newest(take()))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._follow, take, since, bus, handler)
                result = await handler(context, params)
                tasks.cancel_scope.cancel()
            return result
        finally:
            self._here.discard(handler)

    def close(self) -> None:
        """End every stream; clients may read again and subscribe again."""
        for handler in self._here:
            handler.close()

    async def _follow(self, take: Take, since: int, bus: InMemorySubscriptionBus, handler: ListenHandler) -> None:
        while True:
            await anyio.sleep(self._every)
            try:
                entries = await anyio.to_thread.run_sync(lambda at: take().journal(at), since)
            except StoreError as error:
                logger.warning("reading the journal failed, listeners are notified later: %s", wordless(error))
                continue
            except Refused:
                handler.close()
                return
            since = entries[-1].seq if entries else since
            for uri in changed(entries):
                await bus.publish(ResourceUpdated(uri))


def changed(entries: Iterable[Entry]) -> list[str]:
    """Return the URIs of the resources that these commits changed."""
    uris: dict[str, None] = {}
    for entry in entries:
        uris |= {JOURNAL: None, PROFILE: None}
        for change in entry.changes:
            uris[ATOM.format(id=change.atom_id)] = None
            if _WAITS & {change.new_status, change.old_status or change.new_status}:
                uris[INBOX] = None
    return list(uris)


def _newest(memory: Memory) -> int:
    return max((entry.seq for entry in memory.journal(limit=1)), default=0)
