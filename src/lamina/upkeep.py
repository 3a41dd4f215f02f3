"""`memory.upkeep`: what a person or a scheduler does to keep a vault in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from lamina.argument_checks import verb
from lamina.atom.atom import Atom
from lamina.capture.extractors import StateExtractor
from lamina.capture.store_reads import new_ids
from lamina.dream.dream import Progress as DreamProgress
from lamina.dream.dream import is_due, select_steps
from lamina.dream.guidelines_step import gather_tallies, write_guidelines
from lamina.dream.report import DreamReport
from lamina.dream.steps import NIGHTLY, STEPS
from lamina.engine.atom_changes import AtomChanges
from lamina.engine.backups import BackupReport, write_backup
from lamina.engine.caller_access import CallerAccess
from lamina.engine.captures import SessionReading
from lamina.engine.due_work import DueWork
from lamina.errors import InvalidInput, Refused
from lamina.importers.import_job import find_interrupted_imports, is_interrupted
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.promotion import decide_manual_demotion, decide_manual_promotion
from lamina.lifecycle.retention import RetentionMode
from lamina.review.charts import write_charts
from lamina.review.review_context import parse_reason
from lamina.review.rule_statement_migration import RereadResult, reread
from lamina.review.vault_health import Diagnosis, collect_stats, problems_in
from lamina.store.atoms import AtomFilter
from lamina.store.queue import Job
from lamina.sync import Progress, SyncReport
from lamina.telemetry import Operation
from lamina.text.timestamps import TimeInput, parse_time_or_none, to_utc
from lamina.vault import vault_setup


class Upkeep:
    """The verbs of upkeep: files, index, layers, dreams and health. `opening_report`: what opening the vault synced."""

    def __init__(self, access: CallerAccess, sessions: SessionReading, due_work: DueWork) -> None:
        self._access, self._sessions, self.due_work = access, sessions, due_work
        self._engine, self._caller, self._store = access.engine, access.caller, access.engine.store
        self._changes = AtomChanges(access)
        self.opening_report = SyncReport()

    @verb(Operation.MAINTAIN)
    def sync(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Read every file and import the inbox now; opening a memory does this too."""
        return self.due_work.sync(accept_deletions=accept_deletions, progress=progress)

    @verb(Operation.MAINTAIN)
    def tend(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Do the periodic work of a memory that stays open: read files, import the inbox, extract due captures."""
        self.due_work.tend(stop)

    @verb(Operation.MAINTAIN)
    def rebuild(self) -> int:
        """Rebuild the index from the journal; return the number of atoms of this memory in it."""
        self.sync()
        self._store.admin.rebuild_index()
        return sum(self._store.atoms.count_by("status", AtomFilter(scopes=self._caller.scopes)).values())

    @verb(Operation.MAINTAIN)
    def reread(self, *, apply: bool = False) -> RereadResult:
        """Replace statements that rules of earlier versions wrote by their sentences; without `apply`, only report it.

        Refused without a state model, and with a chat model, whose statements look like those of the rules.
        """
        states = self._engine.models.state_reader
        if states is None:
            raise Refused(
                "the state model cannot be loaded: its weights or onnxruntime are missing; see `lamina models`"
            )
        if self._engine.settings.chat != "none":
            raise Refused(
                "statements of the chat model look like those of the former rules; set `chat` to none and try again"
            )
        self._access.sync_files()
        return reread(StateExtractor(states), self._access.reviewer(), apply=apply)

    @verb(Operation.UPDATE)
    def promote(self, id: str, reason: str = "promoted") -> Atom:
        """Move an atom one layer up: working, episodic, then the layer of its kind, which does not fade."""
        return self._changes.move_layer(id, "promote", parse_reason(reason), decide_manual_promotion)

    @verb(Operation.UPDATE)
    def demote(self, id: str, reason: str = "demoted") -> Atom:
        """Move an atom one layer down, where it fades unless it is used."""
        return self._changes.move_layer(id, "demote", parse_reason(reason), decide_manual_demotion)

    @verb(Operation.MAINTAIN)
    def dream(
        self,
        steps: Sequence[str] | str | None = None,
        *,
        dry_run: bool = False,
        at: TimeInput | None = None,
        yes: bool = False,
        progress: DreamProgress | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> DreamReport:
        """Consolidate in steps: age, merge, cards, bridge, probe, drift, prune; `undo(report.batch)` undoes all.

        Vectors of faded atoms are then stored with fewer bits; this changes no atom and needs no undo. A step that
        would change more than 5 % of the store is held for a person, who allows it with `yes`.

        With `at`, a dry run shows what a dream at that time would do if nothing stored now was used until then, and the
        memory was otherwise in use. InvalidInput without `dry_run`: real dreams happen now.
        """
        if at is not None and not dry_run:
            raise InvalidInput("a dream at another time is a simulation; add dry_run (--dry-run)")
        if yes:
            self._caller.require_person("approve what a dream holds for review; only a person may")
        if not dry_run:
            return self._dream(self._access, steps, yes, progress, stop)
        simulated_at = None if at is None else self._parse_simulated_time(at)
        with self._engine.trial() as engine:
            return self._dream(CallerAccess(engine, self._caller), steps, yes, progress, stop, simulated_at)

    @verb()
    def dream_is_due(self) -> bool:
        """Return whether enough captures or hours have passed since the last dream, by the settings."""
        settings = self._engine.settings
        after = timedelta(hours=settings.dream_hours)
        return is_due(self._store, self._caller.scopes, self._access.now(), settings.dream_every, after)

    @verb(Operation.MAINTAIN)
    def doctor(self, *, deep: bool = False, look: bool = True) -> Diagnosis:
        """Return problems, faults and notes; `deep` also verifies the journal's hash chain and compares the index.

        `look=False` reports what is known already, without reading every file.
        """
        if look:
            self.sync()
        faults = self._store.admin.check() if deep else []
        chat = self._engine.models.find_chat_fault() if look else None
        faults += [chat] if chat else []
        stopped = find_interrupted_imports(self._store.queue, self._caller.scopes, self._access.now())
        problems = (*problems_in(self._store, self._caller.scopes), *stopped)
        return Diagnosis(problems, tuple(faults), tuple(self._diagnosis_notes()))

    @verb(Operation.MAINTAIN)
    def backup(self, path: str | os.PathLike[str]) -> BackupReport:
        """Write a consistent copy of the vault into a new folder, while others write; `lamina restore` reads it.

        InvalidInput if something is at the path already, or it is inside the vault.
        """
        self._access.flush()
        return write_backup(self._engine, Path(path).expanduser().absolute(), self._access.now())

    @verb(Operation.READ)
    def stats(self) -> dict[str, Any]:
        """Return counts and sizes of this memory."""
        engine, caller = self._engine, self._caller
        counts = collect_stats(engine.store, caller.scopes, engine.state, self._sessions.count_queued())
        return {"vault": str(engine.root), "scope": caller.scope, **counts}

    @verb()
    def jobs(self) -> list[Job]:
        """Return the background jobs with their holder, progress and result; those of ended processes have none."""
        now = self._access.now()
        return [
            replace(job, holder="", error=job.error or "interrupted") if is_interrupted(job, now) else job
            for job in self._store.queue.list_jobs()
        ]

    @verb()
    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw retention, heat and the number of atoms over time into an .svg or .png file; return its path."""
        target, mode = Path(path).expanduser(), RetentionMode(self._engine.settings.retention)
        write_charts(target, self._store, self._caller.scopes, self._access.now(), mode)
        return target

    def _dream(
        self,
        access: CallerAccess,
        steps: Sequence[str] | str | None,
        is_approved: bool,
        progress: DreamProgress | None,
        stop: Callable[[], bool],
        simulated_at: datetime | None = None,
    ) -> DreamReport:
        chosen_steps = NIGHTLY if steps is None else select_steps(STEPS, [steps] if isinstance(steps, str) else steps)
        access.sync_files()
        if access is self._access:  # in a dry run nothing is written
            self._sessions.seal_boxes()
        engine, now = access.engine, simulated_at or access.now()
        contexts = [
            engine.models.make_dream_context(engine.store, scope, new_ids(engine.ids, now), stop)
            for scope in access.caller.scopes
        ]
        if simulated_at is not None:
            contexts = [replace(context, moment=AgeingTime(simulated_at)) for context in contexts]
        report = engine.effects.dream(contexts, chosen_steps, now, is_approved=is_approved, progress=progress)
        access.flush()
        tallies = [gather_tallies(context) for context in contexts] if steps is None else []
        return replace(report, guidelines=tuple(line for tally in tallies for line in write_guidelines(tally)))

    def _parse_simulated_time(self, at: TimeInput) -> datetime:
        moment = to_utc(at) if isinstance(at, datetime) else parse_time_or_none(str(at))
        if moment is None or moment < self._access.now():
            raise InvalidInput(f"at: {at} is not a time in the future; give one such as 2030-06-01")
        return moment

    def _diagnosis_notes(self) -> Iterable[str]:
        engine = self._engine
        first = self._store.journal.read(self._caller.scopes, until=1)
        if first and first[0].verb == "adopt":
            yield (
                f"the journal begins on {first[0].at:%Y-%m-%d} with files that existed before; "
                "their earlier versions are not known and cannot be restored"
            )
        tool = vault_setup.sync_tool(engine.root)
        if tool:
            yield f"{tool} owns this folder, so the databases are in {engine.state}"
        if engine.settings.watch and not engine.background.is_watching:
            yield "files are not watched here; edits are read when an atom is recalled and when the vault is opened"
