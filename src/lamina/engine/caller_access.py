"""An engine as one caller uses it: reading atoms as their files say, and writing files after a commit."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from lamina.argument_checks import parse_enum
from lamina.atom.atom import Atom, AtomId, is_atom_id
from lamina.atom.provenance import Origin, Scope, limit_origin
from lamina.caller import Caller
from lamina.capture.receipt import Receipt
from lamina.capture.statement_commit import Writer
from lamina.dream.retraction_updates import cascade_changes
from lamina.engine.engine import Engine
from lamina.errors import Erased, InvalidInput, LaminaError, NotFound
from lamina.logs import summarise_error
from lamina.review.review_context import Reviewer
from lamina.review.vault_health import is_in_scopes, problems_in
from lamina.store.base import AtomFilter
from lamina.store.journal import TICK
from lamina.sync import Progress, SyncReport
from lamina.working.writer_access import WriterAccess

logger = logging.getLogger("lamina")


class CallerAccess:
    """The steps that the verbs of one caller share."""

    def __init__(self, engine: Engine, caller: Caller) -> None:
        self.engine, self.caller = engine, caller
        self._pages_position = engine.store.journal.position()

    def now(self) -> datetime:
        """Return the current time, never before the last commit: what was written holds, whatever the clock says."""
        now = self.engine.clock.now()
        return max(now, self.engine.store.journal.last_commit_at() or now)

    def write_time(self) -> datetime:
        """Return the time of words that state none: now, and later than all that was committed before them."""
        now, last = self.engine.clock.now(), self.engine.store.journal.last_commit_at()
        return now if last is None else max(now, last + TICK)

    def find_atom(self, id: str) -> Atom:
        """Return the atom of an id, of the unique end of an id, or of its id in the memory that it comes from.

        NotFound or Erased otherwise.
        """
        store, scopes = self.engine.store, self.caller.scopes
        if is_atom_id(id):
            atoms = store.atoms.read(AtomFilter(scopes=scopes, ids=(AtomId(id),)))
        elif len(id) >= 4 and id.isalnum():
            atoms = store.atoms.read(AtomFilter(scopes=scopes, id_suffix=id))
        else:
            atoms = []
        atoms = atoms or (store.atoms.read(AtomFilter(scopes=scopes, source_ref=id)) if id else [])
        stubs = store.admin.erasures.list_stubs(scopes, id) if not atoms and id else []
        if len(stubs) == 1:
            stub = stubs[0]
            raise Erased(stub.atom_id, stub.at, stub.actor, stub.reason)
        if len(atoms) > 1:
            raise NotFound(f"{len(atoms)} atoms have an id that is or ends in {id!r}; give the whole id of one")
        if not atoms:
            raise NotFound(f"no atom {id!r}")
        return atoms[0]

    def read_atom(self, id: str) -> Atom:
        """Return one atom as its file says now; NotFound if there is none."""
        return self.read_fresh(lambda: [self.find_atom(id)])[0]

    def read_synced(self, query: AtomFilter) -> list[Atom]:
        """Return atoms as their files say now."""
        return self.read_fresh(lambda: self.engine.store.atoms.read(query))

    def read_fresh(self, read: Callable[[], list[Atom]]) -> list[Atom]:
        """Return atoms as their files say now: read again if checking the files added commits."""
        store = self.engine.store
        before = store.journal.position()
        atoms = read()
        position = self.engine.effects.commit_file_edits(store.projection.read(ids=[atom.id for atom in atoms]))
        return atoms if position == before else read()

    def sync_files(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Sync every file; return what changed in the files that the caller may see."""
        report = self.engine.effects.sync_files(accept_deletions=accept_deletions, progress=progress)
        if report.deleted or report.edited:
            self.write_files()
        # A file of this scope in another scope's folder is held there; its owner has to know.
        store, scopes = self.engine.store, self.caller.scopes
        misplaced_paths = {problem.path for problem in problems_in(store, scopes)} if report.held else set()
        return report.for_paths(lambda path: path in misplaced_paths or is_in_scopes(path, scopes))

    def publish(self, receipt: Receipt) -> Receipt:
        """Write the files and return the receipt with their paths."""
        self.flush()
        return self.with_paths(receipt)

    def publish_later(self, receipt: Receipt) -> Receipt:
        """Leave the writing of files to a worker, and return the receipt with the paths that are known."""
        self.engine.effects.wake_reading()
        return self.with_paths(receipt)

    def with_paths(self, receipt: Receipt) -> Receipt:
        """Return the receipt with the paths of its atoms."""
        paths = self.engine.store.projection.paths_of({outcome.atom.id for outcome in receipt.outcomes})
        return replace(
            receipt, outcomes=tuple(replace(outcome, path=paths.get(outcome.atom.id)) for outcome in receipt.outcomes)
        )

    def flush(self) -> None:
        """Write the files of recent commits, and wake the worker that reads what is captured."""
        self.write_files()
        self.engine.effects.wake_reading()

    def write_files(self) -> None:
        """Update the pages of what changed, and write files and index."""
        self._update_pages()
        self.engine.effects.write_files()

    def _update_pages(self) -> None:
        """Update pages and summaries after statements were retracted; if that fails, the next dream does it."""
        store = self.engine.store
        try:
            since, self._pages_position = self._pages_position, store.journal.position()
            if self._pages_position != since:
                cascade_changes(store, self.caller.scopes, since, self.engine.ids, self.engine.clock.now())
        except LaminaError as error:
            logger.warning("pages will be updated by the next dream: %s", summarise_error(error))

    def writer(self, origin: Origin | str | None, private: bool) -> Writer:
        """Return the writer of a declared origin, never with more trust than the caller; InvalidInput for `dream`."""
        declared = parse_enum(Origin, origin, "origin") if origin is not None else None
        if declared is Origin.DREAM:
            raise InvalidInput("origin `dream` is reserved for lamina itself; choose another origin")
        return self.writer_to(self.caller.writing_scope(private), declared)

    def writer_to(self, scope: Scope, origin: Origin | None) -> Writer:
        """Return the writer to a scope, never with more trust than the caller has."""
        caller, models = self.caller, self.engine.models
        return Writer(
            caller.actor,
            limit_origin(caller.ceiling, origin),
            caller.principal,
            scope,
            models.dependency_rules,
            caller.ceiling,
            models.multi_valued_attributes,
        )

    def working_context(self, private: bool) -> WriterAccess:
        """Return what runs and blocks work with."""
        engine = self.engine
        return WriterAccess(
            store=engine.store,
            writer=self.writer(None, private),
            agents=self.caller.agents(private),
            ids=engine.ids,
            now=self.now,
            read_fresh=self.read_synced,
            publish=self.publish,
            personal=engine.settings.redact_personal,
        )

    def reviewer(self) -> Reviewer:
        """Return what review decisions work with."""
        engine, caller = self.engine, self.caller
        return Reviewer(
            store=engine.store,
            scope=caller.scope,
            scopes=caller.scopes,
            actor=caller.actor,
            ceiling=caller.ceiling,
            principal=caller.principal,
            ids=engine.ids,
            now=self.now,
            find_atom=self.read_atom,
            read_synced=self.read_synced,
            publish=self.publish,
            list_problems=lambda: [*problems_in(engine.store, caller.scopes)],
            redact_personal=engine.settings.redact_personal,
            rules=engine.models.dependency_rules,
        )
