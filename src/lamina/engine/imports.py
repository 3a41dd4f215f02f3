"""Imports in the name of one caller: of a path, and of the files in the inbox."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from lamina.atom.provenance import Scope
from lamina.capture.caller_input import Conversation
from lamina.capture.receipt import Receipt
from lamina.capture.statement_commit import Writer
from lamina.engine.caller_access import CallerAccess
from lamina.engine.captures import SessionReading
from lamina.engine.effects import translate_disk_errors
from lamina.errors import InvalidInput
from lamina.importers.import_plan import plan_import
from lamina.importers.import_writer import ImportReport, ImportTally, ImportTarget, run_import
from lamina.importers.inbox_folder import Inbox, InboxResult
from lamina.sync import Progress

INBOX_WAIT_SECONDS = 5.0
"""Seconds to wait while another program imports the inbox."""


class Imports:
    """Imports words as evidence, never with more trust than the caller has."""

    def __init__(self, access: CallerAccess, sessions: SessionReading) -> None:
        self._access, self._sessions = access, sessions
        engine = access.engine
        self._inbox = Inbox(
            engine.disk, engine.store, access.caller.scopes, lambda scope: self._make_target(scope, (), "inbox")
        )

    def import_path(self, path: Path, *, private: bool, progress: Progress | None) -> ImportReport:
        """Import a file or folder; InvalidInput if it is in the vault or contains it."""
        # `Path.resolve` fails where links form a loop.
        root, target = (Path(os.path.realpath(place)) for place in (self._access.engine.root, path))
        if target.is_relative_to(root):
            raise InvalidInput(f"{path} is inside this vault; files in its inbox are imported automatically")
        if root.is_relative_to(target):
            raise InvalidInput(f"{path} contains this vault; import the other folders and files in it one by one")
        caller, tally = self._access.caller, ImportTally()
        scope = caller.writing_scope(private)
        with translate_disk_errors():
            plan, effects = plan_import(path), self._access.engine.effects
            with effects.hold_import_job(scope, path) as store_progress:

                def show_progress(stage: str, done: int, total: int) -> None:
                    store_progress(done, total)
                    if progress is not None:
                        progress(stage, done, total)

                run_import(plan, self._make_target(scope, caller.agents(private), "import"), show_progress, tally)
        if not self._sessions.is_instant:
            for receipt in self._access.engine.effects.read_imported(
                lambda: self._sessions.read_queues((scope,), progress)
            ):
                tally.add_outcomes(receipt.outcomes)
        self._access.engine.effects.write_signals()
        return tally.report(plan.importer.name)

    def import_inbox(
        self,
        stop: Callable[[], bool] = lambda: False,
        *,
        retry_failed: bool = False,
        wait_seconds: float = INBOX_WAIT_SECONDS,
        progress: Progress | None = None,
    ) -> InboxResult:
        """Import the files in the inbox; `retry_failed`: also unchanged files that could not be read before."""
        return self._access.engine.effects.import_inbox(
            lambda: self._inbox.process(
                retry_failed=retry_failed, wait_seconds=wait_seconds, should_stop=stop, progress=progress
            )
        )

    def _make_target(self, scope: Scope, agents: tuple[str, ...], verb: str) -> ImportTarget:
        access = self._access

        def capture(words: Conversation, writer: Writer, key: str, has_statements: bool) -> Receipt:
            store = self._sessions.store_only if has_statements else self._sessions.store_imported
            return access.publish(store(words, writer, key, verb))

        return ImportTarget(
            store=access.engine.store,
            ids=access.engine.ids,
            now=access.now,
            capture=capture,
            publish=access.publish,
            agents=agents,
            writer=lambda origin: access.writer_to(scope, origin),
            personal=access.engine.settings.redact_personal,
        )
