"""A vault opened on the side: a host that starts `lamina mcp` gets its list of tools before the engine is loaded."""

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
"""Seconds after which opening begins: long enough for a list that is being written to be out."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which vault, whose part of it, whose word the client's is, and whether it may write."""

    folder: Path
    scope: str | None = None
    human: bool = False
    read_only: bool = False


class Opening:
    """Opens a vault once, when it is first needed or a moment after `soon`; everybody waits for the same opening."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._turn = threading.Lock()
        self._opened: Future[Memory] | None = None
        self._timer: threading.Timer | None = None

    @property
    def reads_only(self) -> bool:
        return self._wanted.read_only

    def soon(self) -> None:
        """Begin in a moment, beside whatever else is done; a vault that is not there yet waits until it is needed."""
        with self._turn:
            if self._timer is None and home.is_vault(self._wanted.folder):
                self._timer = threading.Timer(SOON, self._begun)
                self._timer.daemon = True
                self._timer.start()

    def seat(self, visit: Visit) -> Memory:
        """The memory as this visitor may use it."""
        if visit.writes and self._wanted.read_only:
            raise Refused("this server was started with --read-only; only reading tools may be called")
        actor, ceiling = ("human", "human") if self._wanted.human else (visit.client, "agent")
        return self._begun().result().seat(self._wanted.scope, actor=actor, ceiling=ceiling)

    def close(self) -> None:
        """Let go of the vault; what is being opened is waited for."""
        with self._turn:
            timer, opened = self._timer, self._opened
        if timer is not None:
            timer.cancel()
        if opened is not None and opened.exception() is None:
            opened.result().close()

    def _begun(self) -> Future[Memory]:
        with self._turn:
            opened, mine = self._opened, self._opened is None
            if opened is None:
                opened = self._opened = Future()
        if mine:
            self._open(opened)
        return opened

    def _open(self, opened: Future[Memory]) -> None:
        try:
            opened.set_result(self._memory())
        except BaseException as error:
            # Whoever waits is told; the next one tries again, for a person may have mended it meanwhile.
            with self._turn:
                self._opened = None
            opened.set_exception(error)
            if not isinstance(error, Exception):
                raise

    def _memory(self) -> Memory:
        folder, wanted = self._wanted.folder, self._wanted
        if wanted.read_only and not home.is_vault(folder):
            raise Closed(f"there is no vault in {folder}; `lamina init {folder}` makes one")
        load()
        from lamina.memory import Memory

        whose = "human" if wanted.human else "agent"
        try:
            memory = Memory(folder, wanted.scope, actor=whose, ceiling=whose)
        except InvalidInput as error:  # it is not what the agent gave that is wrong
            raise Closed(f"the vault cannot be opened: {error}") from error
        except (StoreBusy, StoreTooNew):
            raise
        except StoreError as error:
            logger.error("the vault cannot be opened: %s", wordless(error))
            raise Closed(f"the vault in {folder} cannot be opened; lamina has to read and write there") from error
        if memory.created:
            sys.stderr.write(f"made a vault in {folder}\n")
        return memory
