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
from lamina.atom.scope import Scope, agent, organisation, parse_scope, visible_from
from lamina.atom.status import ENDED, Status, Way
from lamina.atom.trust import Origin, bound
from lamina.capture.box import seal
from lamina.capture.capture import capture
from lamina.capture.change.dependants import with_dependants
from lamina.capture.conversation import Conversation
from lamina.capture.reading import Pace, Reader, Rhythm, read_due, read_session
from lamina.capture.receipt import Receipt
from lamina.capture.session_lease import SessionLease, waited_for
from lamina.capture.write import Writer, fresh_ids
from lamina.clock import Clock, SystemClock
from lamina.dream.entity_pages import named_in, write_pages
from lamina.dream.following import follow
from lamina.equipment import Equipment
from lamina.errors import Erased, InvalidInput, InvalidScope, LaminaError, NotFound, StaleRevision, StoreError
from lamina.importers.bring import Desk
from lamina.importers.inbox import MOMENT, Inbox, Taken
from lamina.importers.retold import retold
from lamina.logs import wordless
from lamina.models.encode import Background
from lamina.recall.hit import Recall
from lamina.review.confirm import by_file
from lamina.review.diagnosis import is_theirs, problems_of
from lamina.review.erase import Eraser, finish
from lamina.review.restore import restored
from lamina.review.review import Review
from lamina.review.reviewer import Reviewer
from lamina.review.settle import settle
from lamina.settings import Settings, load_settings
from lamina.store.base import Change, Commit, Filter
from lamina.store.sqlite import SqliteStore
from lamina.sync import Decision, Progress, Sync, SyncReport
from lamina.vault import home, layout
from lamina.vault.files import Disk
from lamina.vault.watch import Watcher
from lamina.worker import Worker
from lamina.working.context import WorkingContext

logger = logging.getLogger("lamina")

REFRESHES = 5
INBOX_PATIENCE = 5.0
"""Seconds to wait while another program imports the inbox."""
READ_AGAIN = 30.0
"""Seconds until queued passages are checked again: some become due by their age alone."""
SEAL_EVERY = timedelta(minutes=1)
"""Time between two searches for boxes that can be closed; each reads the newest statements."""

E = TypeVar("E", bound=StrEnum)
Elsewhere = Callable[[Scope, str, Mapping[str, Any]], Recall | None]
"""Recalls in another process: takes the scope, the question and the options of `recall`; None if it cannot."""


class Opened:
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
        with disk_errors():
            self.created = home.establish(self.root)
            self.settings = settings or load_settings(
                self.root / home.FOLDER / "settings.toml", scope=scope, watch=watch, background=background
            )
        self.scope = parse_scope(scope if scope is not None else self.settings.scope)
        self._actor, self._principal, self._ceiling = actor, principal, one_of(Origin, ceiling, "origin")
        self._clock: Clock = clock or SystemClock()
        self._ids = IdSource(os.urandom)
        self._trying = self._seated = False
        self._sealed_at: datetime | None = None
        self._elsewhere: Elsewhere | None = None
        with disk_errors():
            self.state = home.state_folder(self.root, self.settings.state_dir)
            home.make_own(self.state)
            self._disk = disk or Disk(self.root)
            self._store = SqliteStore(self.state, self._clock, vfs=vfs)
            self._followed = self._store.position()
        self._equipment = Equipment(self.settings, self._store.usage, self._clock)
        self._sync = Sync(
            self._disk,
            self._store,
            self._clock,
            self._ids,
            lambda: home.is_vault(self.root),
            self._decision,
            review=self.settings.file_edits == "review",
        )
        self.review = Review(self._reviewer())
        self._inbox = Inbox(self._disk, self._store.ledger, self.scopes, lambda scope: self._desk(scope, (), "inbox"))
        self._encoding = (
            Background(self._store, self._equipment.embedders)
            if (self.settings.background if background is None else background)
            else None
        )
        self._reading = (
            Worker("reading", self._read_in_background)
            if (self.settings.background if background is None else background)
            else None
        )
        self._watcher = self._start_watching() if (self.settings.watch if watch is None else watch) else None
        try:
            self._finish_erasures()
            self.opened = self._look(progress=progress)
            self._take_inbox(progress=progress)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close files and stop threads. Acknowledged writes are durable without it. Does nothing on a shared engine."""
        if self._seated:
            return
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        for worker in (self._reading, self._encoding):
            if worker is not None:
                worker.stop()
        if self._reading is not None:
            self._follow_up()
        self._equipment.close()
        self._store.close()
        self._disk.close()

    def seat(
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
        shared._seated, shared._sealed_at = True, None
        shared.scope = self.scope if scope is None else parse_scope(scope)
        shared._actor, shared._principal, shared._ceiling = actor, principal, one_of(Origin, ceiling, "origin")
        shared._followed = shared._store.position()
        shared.review = Review(shared._reviewer())
        shared._inbox = Inbox(
            shared._disk, shared._store.ledger, shared.scopes, lambda scope: shared._desk(scope, (), "inbox")
        )
        return shared

    def ask_through(self, elsewhere: Elsewhere | None) -> None:
        """Let another process answer recalls if it can, for this memory and every memory made from it later."""
        self._elsewhere = elsewhere

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Run verbs as a dry run: inside the block they report what they would do; at its end all is rolled back."""
        with self._store.trial():
            self._trying = True
            try:
                yield
            finally:
                self._trying = False

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes this memory may read: its own and that of its organisation."""
        return visible_from(self.scope)

    def _look(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        if self._trying:
            return SyncReport()
        with disk_errors():
            report = self._sync.run(accept_deletions=accept_deletions, progress=progress)
        if report.deleted or report.edited:
            self._follow_up()
        # A file of this scope in another scope's folder is held there; its owner has to know.
        misplaced_paths = {problem.path for problem in problems_of(self._store, self.scopes)} if report.held else set()
        return report.of(lambda path: path in misplaced_paths or is_theirs(path, self.scopes))

    def _read_queues(self, scopes: Sequence[Scope], progress: Progress | None = None) -> builtins.list[Receipt]:
        queues = [queue for queue in self._store.buffer.queues() if queue.scope in scopes]
        receipts: builtins.list[Receipt] = []
        for n, each in enumerate(queues):
            if progress:
                progress("reading", n, len(queues))
            with self._leased(each.scope, each.session_id) as lease:
                receipts += self._read(each.scope, each.session_id, lease)
        self._seal_boxes()
        self._flush()
        return [self._published(receipt) for receipt in receipts]

    def _writer(self, origin: Origin | str | None, private: bool) -> Writer:
        scope = self.scope if private or agent(self.scope) is None else Scope(f"org:{organisation(self.scope)}")
        declared = one_of(Origin, origin, "origin") if origin is not None else None
        if declared is Origin.DREAM:
            raise InvalidInput("origin `dream` is reserved for lamina itself; choose another origin")
        return self._writer_for(bound(self._ceiling, declared), scope)

    def _writer_for(self, origin: Origin, scope: Scope) -> Writer:
        registry = self._equipment
        return Writer(
            self._actor, origin, self._principal, scope, registry.dependencies, self._ceiling, registry.several
        )

    def _working_context(self, private: bool) -> WorkingContext:
        return WorkingContext(
            store=self._store,
            writer=self._writer(None, private),
            agents=self._agents(private),
            ids=self._ids,
            now=self._clock.now,
            read_fresh=lambda query: self._fresh(lambda: self._store.read(query)),
            publish=self._published,
            personal=self.settings.redact_personal,
        )

    def _reviewer(self) -> Reviewer:
        return Reviewer(
            store=self._store,
            scope=self.scope,
            scopes=self.scopes,
            actor=self._actor,
            ceiling=self._ceiling,
            principal=self._principal,
            ids=self._ids,
            now=self._clock.now,
            find=self._one,
            fresh=lambda query: self._fresh(lambda: self._store.read(query)),
            published=self._published,
            problems=lambda: [*problems_of(self._store, self.scopes)],
            personal=self.settings.redact_personal,
            rules=self._equipment.dependencies,
        )

    def _decision(self, atom: Atom, status: Status) -> Decision:
        if atom.status in ENDED and status is Status.ACTIVE:
            restored_atom, *others = self._restored(atom, status)
            return Decision(restored_atom, tuple(others), "", Way.RESTORE)
        return by_file(atom, status, self._store, self._clock.now(), self._equipment.dependencies)

    def _restored(self, atom: Atom, status: Status) -> builtins.list[Atom]:
        is_reopened = atom.status in ENDED and status is Status.ACTIVE
        return restored(atom, self._store, self.scopes) if is_reopened else [atom.with_(status=status)]

    def _agents(self, private: bool) -> tuple[str, ...]:
        name = agent(self.scope)
        return (name,) if name and not private else ()

    def _permitted(self, scopes: Sequence[str] | None) -> tuple[Scope, ...]:
        if scopes is None:
            return self.scopes
        allowed = tuple(parse_scope(scope) for scope in ([scopes] if isinstance(scopes, str) else scopes))
        if not allowed or set(allowed) - set(self.scopes):
            raise InvalidScope(
                f"{self.scope} may read {', '.join(self.scopes)}, not {', '.join(map(str, scopes)) or 'nothing'}"
            )
        return allowed

    def _eraser(self) -> Eraser:
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
            told=tuple(outside_copies),
        )

    def _finish_erasures(self) -> None:
        """Finish interrupted erasures, so that erased text is gone before anything is read."""
        try:
            finish(self._store, self._disk, self._sync)
        except (OSError, StoreError) as error:
            logger.warning("an erasure is not finished, it will be retried: %s", wordless(error))

    def _one(self, id: str) -> Atom:
        """Return one atom as its file says now; NotFound if there is none."""
        return self._fresh(lambda: [self._find(id)])[0]

    def _find(self, id: str) -> Atom:
        """Return the atom of an id or of the unique end of an id; NotFound or Erased otherwise."""
        if is_atom_id(id):
            atoms = self._store.read(Filter(scopes=self.scopes, ids=(AtomId(id),)))
        elif len(id) >= 4 and id.isalnum():
            atoms = self._store.read(Filter(scopes=self.scopes, id_ending=id))
        else:
            atoms = []
        stub = self._store.fingerprints.stub(id, self.scopes) if not atoms and id else None
        if stub is not None:
            raise Erased(stub.atom_id, stub.at, stub.actor, stub.reason)
        if len(atoms) != 1:
            raise NotFound(f"{len(atoms)} atoms end in {id!r}; give more of the id" if atoms else f"no atom {id!r}")
        return atoms[0]

    def _keep(
        self,
        said: Conversation,
        writer: Writer,
        key: str | None,
        *,
        at_once: bool,
        verb: str = "capture",
        is_read: bool = False,
    ) -> Receipt:
        idle = timedelta(minutes=self.settings.idle_minutes)
        return capture(
            said,
            writer,
            self._store,
            self._ids,
            self._clock.now(),
            self.settings.segment_chars,
            idle,
            retold(self._reader) if is_read else self._reader,
            key,
            at_once=at_once or is_read,
            verb=verb,
        )

    def _desk(self, scope: Scope, agents: tuple[str, ...], verb: str) -> Desk:
        """Return the context for imports: they are written as evidence, never with more trust than the caller has."""

        def keep(captured: Conversation, writer: Writer, key: str, is_read: bool) -> Receipt:
            at_once = self._reader.extractor.instant
            return self._published(self._keep(captured, writer, key, at_once=at_once, verb=verb, is_read=is_read))

        return Desk(
            store=self._store,
            ids=self._ids,
            now=self._clock.now,
            keep=keep,
            published=self._published,
            agents=agents,
            writer=lambda origin: self._writer_for(bound(self._ceiling, origin), scope),
            personal=self.settings.redact_personal,
        )

    def _take_inbox(self, *, again: bool = False, progress: Progress | None = None) -> None:
        """Import the inbox: in the background if there is a worker, otherwise now."""
        if self._trying:
            return
        if self._reading is not None and not again:
            self._reading.soon()
            return
        self._open_inbox(again=again, patience=INBOX_PATIENCE, progress=progress)

    def _open_inbox(self, **how: Any) -> Taken:
        """Import the inbox now. If the disk fails, log it: the files stay there and are imported later."""
        try:
            return self._inbox.take(**how)
        except (OSError, StoreError) as error:
            logger.warning("the inbox will be imported later: %s", wordless(error))
            return Taken()

    def _change(self, id: str, verb: str, reason: str, change: Callable[[Atom], Atom]) -> Atom:
        """Read, change and commit one atom; return its new version."""
        return self._change_together(id, verb, reason, lambda atom: [change(atom)])

    def _change_together(
        self, id: str, verb: str, reason: str, change: Callable[[Atom], Sequence[Atom]], way: Way = Way.ORDINARY
    ) -> Atom:
        """Read an atom and commit it with all that changes with it; after a conflicting write, retry under a lock."""

        def changed(atom: Atom) -> Atom:
            rules = self._equipment.dependencies
            atoms, full_reason = with_dependants(change(atom), reason, self._store, self._ceiling, rules)
            commit = Commit(
                actor=self._actor,
                origin=self._ceiling,
                verb=verb,
                reason=full_reason,
                scope=self.scope,
                way=way,
                changes=tuple(map(Change, atoms)),
            )
            return self._store.commit(commit).atoms[0]

        try:
            committed = changed(self._one(id))
        except StaleRevision:
            with self._store.alone():
                committed = changed(self._find(id))
        self._flush()
        return committed

    def _published(self, receipt: Receipt, *, later: bool = False) -> Receipt:
        """Write the files and return the receipt with their paths; `in_background` leaves the writing to a worker."""
        if later and self._reading is not None and not self._trying:
            self._reading.soon()
        else:
            self._flush()
        paths = self._store.ledger.paths_of({outcome.atom.id for outcome in receipt.outcomes})
        return replace(
            receipt, outcomes=tuple(replace(outcome, path=paths.get(outcome.atom.id)) for outcome in receipt.outcomes)
        )

    def _flush(self) -> None:
        """Write the files of recent commits, and wake the extraction worker."""
        if self._trying:
            return
        self._follow_up()
        if self._reading is not None:
            self._reading.soon()

    def _follow_up(self) -> None:
        """Write pages, files and index. If the disk fails, the commit is kept and the rest is written later."""
        self._turn_pages()
        for write in (self._sync.flush, self._store.catch_up):
            try:
                write()
            except (OSError, StoreError) as error:
                logger.warning("files and index will be written later: %s", wordless(error))
        if self._encoding is not None:
            self._encoding.soon()

    def _turn_pages(self) -> None:
        """Update pages and summaries after statements were retracted; if that fails, the next dream does it."""
        try:
            since, self._followed = self._followed, self._store.position()
            if self._followed != since:
                follow(self._store, self.scopes, since, self._ids, self._clock.now())
        except LaminaError as error:
            logger.warning("pages will be updated by the next dream: %s", wordless(error))

    @property
    def _reader(self) -> Reader:
        return self._equipment.reader

    def _read(self, scope: Scope, session_id: str, lease: SessionLease | None) -> builtins.list[Receipt]:
        return read_session(
            self._store, self._reader, scope, session_id, self._actor, self._ids, self._clock.now, lease
        )

    @contextmanager
    def _leased(self, scope: Scope, session_id: str) -> Iterator[SessionLease | None]:
        """Hold the extraction lease of a session; None in a dry run, which already holds a lock."""
        if self._trying:
            yield None
            return
        with waited_for(SessionLease(self._store.buffer, scope, session_id, self._clock.now)) as lease:
            yield lease

    def _read_in_background(self, stop: Callable[[], bool]) -> float | None:
        imported = self._read_what_is_due(stop)
        return MOMENT if imported.later else READ_AGAIN if self._store.buffer.queues() else None

    def _read_what_is_due(self, stop: Callable[[], bool], patience: float = 0.0) -> Taken:
        """Import the inbox, extract captures that are due, and apply changes that are due by date."""
        self._follow_up()
        imported = self._open_inbox(stop=stop, patience=patience)
        minutes = timedelta(minutes=self.settings.batch_minutes)
        pace = Pace(Rhythm(self.settings.rhythm), self.settings.batch_turns, minutes)
        read_due(self._store, self._reader, pace, self._actor, self._ids, self._clock.now, stop)
        if self._sealed_at is None or abs(self._clock.now() - self._sealed_at) >= SEAL_EVERY:
            self._seal_boxes()
        self._settle()
        self._follow_up()
        return imported

    def _seal_boxes(self) -> None:
        """Close finished boxes and update the pages of the entities named in them."""
        now = self._sealed_at = self._clock.now()
        for scope in self.scopes:
            names = named_in(seal(self._store, scope, now))
            write_pages(self._store, scope, names, fresh_ids(self._ids, now), now)

    def _settle(self) -> bool:
        """End the values whose announced successor has become valid; return whether anything changed."""
        now = self._clock.now()
        settled = [] if self._trying else [settle(self._store, scope, now) for scope in self.scopes]
        return any(settled)

    def _look_for_edits(self) -> None:
        self._look()

    def _refresher(self) -> Callable[[Sequence[AtomId]], bool]:
        tries_left, last_position = REFRESHES, self._store.position()

        def refresh(ids: Sequence[AtomId]) -> bool:
            nonlocal tries_left, last_position
            self._refresh(ids)
            before, last_position, tries_left = last_position, self._store.position(), tries_left - 1
            return tries_left >= 0 and last_position != before

        return refresh

    def _fresh(self, read: Callable[[], builtins.list[Atom]]) -> builtins.list[Atom]:
        """Return atoms as their files say now: read again if checking the files added commits."""
        before = self._store.position()
        atoms = read()
        self._refresh([atom.id for atom in atoms])
        return atoms if self._store.position() == before else read()

    def _refresh(self, ids: Sequence[AtomId]) -> None:
        """Commit edits of these atoms' files. The watcher may have done it already; the journal shows either way."""
        if self._trying:
            return
        with disk_errors():
            stale = self._sync.stale(ids)
            if stale:
                self._sync.look_at(stale)

    def _start_watching(self) -> Watcher | None:
        watcher = Watcher(self.root, self._on_change, lambda error: logger.warning("file watcher: %s", wordless(error)))
        return watcher if watcher.start() else None

    def _on_change(self, paths: frozenset[str]) -> None:
        self._sync.look_at(paths)
        if any(map(layout.is_inbox, paths)):
            self._take_inbox()
        self._store.catch_up()
        if self._encoding is not None:
            self._encoding.soon()

    def _notes(self) -> Iterable[str]:
        first = self._store.journal(self.scopes, until=1)
        if first and first[0].verb == "adopt":
            yield (
                f"the journal begins on {first[0].at:%Y-%m-%d} with files that existed before; "
                "their earlier versions are not known and cannot be restored"
            )
        tool = home.sync_tool(self.root)
        if tool:
            yield f"{tool} owns this folder, so the databases are in {self.state}"
        if self._watcher is None and self.settings.watch:
            yield "files are not watched here; edits are read when an atom is recalled and when the vault is opened"


def one_of(family: type[E], given: str, noun: str) -> E:
    """Return the enum member of a value; InvalidInput with the choices if there is none."""
    try:
        return family(given)
    except ValueError as error:
        raise InvalidInput(f"{given!r} is no {noun}; choose from {', '.join(family)}") from error


@contextmanager
def disk_errors() -> Iterator[None]:
    """Raise StoreError with advice in place of OSError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the disk failed: {error}; no acknowledged write is lost. Check the disk and try again"
        ) from error
