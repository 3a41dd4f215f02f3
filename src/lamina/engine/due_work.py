"""The work that is due from time to time: files, the inbox, queued words and announced changes."""

from __future__ import annotations

import time
from collections.abc import Callable

from lamina.engine.caller_access import CallerAccess
from lamina.engine.captures import SessionReading
from lamina.engine.imports import INBOX_WAIT_SECONDS, Imports
from lamina.importers.inbox_folder import QUIET_SECONDS, InboxResult
from lamina.review.announced_changes import settle
from lamina.sync import Progress, SyncReport

OPENING_BUDGET_SECONDS = 10.0
"""How long opening a vault may import its inbox if no worker does it."""
EXTRACTION_INTERVAL = 30.0
"""Seconds until queued passages are checked again: some become due by their age alone."""


class DueWork:
    """Does what is due in the name of one caller; `run` is what the background worker calls."""

    def __init__(self, access: CallerAccess, sessions: SessionReading, imports: Imports) -> None:
        self._access, self._sessions, self._imports = access, sessions, imports

    def begin(self, progress: Progress | None = None) -> SyncReport:
        """Start the threads of the engine, read files and import the inbox; return what changed while it was closed."""
        self._access.engine.background.start(self)
        self._access.engine.effects.finish_erasures()
        report = self._access.sync_files(progress=progress)
        self.request_inbox_import(progress)
        return report

    def run(self, stop: Callable[[], bool]) -> float | None:
        """Do what is due; return the seconds until the next time, None if nothing is queued."""
        if self._process(stop, 0.0).is_unfinished:
            return QUIET_SECONDS
        return EXTRACTION_INTERVAL if self._access.engine.store.queue.list_backlogs() else None

    def tend(self, stop: Callable[[], bool]) -> None:
        """Read files, and do what is due."""
        self._access.engine.effects.finish_erasures()
        self._access.sync_files()
        self._process(stop, INBOX_WAIT_SECONDS)

    def sync(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Read every file, import the inbox, apply announced changes and write the counters of use into the files.

        Returns what changed in files.
        """
        self._access.engine.effects.finish_erasures()
        report = self._access.sync_files(accept_deletions=accept_deletions, progress=progress)
        self._imports.import_inbox(retry_failed=True, progress=progress)
        if self._settle():
            self._access.flush()
        report.written += self._access.engine.effects.write_signals()
        return report

    def request_inbox_import(
        self, progress: Progress | None = None, budget_seconds: float = OPENING_BUDGET_SECONDS
    ) -> None:
        """Import the inbox: in the background if there is a worker, otherwise as many files as the time allows.

        The others are imported by the next sync.
        """
        effects, end = self._access.engine.effects, time.monotonic() + budget_seconds
        if effects.reads_in_background:
            effects.wake_reading()
        else:
            self._imports.import_inbox(lambda: time.monotonic() >= end, progress=progress)

    def finish(self) -> None:
        """Write what the last work changed."""
        self._access.write_files()

    def _process(self, stop: Callable[[], bool], wait_seconds: float) -> InboxResult:
        self._access.write_files()
        imported = self._imports.import_inbox(stop, wait_seconds=wait_seconds)
        self._sessions.read_due(stop)
        self._settle()
        self._access.write_files()
        return imported

    def _settle(self) -> bool:
        """End the values whose announced successor has become valid; return whether anything changed."""
        access = self._access
        settled = [settle(access.engine.store, scope, access.now()) for scope in access.caller.scopes]
        return any(settled)
