"""Effects of verbs that a rollback of the store cannot undo: on files, other processes and models that cost money.

`Effects` does it. `TrialEffects` takes its place in a dry run: it reports and does nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.atom.atom import Atom
from lamina.atom.provenance import Scope
from lamina.capture.queued_extraction import SessionLease, hold_lease
from lamina.capture.receipt import Receipt
from lamina.dream.dream import Progress as DreamProgress
from lamina.dream.dream import Step, dream
from lamina.dream.report import DreamReport
from lamina.dream.step import StepContext
from lamina.engine.background_work import BackgroundWork
from lamina.errors import Refused, StoreError
from lamina.importers.import_job import ImportProgress, hold_import_job
from lamina.importers.inbox_folder import InboxResult
from lamina.logs import summarise_error
from lamina.model_registry import ModelRegistry
from lamina.models.encoding_worker import EncodingProgress, encode_with_all
from lamina.recall.recall_result import Recall
from lamina.review.erase import Eraser, ErasureReceipt, dry_run_receipt, finish_erasures
from lamina.store.admin import SavedRecall
from lamina.store.base import Store, TransactionMode
from lamina.store.projection import KnownFiles
from lamina.sync import Progress, SyncReport, VaultSync
from lamina.vault.disk import Disk
from lamina.vault.disk_reserve import DiskReserve, fill_reserve, is_nearly_full, release_reserve


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    """Raise StoreError with advice in place of OSError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the disk failed: {error}; no acknowledged write is lost. Check the disk and try again"
        ) from error


logger = logging.getLogger("lamina")

RecallDelegate = Callable[[Scope, str, Mapping[str, Any]], Recall | None]
"""Recalls in another process: takes the scope, the question and the options of `recall`; None if it cannot."""


class Effects:
    """Syncs files, wakes workers, takes leases, asks other processes and erases."""

    def __init__(
        self, store: Store, disk: Disk, sync: VaultSync, models: ModelRegistry, background: BackgroundWork, state: Path
    ) -> None:
        self._store, self._disk, self._sync, self._models = store, disk, sync, models
        self._background, self._state = background, state
        self._recall_delegate: RecallDelegate | None = None
        self._trial_thread: int | None = None

    @contextmanager
    def trial(self) -> Iterator[TrialEffects]:
        """Open a transaction that is rolled back at its end, and yield the effects to use inside it."""
        with self._store.transaction(TransactionMode.TRIAL):
            self._trial_thread = threading.get_ident()
            try:
                yield TrialEffects(self._store)
            finally:
                self._trial_thread = None

    @property
    def reads_in_background(self) -> bool:
        """Return whether a worker reads what is captured."""
        return self._background.reading is not None

    def delegate_recall(self, delegate: RecallDelegate | None) -> None:
        """Let another process answer recalls if it can."""
        self._recall_delegate = delegate

    def sync_files(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Commit what people changed in any file, and write what is pending; StoreError if the disk fails."""
        self._require_no_trial()
        with translate_disk_errors():
            return self._sync.run(accept_deletions=accept_deletions, progress=progress)

    def commit_file_edits(self, files: KnownFiles) -> int:
        """Commit edits of these files; return the journal position after that. The watcher may have committed them
        already: the position shows either way."""
        self._require_no_trial()
        with translate_disk_errors():
            stale = self._sync.find_stale_files(files)
            if not stale:
                return files.position
            self._sync.sync_files(stale)
        return self._store.journal.position()

    def write_files(self) -> None:
        """Write files and index. If the disk fails, the commit is kept and the rest is written later."""
        self._require_no_trial()
        for write in (self._sync.write_pending, self._store.admin.catch_up):
            try:
                write()
            except (OSError, StoreError) as error:
                logger.warning("files and index will be written later: %s", summarise_error(error))
        self._background.wake_encoding()

    def write_signals(self) -> int:
        """Write changed counters of use into the files; return how many were written. If the disk fails, they wait."""
        self._require_no_trial()
        try:
            return self._sync.write_signals().written
        except (OSError, StoreError) as error:
            logger.warning("counters of use will be written later: %s", summarise_error(error))
            return 0

    def wake_reading(self) -> None:
        """Wake the worker that reads what is captured, if there is one."""
        self._background.wake_reading()

    def finish_erasures(self) -> None:
        """Finish interrupted erasures, so that erased text is gone before anything is read."""
        try:
            finish_erasures(self._store, self._disk, self._sync)
        except (OSError, StoreError) as error:
            logger.warning("an erasure is not finished, it will be retried: %s", summarise_error(error))

    def erase(self, eraser: Eraser, targets: Sequence[Atom], reason: str) -> ErasureReceipt:
        """Erase atoms and encode what is left of their texts; StoreError if the disk fails."""
        with translate_disk_errors():
            receipt = eraser.erase(targets, reason)
        self._background.wake_encoding()
        return receipt

    @contextmanager
    def room_to_erase(self) -> Iterator[None]:
        """Free the space that is kept for erasing on a full disk, and take it again at the end."""
        if is_nearly_full(self._state, DiskReserve.ERASING):
            release_reserve(self._state, DiskReserve.ERASING)
        try:
            yield
        finally:
            fill_reserve(self._state)

    def import_inbox(self, process: Callable[[], InboxResult]) -> InboxResult:
        """Import the inbox. If the disk fails, log it: the files stay there and are imported later."""
        try:
            return process()
        except (OSError, StoreError) as error:
            logger.warning("the inbox will be imported later: %s", summarise_error(error))
            return InboxResult()

    @contextmanager
    def lease_session(self, lease: SessionLease) -> Iterator[SessionLease | None]:
        """Hold the extraction lease of a session."""
        with hold_lease(lease):
            yield lease

    @contextmanager
    def hold_import_job(self, scope: Scope, path: Path) -> Iterator[ImportProgress]:
        """Register the import of a path and its progress; Refused while another process imports it."""
        with hold_import_job(self._store.queue, scope, path) as report:
            yield report

    def read_imported(self, read: Callable[[], list[Receipt]]) -> list[Receipt]:
        """Extract statements from imported words."""
        return read()

    def encode(self, stop: Callable[[], bool], progress: EncodingProgress | None) -> int:
        """Encode all texts that have no vectors; return how many."""
        return encode_with_all(self._store, self._models.embedders(), stop, progress)

    def recall_elsewhere(self, scope: Scope, question: str, options: Mapping[str, Any]) -> Recall | None:
        """Return the recall of another process; None if there is no such process, or it cannot."""
        return self._recall_delegate(scope, question, options) if self._recall_delegate is not None else None

    def log_recall(self, recalled: Recall, scope: Scope) -> None:
        """Store what a recall returned, so that feedback can be given on it."""
        try:
            ids = tuple(atom.id for hit in recalled.hits for atom in (hit.atom, *hit.statements))
            self._store.admin.recalls.save(SavedRecall(recalled.id, ids), recalled.asked_at, scope)
        except StoreError as error:
            logger.warning("no feedback can be given on recall %s: %s", recalled.id, summarise_error(error))

    def mark_answered(self, recall_id: str, scope: Scope) -> bool:
        """Mark a recall as rated; return whether this is the first time."""
        return self._store.admin.recalls.mark_answered(recall_id, scope)

    def dream(
        self,
        contexts: Sequence[StepContext],
        steps: Mapping[str, Step],
        at: datetime,
        *,
        is_approved: bool,
        progress: DreamProgress | None,
    ) -> DreamReport:
        """Run a dream under its lease, and write what use has taught into the files."""
        report = dream(contexts, steps, self._store, at, is_approved=is_approved, progress=progress)
        self.write_signals()
        return report

    def _require_no_trial(self) -> None:
        """Refuse to show files what a trial of this thread rolls back."""
        if self._trial_thread == threading.get_ident():
            raise Refused("inside a trial, use the memory that `trial()` yields")


class TrialEffects:
    """The effects of a dry run: verbs work inside a transaction that is rolled back, and nothing else changes."""

    reads_in_background = False

    def __init__(self, store: Store) -> None:
        self._store = store

    @contextmanager
    def trial(self) -> Iterator[TrialEffects]:
        """Yield the same effects: a trial inside a trial is part of it."""
        yield self

    def delegate_recall(self, delegate: RecallDelegate | None) -> None:
        """Delegate nothing: another process does not see what is tried here."""

    def sync_files(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Return an empty report."""
        return SyncReport()

    def commit_file_edits(self, files: KnownFiles) -> int:
        """Leave edited files for later; return the journal position at which the files were read."""
        return files.position

    def write_files(self) -> None:
        """Write nothing."""

    def write_signals(self) -> int:
        """Write nothing."""
        return 0

    def wake_reading(self) -> None:
        """Wake no worker."""

    def finish_erasures(self) -> None:
        """Leave interrupted erasures for later."""

    @contextmanager
    def room_to_erase(self) -> Iterator[None]:
        """Free nothing."""
        yield

    def erase(self, eraser: Eraser, targets: Sequence[Atom], reason: str) -> ErasureReceipt:
        """Return what an erasure would remove."""
        return dry_run_receipt(eraser.plan(targets))

    def import_inbox(self, process: Callable[[], InboxResult]) -> InboxResult:
        """Leave the inbox as it is."""
        return InboxResult()

    @contextmanager
    def lease_session(self, lease: SessionLease) -> Iterator[SessionLease | None]:
        """Take no lease: the transaction keeps everyone else out."""
        yield None

    @contextmanager
    def hold_import_job(self, scope: Scope, path: Path) -> Iterator[ImportProgress]:
        """Register nothing: the transaction keeps everyone else out."""
        yield lambda done, total: None

    def read_imported(self, read: Callable[[], list[Receipt]]) -> list[Receipt]:
        """Extract nothing: an import is long, and its calls of a language model cost money."""
        return []

    def encode(self, stop: Callable[[], bool], progress: EncodingProgress | None) -> int:
        """Encode nothing."""
        return 0

    def recall_elsewhere(self, scope: Scope, question: str, options: Mapping[str, Any]) -> Recall | None:
        """Ask no other process: it does not see what is tried here."""
        return None

    def log_recall(self, recalled: Recall, scope: Scope) -> None:
        """Log nothing."""

    def mark_answered(self, recall_id: str, scope: Scope) -> bool:
        """Mark nothing, so that the recall can still be rated."""
        return True

    def dream(
        self,
        contexts: Sequence[StepContext],
        steps: Mapping[str, Step],
        at: datetime,
        *,
        is_approved: bool,
        progress: DreamProgress | None,
    ) -> DreamReport:
        """Run a dream without a lease, and report what its steps would do."""
        return dream(contexts, steps, self._store, at, is_approved=is_approved, dry_run=True, progress=progress)


class ReadOnlyEffects(TrialEffects):
    """The effects of a vault on a read-only disk: files are not read again, and the store refuses every change."""

    def erase(self, eraser: Eraser, targets: Sequence[Atom], reason: str) -> ErasureReceipt:
        """Refuse: nothing can be erased."""
        raise StoreError("the disk is read-only: nothing can be erased; make it writable and try again")
