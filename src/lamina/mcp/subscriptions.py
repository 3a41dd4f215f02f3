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
from lamina.logs import summarise_error
from lamina.mcp.catalogue import ATOM_URI, INBOX_URI, JOURNAL_URI, PROFILE_URI

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.store.base import JournalEntry

logger = logging.getLogger("lamina.mcp")

Context = ServerRequestContext[Any, Any]
ListenParams = types.SubscriptionsListenRequestParams

POLL_SECONDS = 1.0
"""Seconds between two polls of the journal."""
MAX_LISTENERS = 64
_REVIEW_STATUSES = frozenset({"constrained", "challenged"})


OpenMemory = Callable[[], "Memory"]
"""Returns the listener's memory, or raises Refused once the listener is no longer authorised."""


class Subscriptions:
    """The open subscriptions."""

    def __init__(self) -> None:
        self._handlers: set[ListenHandler] = set()

    async def serve(
        self, context: Context, params: ListenParams, open_memory: OpenMemory
    ) -> types.SubscriptionsListenResult:
        """Notify one listener of changes until it disconnects, loses its authorisation, or all streams are closed."""
        if len(self._handlers) >= MAX_LISTENERS:
            raise MCPError(types.INTERNAL_ERROR, f"{MAX_LISTENERS} clients listen already; poll the resources instead")
        bus = InMemorySubscriptionBus()
        handler = ListenHandler(bus)
        self._handlers.add(handler)
        try:
            since = await anyio.to_thread.run_sync(lambda: _last_position(open_memory()))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._follow, open_memory, since, bus, handler)
                result = await handler(context, params)
                tasks.cancel_scope.cancel()
            return result
        finally:
            self._handlers.discard(handler)

    def close(self) -> None:
        """End every stream; clients may read again and subscribe again."""
        for handler in self._handlers:
            handler.close()

    async def _follow(
        self, open_memory: OpenMemory, since: int, bus: InMemorySubscriptionBus, handler: ListenHandler
    ) -> None:
        while True:
            await anyio.sleep(POLL_SECONDS)
            try:
                entries = await anyio.to_thread.run_sync(lambda at: open_memory().journal(at), since)
            except StoreError as error:
                logger.warning("reading the journal failed, listeners are notified later: %s", summarise_error(error))
                continue
            except Refused:
                handler.close()
                return
            since = entries[-1].seq if entries else since
            for uri in changed_uris(entries):
                await bus.publish(ResourceUpdated(uri))


def changed_uris(entries: Iterable[JournalEntry]) -> list[str]:
    """Return the URIs of the resources that these commits changed."""
    uris: dict[str, None] = {}
    for entry in entries:
        uris |= {JOURNAL_URI: None, PROFILE_URI: None}
        for change in entry.changes:
            uris[ATOM_URI.format(id=change.atom_id)] = None
            if _REVIEW_STATUSES & {change.new_status, change.old_status or change.new_status}:
                uris[INBOX_URI] = None
    return list(uris)


def _last_position(memory: Memory) -> int:
    return max((entry.seq for entry in memory.journal(limit=1)), default=0)
