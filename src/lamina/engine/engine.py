"""The engine of one vault: its store, files, models and background workers, opened once a process."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lamina.atom.atom import Atom, IdSource
from lamina.atom.provenance import readable_scopes
from lamina.atom.status import ENDED, Status, TransitionCause
from lamina.clock import Clock, SystemClock
from lamina.engine.background_work import BackgroundWork
from lamina.engine.effects import Effects, ReadOnlyEffects, TrialEffects, translate_disk_errors
from lamina.errors import StoreError
from lamina.model_registry import ModelRegistry
from lamina.review.confirm import apply_file_status, decide_new_file
from lamina.review.reinstatement import restore_atom
from lamina.settings import Settings, load_settings, override_settings
from lamina.store.sqlite import SqliteStore
from lamina.sync import StatusDecision, VaultSync
from lamina.vault import vault_setup
from lamina.vault.disk import Disk
from lamina.vault.disk_reserve import DiskReserve, fill_reserve, is_nearly_full, release_reserve

logger = logging.getLogger("lamina")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The parts of an open vault. It knows no caller; every acknowledged write is durable, whatever happens later.

    `state` is the folder of the databases; `created` says whether the vault is new. `models` loads models at their
    first use, `sync` keeps files and journal together, and `effects` is what a rollback of the store cannot undo.
    """

    root: Path
    state: Path
    created: bool
    settings: Settings
    clock: Clock
    ids: IdSource
    disk: Disk
    store: SqliteStore
    models: ModelRegistry
    sync: VaultSync
    background: BackgroundWork
    effects: Effects | TrialEffects
    scratch: tempfile.TemporaryDirectory[str] | None = None
    """The databases of a vault on a read-only disk, copied to where they can be opened."""

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        clock: Clock | None = None,
        settings: Settings | None = None,
        disk: Disk | None = None,
        vfs: str | None = None,
        **overrides: object,
    ) -> Engine:
        """Open the vault in a folder and create what is missing; StoreError if the disk fails.

        `overrides` are settings by name, which go before those of `settings` or the vault. No thread runs until
        `background.start`.
        """
        root, clock, ids = Path(path).expanduser().absolute(), clock or SystemClock(), IdSource(os.urandom)
        with translate_disk_errors():
            created = vault_setup.ensure_vault(root)
            if settings is None:
                settings = load_settings(root / vault_setup.INTERNAL_FOLDER / "settings.toml", **overrides)
            else:
                settings = override_settings(settings, **overrides)
            state = vault_setup.state_folder(root, settings.state_dir)
            vault_setup.make_private_folder(state)
            disk = disk or Disk(root)
            scratch = _copy_of_read_only(state)
            store = _open_store(state if scratch is None else Path(scratch.name), clock, vfs)
            if scratch is not None:
                store.history.db.forbid_writes()
        models = ModelRegistry(settings, store.admin.usage, clock)
        sync = _make_sync(root, disk, store, models, settings, clock, ids)
        threads = BackgroundWork(root, store, models, sync, enabled=settings.background, watch=settings.watch)
        effects = Effects(store, disk, sync, models, threads, state) if scratch is None else ReadOnlyEffects(store)
        return cls(
            root=root,
            state=state,
            created=created,
            settings=settings,
            clock=clock,
            ids=ids,
            disk=disk,
            store=store,
            models=models,
            sync=sync,
            background=threads,
            effects=effects,
            scratch=scratch,
        )

    @contextmanager
    def trial(self) -> Iterator[Engine]:
        """Yield an engine for a dry run: what is done with it is rolled back at the end, and touches nothing else."""
        with self.effects.trial() as effects:
            yield replace(self, effects=effects)

    def close(self) -> None:
        """Stop threads and close files. Acknowledged writes are durable without it."""
        self.background.stop()
        self.models.close()
        self.store.close()
        self.disk.close()
        if self.scratch is not None:
            self.scratch.cleanup()


def _copy_of_read_only(state: Path) -> tempfile.TemporaryDirectory[str] | None:
    """Return a copy of the databases if their disk is read-only: SQLite needs files beside them; None otherwise."""
    if os.access(state, os.W_OK) or not (state / "history.db").exists():
        return None
    logger.warning("the disk of %s is read-only: memories can be read, nothing can be written", state)
    scratch = tempfile.TemporaryDirectory(prefix="lamina-read-only-")
    for name in ("history.db", "history.db-wal", "index.db", "index.db-wal"):
        with suppress(FileNotFoundError):
            shutil.copyfile(state / name, Path(scratch.name) / name)
    return scratch


def _open_store(state: Path, clock: Clock, vfs: str | None) -> SqliteStore:
    """Open the store; if the disk is full, with the space that was kept for that."""
    try:
        store = SqliteStore(state, clock, vfs=vfs)
    except StoreError:
        if not is_nearly_full(state, DiskReserve.OPENING) or not release_reserve(state, DiskReserve.OPENING):
            raise
        return SqliteStore(state, clock, vfs=vfs)
    if vfs is None:
        fill_reserve(state)
    return store


def _make_sync(
    root: Path, disk: Disk, store: SqliteStore, models: ModelRegistry, settings: Settings, clock: Clock, ids: IdSource
) -> VaultSync:
    """Return what keeps files and journal together, with the decisions on files that people edit or add."""
    return VaultSync(
        disk,
        store,
        clock,
        ids,
        lambda: vault_setup.is_vault(root),
        lambda atom, status: _decide_status_edit(atom, status, store, clock, models),
        lambda atom: decide_new_file(atom, store, clock.now(), lambda: models.state_reader, models.dependency_rules),
        needs_review=settings.file_edits == "review",
    )


def _decide_status_edit(
    atom: Atom, status: Status, store: SqliteStore, clock: Clock, models: ModelRegistry
) -> StatusDecision:
    if atom.status in ENDED and status is Status.ACTIVE:
        restored, *others = restore_atom(atom, store, readable_scopes(atom.scope))
        return StatusDecision(restored, tuple(others), "", TransitionCause.RESTORE)
    return apply_file_status(atom, status, store, clock.now(), models.dependency_rules)
