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
from lamina.logs import summarise_error
from lamina.mcp.error_text import Closed
from lamina.mcp.server import load_engine
from lamina.vault import vault_setup

if TYPE_CHECKING:
    from lamina.mcp.client_request import ClientRequest
    from lamina.memory import Memory

logger = logging.getLogger("lamina.mcp")

OPENING_THREAD = "lamina-open-vault"
OPEN_DELAY_SECONDS = 0.05
"""Seconds to wait before opening, so that a list that is being sent is not delayed."""


@dataclass(frozen=True, slots=True)
class VaultOptions:
    """Options of a server: its vault and scope, whether the client speaks for a person, and whether it may write."""

    folder: Path
    scope: str | None = None
    is_human: bool = False
    is_read_only: bool = False


class LazyVault:
    """Opens a vault once, when first needed or shortly after `open_soon`; every caller waits for the same opening."""

    def __init__(self, options: VaultOptions) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._opening: Future[Memory] | None = None
        self._timer: threading.Timer | None = None

    @property
    def is_read_only(self) -> bool:
        """Return whether the server was started read-only."""
        return self._options.is_read_only

    def open_soon(self) -> None:
        """Start opening in the background, if there is a vault; a missing vault is created when it is needed."""
        with self._lock:
            if self._timer is None and vault_setup.is_vault(self._options.folder):
                self._timer = threading.Timer(OPEN_DELAY_SECONDS, self._start_opening)
                self._timer.daemon, self._timer.name = True, OPENING_THREAD
                self._timer.start()

    def memory_for(self, request: ClientRequest) -> Memory:
        """Return the memory as this client may use it; Refused for a write on a read-only server."""
        if request.is_write and self._options.is_read_only:
            raise Refused("this server was started with --read-only; only tools that read may be called")
        actor, ceiling = ("human", "human") if self._options.is_human else (request.client_name, "agent")
        return self._start_opening().result().for_caller(self._options.scope, actor=actor, ceiling=ceiling)

    def close(self) -> None:
        """Close the vault; an opening that is in progress is waited for."""
        with self._lock:
            timer, future = self._timer, self._opening
        if timer is not None:
            timer.cancel()
        if future is not None and future.exception() is None:
            future.result().close()

    def _start_opening(self) -> Future[Memory]:
        with self._lock:
            future, is_first = self._opening, self._opening is None
            if future is None:
                future = self._opening = Future()
        if is_first:
            self._open(future)
        return future

    def _open(self, opening: Future[Memory]) -> None:
        try:
            opening.set_result(self._open_memory())
        except BaseException as error:
            # Waiting callers get the error; the next one tries again, because a person may have fixed it.
            with self._lock:
                self._opening = None
            opening.set_exception(error)
            if not isinstance(error, Exception):
                raise

    def _open_memory(self) -> Memory:
        folder, options = self._options.folder, self._options
        if options.is_read_only and not vault_setup.is_vault(folder):
            raise Closed(f"there is no vault in {folder}; create one with `lamina init {folder}`")
        load_engine()
        from lamina.memory import open_memory

        actor = "human" if options.is_human else "agent"
        try:
            memory = open_memory(folder, options.scope, actor=actor, ceiling=actor)
        except InvalidInput as error:  # the agent's arguments are not the cause
            raise Closed(f"the vault cannot be opened: {error}") from error
        except (StoreBusy, StoreTooNew):
            raise
        except StoreError as error:
            logger.error("the vault cannot be opened: %s", summarise_error(error))
            raise Closed(
                f"the vault in {folder} cannot be opened; lamina needs permission to read and write there"
            ) from error
        if memory.engine.created:
            sys.stderr.write(f"created a vault in {folder}\n")
        return memory
