"""Shows the progress of long operations on stderr; short ones show nothing."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

SILENT_SECONDS = 0.5
"""Seconds of work before anything is shown."""
LINE_INTERVAL = 2.0
"""Seconds between two lines if stderr is not a terminal."""


class ProgressBar:
    """A progress bar on a terminal, or a line every few seconds; called with the task, the steps done and the total."""

    def __init__(self, *, silent_seconds: float = SILENT_SECONDS) -> None:
        self._started_at = time.monotonic()
        self._silent_seconds = silent_seconds
        self._last_line_at = 0.0
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, text: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._started_at < self._silent_seconds:
            return
        if sys.stderr.isatty():
            self._draw(text, done, total)
        elif now - self._last_line_at >= LINE_INTERVAL or not self._last_line_at:
            self._last_line_at = now
            sys.stderr.write(f"{text}: {done} of {total}\n")

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def _draw(self, text: str, done: int, total: int) -> None:
        if self._progress is None:
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._progress.start()
        if text not in self._tasks:
            self._tasks[text] = self._progress.add_task(text, total=total or None)
        self._progress.update(self._tasks[text], completed=done, total=total or None)
