"""Reader processes: they answer recalls beside the process that writes, with the same vault open.

Python runs one thread at a time and a recall is pure computation, so readers use further processors. If no reader is
free, the recall is answered in the calling process.
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
from lamina.memory import Memory, open_memory
from lamina.recall.recall_result import Recall, load_no_boxes, load_no_core
from lamina.recall.related_memories import find_none_related
from lamina.settings import Settings

logger = logging.getLogger(__name__)

MAX_READERS = 3
_REMOTE_PREFIXES = ("openai:", "endpoint:", "chat")
"""Prefixes of models that are called over a network: such calls wait without using a processor, and a reader would
serve one at a time.
"""


def uses_network(settings: Settings) -> bool:
    """Return whether a request may wait for a network call."""
    return settings.chat != "none" or any(
        model.startswith(_REMOTE_PREFIXES) for model in (settings.embedder, settings.reranker)
    )


def reader_count(settings: Settings) -> int:
    """Return how many reader processes to run."""
    if settings.serve_readers is not None:
        return settings.serve_readers
    if uses_network(settings):
        return 0
    return max(0, min(MAX_READERS, _processor_count() - 1))


def _processor_count() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ReaderPool:
    """A pool of reader processes; safe to use from many threads."""

    def __init__(self, memory: Memory, count: int) -> None:
        self._memory, self._count = memory, count
        self._free = threading.Semaphore(0)
        self._pool: ProcessPoolExecutor | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the readers; until they have opened the vault, recalls are answered in the calling process."""
        self._start_pool()
        self._memory.engine.effects.delegate_recall(self.recall)

    def recall(self, scope: str, question: str, options: Mapping[str, Any]) -> Recall | None:
        """Return a reader's recall, or None if no reader is free."""
        if not self._free.acquire(blocking=False):
            return None
        pool, is_gone = self._pool, False
        try:
            return pool.submit(_recall_in_reader, scope, question, dict(options)).result() if pool is not None else None
        except (BrokenExecutor, CancelledError, RuntimeError) as error:
            is_gone = True
            self._replace_pool(pool, error)
            return None
        finally:
            if not is_gone:
                self._free.release()

    def wait(self, seconds: float) -> bool:
        """Wait until all readers are ready and free; return whether they are."""
        acquired = [self._free.acquire(timeout=seconds) for _ in range(self._count)]
        for is_free in acquired:
            if is_free:
                self._free.release()
        return all(acquired)

    def close(self) -> None:
        """Stop the readers."""
        self._memory.engine.effects.delegate_recall(None)
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def _start_pool(self) -> None:
        memory = self._memory
        settings = memory.settings.model_copy(update={"watch": False, "background": False})
        pool = ProcessPoolExecutor(
            self._count,
            multiprocessing.get_context("spawn"),
            _open_in_reader,
            (str(memory.root), memory.scope, settings),
        )
        self._pool = pool
        for _ in range(self._count):
            pool.submit(_is_ready).add_done_callback(lambda future: self._mark_ready(pool, future))

    def _mark_ready(self, pool: ProcessPoolExecutor, future: Future[bool]) -> None:
        """Count a reader as free if it has opened the vault and its pool is still in use."""
        if pool is not self._pool or future.cancelled():
            return
        if future.exception() is None and future.result():
            self._free.release()
        else:
            logger.warning("a reader process could not open the vault; recalls are answered without it")

    def _replace_pool(self, pool: ProcessPoolExecutor | None, error: BaseException) -> None:
        """Replace a pool that lost a process; the first thread to notice does it."""
        with self._lock:
            if pool is None or pool is not self._pool:
                return
            logger.warning("a reader process ended and is replaced: %s", type(error).__name__)
            while self._free.acquire(blocking=False):
                pass
            pool.shutdown(wait=False, cancel_futures=True)
            self._start_pool()


_process_memory: Memory | None = None


def _open_in_reader(root: str, scope: str, settings: Settings) -> None:
    """Open the vault in a reader process. It ignores signals and exits with its parent."""
    global _process_memory
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    with suppress(LaminaError):  # the parent process sees that the reader is not ready
        _process_memory = open_memory(root, scope=scope, watch=False, background=False, settings=settings)


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(0)


def _is_ready() -> bool:
    return _process_memory is not None


def _recall_in_reader(scope: str, question: str, options: dict[str, Any]) -> Recall | None:
    """Return the recall without its lazy parts, or None on an error, which the calling process then raises itself."""
    assert _process_memory is not None
    try:
        recalled = _process_memory.for_caller(scope).recall(question, **options)
        return replace(recalled, core=load_no_core, find_related=find_none_related, load_boxes=load_no_boxes)
    except LaminaError:
        return None
