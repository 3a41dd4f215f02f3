"""Readers: processes that answer questions beside the one that writes, with the same vault open.

Python runs one thread at a time, and a question is all thinking. Where many ask at once, each would wait for all others
and for whoever writes; with a reader a second processor does some of it. A reader that is busy, gone or not there yet
costs nothing: the question is answered where it was asked.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import wait
from typing import Any

from lamina.errors import LaminaError
from lamina.memory import Memory
from lamina.recall.hit import Recall
from lamina.settings import Settings

logger = logging.getLogger(__name__)

MOST = 3
_REMOTE = ("openai:", "endpoint:", "chat")
"""How models begin that are asked over a network: nobody thinks while they do, and one reader could ask only one."""


def asks_a_network(settings: Settings) -> bool:
    """Whether a request may have to wait for somebody else's machine."""
    return settings.chat != "none" or any(each.startswith(_REMOTE) for each in (settings.embedder, settings.reranker))


def readers_wanted(settings: Settings) -> int:
    """How many processes shall answer beside the one that serves."""
    if settings.serve_readers is not None:
        return settings.serve_readers
    if asks_a_network(settings):
        return 0
    return max(0, min(MOST, _processors() - 1))


def _processors() -> int:
    """How many this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Readers:
    """So many processes; safe in many threads."""

    def __init__(self, memory: Memory, many: int) -> None:
        self._memory, self._many = memory, many
        self._free = threading.Semaphore(0)
        self._pool: ProcessPoolExecutor | None = None
        self._turn = threading.Lock()

    def start(self) -> None:
        """Let them open the vault; whoever asks meanwhile is answered without them."""
        self._hire()
        self._memory.ask_through(self.recall)

    def recall(self, scope: str, question: str, how: Mapping[str, Any]) -> Recall | None:
        """What a reader answers; None where none is free."""
        if not self._free.acquire(blocking=False):
            return None
        pool, is_gone = self._pool, False
        try:
            return pool.submit(_recall, scope, question, dict(how)).result() if pool is not None else None
        except (BrokenExecutor, CancelledError, RuntimeError) as error:
            is_gone = True
            self._replace(pool, error)
            return None
        finally:
            if not is_gone:
                self._free.release()

    def wait(self, seconds: float) -> bool:
        """Wait until all of them are there and free; whether they are."""
        found = [self._free.acquire(timeout=seconds) for _ in range(self._many)]
        for is_free in found:
            if is_free:
                self._free.release()
        return all(found)

    def close(self) -> None:
        """Let them end."""
        self._memory.ask_through(None)
        with self._turn:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def _hire(self) -> None:
        own = self._memory
        settings = own.settings.model_copy(update={"watch": False, "background": False})
        pool = ProcessPoolExecutor(
            self._many, multiprocessing.get_context("spawn"), _open, (str(own.root), own.scope, settings)
        )
        self._pool = pool
        for _ in range(self._many):
            pool.submit(_is_there).add_done_callback(lambda done: self._welcome(pool, done))

    def _welcome(self, pool: ProcessPoolExecutor, done: Future[bool]) -> None:
        """One more is there, if it is still wanted and could open the vault."""
        if pool is not self._pool or done.cancelled():
            return
        if done.exception() is None and done.result():
            self._free.release()
        else:
            logger.warning("a reader could not open the vault; questions are answered without it")

    def _replace(self, pool: ProcessPoolExecutor | None, error: BaseException) -> None:
        """A pool that lost one of its processes is of no use; the first to notice hires another."""
        with self._turn:
            if pool is None or pool is not self._pool:
                return
            logger.warning("a reader is gone, and another takes its place: %s", type(error).__name__)
            while self._free.acquire(blocking=False):
                pass
            pool.shutdown(wait=False, cancel_futures=True)
            self._hire()


_memory: Memory | None = None


def _open(root: str, scope: str, settings: Settings) -> None:
    """What a reader does first. It ends with the process that hired it, and leaves signals to it."""
    global _memory
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(LaminaError):  # whoever hired it is told that it is not there
        _memory = Memory(root, scope=scope, watch=False, background=False, settings=settings)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(0)


def _is_there() -> bool:
    return _memory is not None


def _recall(scope: str, question: str, how: dict[str, Any]) -> Recall | None:
    """The answer without what is read later; None for an error, which is told where the question was asked."""
    assert _memory is not None
    try:
        return replace(_memory.seat(scope).recall(question, **how), core=list)
    except LaminaError:
        return None
