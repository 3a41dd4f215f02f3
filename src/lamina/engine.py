"""The engine of one vault: its store, files, models and background workers, and what happens after a commit."""

from __future__ import annotations

import builtins
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Self, TypeVar

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource, is_atom_id
from lamina.atom.scope import Scope, agent_name, organisation_name, parse_scope, readable_scopes
from lamina.atom.status import ENDED, Status, TransitionCause
from lamina.atom.trust import Origin, limit_origin
from lamina.capture.box import seal_boxes
from lamina.capture.capture import capture
from lamina.capture.change.dependants import add_dependants
from lamina.capture.conversation import Conversation
from lamina.capture.extraction_queue import ReadPolicy, ReadSchedule, StatementReader, read_due_sessions, read_session
from lamina.capture.receipt import Receipt
from lamina.capture.session_lease import SessionLease, hold_lease
from lamina.capture.statement_commit import Writer, new_ids
from lamina.clock import Clock, SystemClock
from lamina.dream.cascade import cascade_changes
from lamina.dream.entity_pages import find_names, update_pages
from lamina.errors import Erased, InvalidInput, InvalidScope, LaminaError, NotFound, StaleRevision, StoreError
from lamina.importers.import_writer import ImportTarget
from lamina.importers.inbox import QUIET_SECONDS, Inbox, InboxResult
from lamina.importers.no_extraction import without_extraction
from lamina.logs import summarise_error
from lamina.model_registry import ModelRegistry
from lamina.models.encoding_worker import EncodingWorker
from lamina.recall.hit import Recall
from lamina.review.confirm import apply_file_status
from lamina.review.diagnosis import is_in_scopes, problems_in
from lamina.review.erase import Eraser, finish_erasures
from lamina.review.restore import restore_atom
from lamina.review.review import Review
from lamina.review.reviewer import Reviewer
from lamina.review.settle import settle
from lamina.settings import Settings, load_settings
from lamina.store.base import AtomChange, AtomFilter, Commit
from lamina.store.sqlite import SqliteStore
from lamina.sync import Progress, StatusDecision, SyncReport, VaultSync
from lamina.vault import layout, vault_setup
from lamina.vault.disk import Disk
from lamina.vault.watcher import Watcher
from lamina.worker import Worker
from lamina.working.context import WorkingContext

logger = logging.getLogger("lamina")

MAX_REFRESHES = 5
INBOX_WAIT_SECONDS = 5.0
"""Seconds to wait while another program imports the inbox."""
EXTRACTION_INTERVAL = 30.0
"""Seconds until queued passages are checked again: some become due by their age alone."""
SEAL_INTERVAL = timedelta(minutes=1)
"""Time between two searches for boxes that can be closed; each reads the newest statements."""

E = TypeVar("E", bound=StrEnum)
RecallDelegate = Callable[[Scope, str, Mapping[str, Any]], Recall | None]
"""Recalls in another process: takes the scope, the question and the options of `recall`; None if it cannot."""


class Engine:
    """What the verbs of `Memory` work with. Every acknowledged write is durable, whatever happens here afterwards."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        scope: str | None = None,
        *,
        actor: str = "human",
        principal: str | None = None,
        ceiling: Origin | str = Origin.HUMAN,
        clock: Clock | None = None,
        watch: bool | None = None,
        background: bool | None = None,
        settings: Settings | None = None,
        disk: Disk | None = None,
        vfs: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.root = Path(path).expanduser().absolute()
        with translate_disk_errors():
            self.created = vault_setup.ensure_vault(self.root)
            self.settings = settings or load_settings(
                self.root / vault_setup.INTERNAL_FOLDER / "settings.toml",
                scope=scope,
                watch=watch,
                background=background,
            )
        self.scope = parse_scope(scope if scope is not None else self.settings.scope)
        self._actor, self._principal, self._ceiling = actor, principal, parse_enum(Origin, ceiling, "origin")
        self._clock: Clock = clock or SystemClock()
        self._ids = IdSource(os.urandom)
        self._is_dry_run = self._is_shared = False
        self._sealed_at: datetime | None = None
        self._recall_delegate: RecallDelegate | None = None
        with translate_disk_errors():
            self.state = vault_setup.state_folder(self.root, self.settings.state_dir)
            vault_setup.make_private_folder(self.state)
            self._disk = disk or Disk(self.root)
            self._store = SqliteStore(self.state, self._clock, vfs=vfs)
            self._pages_position = self._store.position()
        self._model_registry = ModelRegistry(self.settings, self._store.usage, self._clock)
        self._sync = VaultSync(
            self._disk,
            self._store,
            self._clock,
            self._ids,
            lambda: vault_setup.is_vault(self.root),
            self._decide_status_edit,
            needs_review=self.settings.file_edits == "review",
        )
        self.review = Review(self._make_reviewer())
        self._inbox = Inbox(
            self._disk, self._store.ledger, self.scopes, lambda scope: self._make_import_context(scope, (), "inbox")
        )
        self._embedding_worker = (
            EncodingWorker(self._store, self._model_registry.embedders)
            if (self.settings.background if background is None else background)
            else None
        )
        self._extraction_worker = (
            Worker("reading", self._run_background_extraction)
            if (self.settings.background if background is None else background)
            else None
        )
        self._watcher = self._start_watching() if (self.settings.watch if watch is None else watch) else None
        try:
            self._finish_erasures()
            self.opening_report = self._sync_files(progress=progress)
            self._request_inbox_import(progress=progress)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close files and stop threads. Acknowledged writes are durable without it. Does nothing on a shared engine."""
        if self._is_shared:
            return
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        for worker in (self._extraction_worker, self._embedding_worker):
            if worker is not None:
                worker.stop()
        if self._extraction_worker is not None:
            self._write_projections()
        self._model_registry.close()
        self._store.close()
        self._disk.close()

    def for_caller(
        self,
        scope: str | None = None,
        *,
        actor: str = "human",
        principal: str | None = None,
        ceiling: Origin | str = Origin.HUMAN,
    ) -> Self:
        """Return a memory on the same open store for another caller: its scope, actor, principal and highest origin.

        It is cheap, so make one for each request. It is closed together with the memory that made it.
        """
        shared = copy(self)
        shared._is_shared, shared._sealed_at = True, None
        shared.scope = self.scope if scope is None else parse_scope(scope)
        shared._actor, shared._principal, shared._ceiling = actor, principal, parse_enum(Origin, ceiling, "origin")
        shared._pages_position = shared._store.position()
        shared.review = Review(shared._make_reviewer())
        shared._inbox = Inbox(
            shared._disk,
            shared._store.ledger,
            shared.scopes,
            lambda scope: shared._make_import_context(scope, (), "inbox"),
        )
        return shared

    def delegate_recall(self, delegate: RecallDelegate | None) -> None:
        """Let another process answer recalls if it can, for this memory and every memory made from it later."""
        self._recall_delegate = delegate

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Run verbs as a dry run: inside the block they report what they would do; at its end all is rolled back."""
        with self._store.trial_transaction():
            self._is_dry_run = True
            try:
                yield
            finally:
                self._is_dry_run = False

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes this memory may read: its own and that of its organisation."""
        return readable_scopes(self.scope)

    def _sync_files(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        if self._is_dry_run:
            return SyncReport()
        with translate_disk_errors():
            report = self._sync.run(accept_deletions=accept_deletions, progress=progress)
        if report.deleted or report.edited:
            self._write_projections()
        # A file of this scope in another scope's folder is held there; its owner has to know.
        misplaced_paths = {problem.path for problem in problems_in(self._store, self.scopes)} if report.held else set()
        return report.for_paths(lambda path: path in misplaced_paths or is_in_scopes(path, self.scopes))

    def _extract_queues(self, scopes: Sequence[Scope], progress: Progress | None = None) -> builtins.list[Receipt]:
        queues = [queue for queue in self._store.buffer.backlogs() if queue.scope in scopes]
        receipts: builtins.list[Receipt] = []
        for n, each in enumerate(queues):
            if progress:
                progress("reading", n, len(queues))
            with self._lease_session(each.scope, each.session_id) as lease:
                receipts += self._extract_session(each.scope, each.session_id, lease)
        self._seal_boxes()
        self._flush()
        return [self._publish(receipt) for receipt in receipts]

    def _make_writer(self, origin: Origin | str | None, private: bool) -> Writer:
        scope = (
            self.scope if private or agent_name(self.scope) is None else Scope(f"org:{organisation_name(self.scope)}")
        )
        declared = parse_enum(Origin, origin, "origin") if origin is not None else None
        if declared is Origin.DREAM:
            raise InvalidInput("origin `dream` is reserved for lamina itself; choose another origin")
        return self._make_writer_for(limit_origin(self._ceiling, declared), scope)

    def _make_writer_for(self, origin: Origin, scope: Scope) -> Writer:
        registry = self._model_registry
        return Writer(
            self._actor,
            origin,
            self._principal,
            scope,
            registry.dependency_rules,
            self._ceiling,
            registry.multi_valued_attributes,
        )

    def _make_working_context(self, private: bool) -> WorkingContext:
        return WorkingContext(
            store=self._store,
            writer=self._make_writer(None, private),
            agents=self._agent_names(private),
            ids=self._ids,
            now=self._clock.now,
            read_fresh=lambda query: self._read_fresh(lambda: self._store.read(query)),
            publish=self._publish,
            personal=self.settings.redact_personal,
        )

    def _make_reviewer(self) -> Reviewer:
        return Reviewer(
            store=self._store,
            scope=self.scope,
            scopes=self.scopes,
            actor=self._actor,
            ceiling=self._ceiling,
            principal=self._principal,
            ids=self._ids,
            now=self._clock.now,
            find_atom=self._read_atom,
            read_synced=lambda query: self._read_fresh(lambda: self._store.read(query)),
            publish=self._publish,
            list_problems=lambda: [*problems_in(self._store, self.scopes)],
            redact_personal=self.settings.redact_personal,
            rules=self._model_registry.dependency_rules,
        )

    def _decide_status_edit(self, atom: Atom, status: Status) -> StatusDecision:
        if atom.status in ENDED and status is Status.ACTIVE:
            restored_atom, *others = self._restore_atoms(atom, status)
            return StatusDecision(restored_atom, tuple(others), "", TransitionCause.RESTORE)
        return apply_file_status(atom, status, self._store, self._clock.now(), self._model_registry.dependency_rules)

    def _restore_atoms(self, atom: Atom, status: Status) -> builtins.list[Atom]:
        is_reopened = atom.status in ENDED and status is Status.ACTIVE
        return restore_atom(atom, self._store, self.scopes) if is_reopened else [atom.with_(status=status)]

    def _agent_names(self, private: bool) -> tuple[str, ...]:
        name = agent_name(self.scope)
        return (name,) if name and not private else ()

    def _check_scopes(self, scopes: Sequence[str] | None) -> tuple[Scope, ...]:
        if scopes is None:
            return self.scopes
        allowed = tuple(parse_scope(scope) for scope in ([scopes] if isinstance(scopes, str) else scopes))
        if not allowed or set(allowed) - set(self.scopes):
            raise InvalidScope(
                f"{self.scope} may read {', '.join(self.scopes)}, not {', '.join(map(str, scopes)) or 'nothing'}"
            )
        return allowed

    def _make_eraser(self) -> Eraser:
        outside_copies = [
            f"{name}: text may have been sent to this service; ask its provider what it stores"
            for name in (self.settings.chat, self.settings.embedder)
            if ":" in name
        ]
        return Eraser(
            store=self._store,
            disk=self._disk,
            sync=self._sync,
            actor=self._actor,
            scope=self.scope,
            scopes=self.scopes,
            external_copies=tuple(outside_copies),
        )

    def _finish_erasures(self) -> None:
        """Finish interrupted erasures, so that erased text is gone before anything is read."""
        try:
            finish_erasures(self._store, self._disk, self._sync)
        except (OSError, StoreError) as error:
            logger.warning("an erasure is not finished, it will be retried: %s", summarise_error(error))

    def _read_atom(self, id: str) -> Atom:
        """Return one atom as its file says now; NotFound if there is none."""
        return self._read_fresh(lambda: [self._find_atom(id)])[0]

    def _find_atom(self, id: str) -> Atom:
        """Return the atom of an id or of the unique end of an id; NotFound or Erased otherwise."""
        if is_atom_id(id):
            atoms = self._store.read(AtomFilter(scopes=self.scopes, ids=(AtomId(id),)))
        elif len(id) >= 4 and id.isalnum():
            atoms = self._store.read(AtomFilter(scopes=self.scopes, id_suffix=id))
        else:
            atoms = []
        stub = self._store.fingerprints.find_stub(id, self.scopes) if not atoms and id else None
        if stub is not None:
            raise Erased(stub.atom_id, stub.at, stub.actor, stub.reason)
        if len(atoms) != 1:
            raise NotFound(f"{len(atoms)} atoms end in {id!r}; give more of the id" if atoms else f"no atom {id!r}")
        return atoms[0]

    def _capture_conversation(
        self,
        conversation: Conversation,
        writer: Writer,
        key: str | None,
        *,
        extract_now: bool,
        verb: str = "capture",
        is_extracted: bool = False,
    ) -> Receipt:
        idle = timedelta(minutes=self.settings.idle_minutes)
        return capture(
            conversation,
            writer,
            self._store,
            self._ids,
            self._clock.now(),
            self.settings.segment_chars,
            idle,
            without_extraction(self._reader) if is_extracted else self._reader,
            key,
            read_now=extract_now or is_extracted,
            verb=verb,
        )

    def _make_import_context(self, scope: Scope, agents: tuple[str, ...], verb: str) -> ImportTarget:
        """Return the context for imports: they are written as evidence, never with more trust than the caller has."""

        def keep(captured: Conversation, writer: Writer, key: str, is_read: bool) -> Receipt:
            at_once = self._reader.extractor.instant
            return self._publish(
                self._capture_conversation(captured, writer, key, extract_now=at_once, verb=verb, is_extracted=is_read)
            )

        return ImportTarget(
            store=self._store,
            ids=self._ids,
            now=self._clock.now,
            capture=keep,
            publish=self._publish,
            agents=agents,
            writer=lambda origin: self._make_writer_for(limit_origin(self._ceiling, origin), scope),
            personal=self.settings.redact_personal,
        )

    def _request_inbox_import(self, *, now: bool = False, progress: Progress | None = None) -> None:
        """Import the inbox: in the background if there is a worker, otherwise now."""
        if self._is_dry_run:
            return
        if self._extraction_worker is not None and not now:
            self._extraction_worker.wake()
            return
        self._import_inbox(retry_failed=now, wait_seconds=INBOX_WAIT_SECONDS, progress=progress)

    def _import_inbox(self, **options: Any) -> InboxResult:
        """Import the inbox now. If the disk fails, log it: the files stay there and are imported later."""
        try:
            return self._inbox.process(**options)
        except (OSError, StoreError) as error:
            logger.warning("the inbox will be imported later: %s", summarise_error(error))
            return InboxResult()

    def _change_atom(self, id: str, verb: str, reason: str, change: Callable[[Atom], Atom]) -> Atom:
        """Read, change and commit one atom; return its new version."""
        return self._change_atoms(id, verb, reason, lambda atom: [change(atom)])

    def _change_atoms(
        self,
        id: str,
        verb: str,
        reason: str,
        change: Callable[[Atom], Sequence[Atom]],
        way: TransitionCause = TransitionCause.ORDINARY,
    ) -> Atom:
        """Read an atom and commit it with all that changes with it; after a conflicting write, retry under a lock."""

        def changed(atom: Atom) -> Atom:
            rules = self._model_registry.dependency_rules
            atoms, full_reason = add_dependants(change(atom), reason, self._store, self._ceiling, rules)
            commit = Commit(
                actor=self._actor,
                origin=self._ceiling,
                verb=verb,
                reason=full_reason,
                scope=self.scope,
                way=way,
                changes=tuple(map(AtomChange, atoms)),
            )
            return self._store.commit(commit).atoms[0]

        try:
            committed = changed(self._read_atom(id))
        except StaleRevision:
            with self._store.exclusive_transaction():
                committed = changed(self._find_atom(id))
        self._flush()
        return committed

    def _publish(self, receipt: Receipt, *, in_background: bool = False) -> Receipt:
        """Write the files and return the receipt with their paths; `in_background` leaves the writing to a worker."""
        if in_background and self._extraction_worker is not None and not self._is_dry_run:
            self._extraction_worker.wake()
        else:
            self._flush()
        paths = self._store.ledger.paths_of({outcome.atom.id for outcome in receipt.outcomes})
        return replace(
            receipt, outcomes=tuple(replace(outcome, path=paths.get(outcome.atom.id)) for outcome in receipt.outcomes)
        )

    def _flush(self) -> None:
        """Write the files of recent commits, and wake the extraction worker."""
        if self._is_dry_run:
            return
        self._write_projections()
        if self._extraction_worker is not None:
            self._extraction_worker.wake()

    def _write_projections(self) -> None:
        """Write pages, files and index. If the disk fails, the commit is kept and the rest is written later."""
        self._update_pages()
        for write in (self._sync.write_pending, self._store.catch_up):
            try:
                write()
            except (OSError, StoreError) as error:
                logger.warning("files and index will be written later: %s", summarise_error(error))
        if self._embedding_worker is not None:
            self._embedding_worker.wake()

    def _update_pages(self) -> None:
        """Update pages and summaries after statements were retracted; if that fails, the next dream does it."""
        try:
            since, self._pages_position = self._pages_position, self._store.position()
            if self._pages_position != since:
                cascade_changes(self._store, self.scopes, since, self._ids, self._clock.now())
        except LaminaError as error:
            logger.warning("pages will be updated by the next dream: %s", summarise_error(error))

    @property
    def _reader(self) -> StatementReader:
        return self._model_registry.reader

    def _extract_session(self, scope: Scope, session_id: str, lease: SessionLease | None) -> builtins.list[Receipt]:
        return read_session(
            self._store, self._reader, scope, session_id, self._actor, self._ids, self._clock.now, lease
        )

    @contextmanager
    def _lease_session(self, scope: Scope, session_id: str) -> Iterator[SessionLease | None]:
        """Hold the extraction lease of a session; None in a dry run, which already holds a lock."""
        if self._is_dry_run:
            yield None
            return
        with hold_lease(SessionLease(self._store.buffer, scope, session_id, self._clock.now)) as lease:
            yield lease

    def _run_background_extraction(self, stop: Callable[[], bool]) -> float | None:
        imported = self._process_due_work(stop)
        return (
            QUIET_SECONDS if imported.is_unfinished else EXTRACTION_INTERVAL if self._store.buffer.backlogs() else None
        )

    def _process_due_work(self, stop: Callable[[], bool], wait_seconds: float = 0.0) -> InboxResult:
        """Import the inbox, extract captures that are due, and apply changes that are due by date."""
        self._write_projections()
        imported = self._import_inbox(should_stop=stop, wait_seconds=wait_seconds)
        minutes = timedelta(minutes=self.settings.batch_minutes)
        pace = ReadPolicy(ReadSchedule(self.settings.rhythm), self.settings.batch_turns, minutes)
        read_due_sessions(self._store, self._reader, pace, self._actor, self._ids, self._clock.now, stop)
        if self._sealed_at is None or abs(self._clock.now() - self._sealed_at) >= SEAL_INTERVAL:
            self._seal_boxes()
        self._apply_due_values()
        self._write_projections()
        return imported

    def _seal_boxes(self) -> None:
        """Close finished boxes and update the pages of the entities named in them."""
        now = self._sealed_at = self._clock.now()
        for scope in self.scopes:
            names = find_names(seal_boxes(self._store, scope, now))
            update_pages(self._store, scope, names, new_ids(self._ids, now), now)

    def _apply_due_values(self) -> bool:
        """End the values whose announced successor has become valid; return whether anything changed."""
        now = self._clock.now()
        settled = [] if self._is_dry_run else [settle(self._store, scope, now) for scope in self.scopes]
        return any(settled)

    def _read_file_edits(self) -> None:
        self._sync_files()

    def _make_refresher(self) -> Callable[[Sequence[AtomId]], bool]:
        tries_left, last_position = MAX_REFRESHES, self._store.position()

        def refresh(ids: Sequence[AtomId]) -> bool:
            nonlocal tries_left, last_position
            self._refresh(ids)
            before, last_position, tries_left = last_position, self._store.position(), tries_left - 1
            return tries_left >= 0 and last_position != before

        return refresh

    def _read_fresh(self, read: Callable[[], builtins.list[Atom]]) -> builtins.list[Atom]:
        """Return atoms as their files say now: read again if checking the files added commits."""
        before = self._store.position()
        atoms = read()
        self._refresh([atom.id for atom in atoms])
        return atoms if self._store.position() == before else read()

    def _refresh(self, ids: Sequence[AtomId]) -> None:
        """Commit edits of these atoms' files. The watcher may have done it already; the journal shows either way."""
        if self._is_dry_run:
            return
        with translate_disk_errors():
            stale = self._sync.find_stale_files(ids)
            if stale:
                self._sync.sync_files(stale)

    def _start_watching(self) -> Watcher | None:
        watcher = Watcher(
            self.root, self._on_change, lambda error: logger.warning("file watcher: %s", summarise_error(error))
        )
        return watcher if watcher.start() else None

    def _on_change(self, paths: frozenset[str]) -> None:
        self._sync.sync_files(paths)
        if any(map(layout.is_inbox_path, paths)):
            self._request_inbox_import()
        self._store.catch_up()
        if self._embedding_worker is not None:
            self._embedding_worker.wake()

    def _diagnosis_notes(self) -> Iterable[str]:
        first = self._store.read_journal(self.scopes, until=1)
        if first and first[0].verb == "adopt":
            yield (
                f"the journal begins on {first[0].at:%Y-%m-%d} with files that existed before; "
                "their earlier versions are not known and cannot be restored"
            )
        tool = vault_setup.sync_tool(self.root)
        if tool:
            yield f"{tool} owns this folder, so the databases are in {self.state}"
        if self._watcher is None and self.settings.watch:
            yield "files are not watched here; edits are read when an atom is recalled and when the vault is opened"


def parse_enum(enum_type: type[E], value: str, noun: str) -> E:
    """Return the enum member of a value; InvalidInput with the choices if there is none."""
    try:
        return enum_type(value)
    except ValueError as error:
        raise InvalidInput(f"{value!r} is no {noun}; choose from {', '.join(enum_type)}") from error


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    """Raise StoreError with advice in place of OSError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the disk failed: {error}; no acknowledged write is lost. Check the disk and try again"
        ) from error
