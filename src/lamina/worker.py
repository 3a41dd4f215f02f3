"""Run background work in a thread that sleeps until it is woken."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from lamina.errors import LaminaError
from lamina.logs import summarise_error

logger = logging.getLogger("lamina")

MAX_RETRY_SECONDS = 300.0

WorkFunction = Callable[[Callable[[], bool]], float | None]
"""Works until the given function returns true; returns the seconds after which to run again, or None: when woken."""


class Worker:
    """A background thread that starts at the first `wake`. Failed work is retried after a growing pause."""

    def __init__(self, name: str, work: WorkFunction) -> None:
        self._name, self._work = name, work
        self._wake_event, self._stopped = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._start_lock = threading.Lock()

    def wake(self) -> None:
        """Wake the thread because there may be work."""
        if self._stopped.is_set():
            return
        self._wake_event.set()
        with self._start_lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"lamina-{self._name}", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Finish the current piece of work and end the thread; the rest is left for another time."""
        self._stopped.set()
        self._wake_event.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        failures, pause = 0, None
        while True:
            self._wake_event.wait(pause)
            self._wake_event.clear()
            if self._stopped.is_set():
                return
            try:
                pause = self._work(self._stopped.is_set)
                failures = 0
            except LaminaError as error:
                failures = min(failures + 1, 9)
                logger.warning("%s failed and will be retried: %s", self._name, summarise_error(error))
                self._stopped.wait(min(MAX_RETRY_SECONDS, 2.0**failures))  # even if it is woken meanwhile
                self._wake_event.set()
