"""Opens a vault in the background: a host of `lamina mcp` gets its list of tools before the engine is loaded."""

from __future__ import annotations

import logging
import sys
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lamina.errors import InvalidInput, Refused, StoreBusy, StoreError, StoreTooNew
from lamina.logs import wordless
from lamina.mcp.loading import load
from lamina.mcp.trouble import Closed
from lamina.vault import home

if TYPE_CHECKING:
    from lamina.mcp.visit import Visit
    from lamina.memory import Memory

logger = logging.getLogger("lamina.mcp")

SOON = 0.05
"""Seconds to wait before opening, so that a list that is being sent is not delayed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which vault and scope, whether the client speaks for a person, and whether it may write."""

    folder: Path
    scope: str | None = None
    human: bool = False
    read_only: bool = False


class Opening:
    """Opens a vault once, when first needed or shortly after `open_soon`; every caller waits for the same opening."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._turn = threading.Lock()
        self._opened: Future[Memory] | None = None
        self._timer: threading.Timer | None = None

    @property
    def reads_only(self) -> bool:
        """Whether the server was started read-only."""
        return self._wanted.read_only

    def soon(self) -> None:
        """Start opening in the background, if there is a vault; a missing vault is created when it is needed."""
        with self._turn:
            if self._timer is None and home.is_vault(self._wanted.folder):
                self._timer = threading.Timer(SOON, self._begun)
                self._timer.daemon = True
                self._timer.start()

    def seat(self, visit: Visit) -> Memory:
        """Return the memory as this client may use it; Refused for a write on a read-only server."""
        if visit.writes and self._wanted.read_only:
            raise Refused("this server was started with --read-only; only tools that read may be called")
        actor, ceiling = ("human", "human") if self._wanted.human else (visit.client, "agent")
        return self._begun().result().seat(self._wanted.scope, actor=actor, ceiling=ceiling)

    def close(self) -> None:
        """Close the vault; an opening that is in progress is waited for."""
        with self._turn:
            timer, future = self._timer, self._opened
        if timer is not None:
            timer.cancel()
        if future is not None and future.exception() is None:
            future.result().close()

    def _begun(self) -> Future[Memory]:
        with self._turn:
            future, is_first = self._opened, self._opened is None
            if future is None:
                future = self._opened = Future()
        if is_first:
            self._open(future)
        return future

    def _open(self, opened: Future[Memory]) -> None:
        try:
            opened.set_result(self._memory())
        except BaseException as error:
            # Waiting callers get the error; the next one tries again, because a person may have fixed it.
            with self._turn:
                self._opened = None
            opened.set_exception(error)
            if not isinstance(error, Exception):
                raise

    def _memory(self) -> Memory:
        folder, options = self._wanted.folder, self._wanted
        if options.read_only and not home.is_vault(folder):
            raise Closed(f"there is no vault in {folder}; create one with `lamina init {folder}`")
        load()
        from lamina.memory import Memory

        actor = "human" if options.human else "agent"
        try:
            memory = Memory(folder, options.scope, actor=actor, ceiling=actor)
        except InvalidInput as error:  # the agent's arguments are not the cause
            raise Closed(f"the vault cannot be opened: {error}") from error
        except (StoreBusy, StoreTooNew):
            raise
        except StoreError as error:
            logger.error("the vault cannot be opened: %s", wordless(error))
            raise Closed(
                f"the vault in {folder} cannot be opened; lamina needs permission to read and write there"
            ) from error
        if memory.created:
            sys.stderr.write(f"created a vault in {folder}\n")
        return memory
