"""The dream cycle: run each step in each scope, plan it, check the plan, commit it once and report it.

A dream that is interrupted has committed whole steps only; the next dream does the rest.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.status import Way
from lamina.atom.trust import Origin
from lamina.dream.plan import Plan
from lamina.dream.policy import gated
from lamina.dream.report import DreamReport, StepReport, reason_of
from lamina.dream.scene import Scene
from lamina.errors import InvalidInput, LaminaError, StaleRevision
from lamina.lifecycle.guard import FEW, held
from lamina.logs import wordless
from lamina.review.waiting import HELD_DREAM
from lamina.store.base import Change, Commit, Store
from lamina.store.jobs import Jobs
from lamina.store.ledger import Problem
from lamina.telemetry import STEP, part
from lamina.vault import layout

logger = logging.getLogger("lamina")

JOB = "dream"
VERB = "dream"
BATCH = "dream-"
"""The prefix of a dream's name, which its commits share as their batch."""
LEASE_SECONDS = 1800.0
_TRIES = 3

_HERE = f"{socket.gethostname()}:"

Step = Callable[[Scene], Plan]
Progress = Callable[[int, int], None]
"""Receives how many steps are done and how many there are."""


@dataclass(frozen=True, slots=True)
class _Night:
    """The options of one dream: its batch, whether a person approved held steps, and whether it is a dry run."""

    batch: str
    anyway: bool
    dry: bool


def dream(
    scenes: Sequence[Scene],
    steps: Mapping[str, Step],
    store: Store,
    at: datetime,
    *,
    anyway: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> DreamReport:
    """Run the steps in every scope and report each; `is_approved` also runs steps that would be held for review."""
    options = _Night(f"{BATCH}{secrets.token_hex(6)}", anyway, dry_run)
    if dry_run:
        return DreamReport(
            options.batch, at, tuple(_taken(scenes, steps, options, lambda done, total: True)), dry_run=True
        )
    holder = f"{_HERE}{os.getpid()}-{secrets.token_hex(4)}"
    if not _taken_up(store.jobs, holder):
        return DreamReport(
            options.batch, at, (), asleep="another process is running a dream; `lamina jobs` shows which"
        )
    error = ""

    def report_progress(done: int, total: int) -> bool:
        if progress is not None:
            progress(done, total)
        return store.jobs.renew(JOB, holder, LEASE_SECONDS, done, total)

    try:
        reports = tuple(_taken(scenes, steps, options, report_progress))
        error = "; ".join(report.told for report in reports if report.failed)
        return DreamReport(options.batch, at, reports)
    except LaminaError as problem:
        error = str(problem)
        raise
    finally:
        store.jobs.release(JOB, holder, error)


def chosen(steps: Mapping[str, Step], names: Iterable[str]) -> dict[str, Step]:
    """Return the steps with these names in their usual order; InvalidInput names those that do not exist."""
    requested = set(names)
    unknown = sorted(requested - set(steps))
    if unknown:
        raise InvalidInput(f"unknown dream step {', '.join(unknown)}; choose from {', '.join(steps)}")
    return {name: step for name, step in steps.items() if name in requested}


def _taken_up(jobs: Jobs, holder: str) -> bool:
    """Acquire the lease of the dream job; take it over if its holder was a process of this machine that died."""
    if jobs.take(JOB, holder, LEASE_SECONDS):
        return True
    previous = next((job.holder for job in jobs.list() if job.name == JOB), "")
    if not previous.startswith(_HERE) or _is_alive(previous.removeprefix(_HERE).partition("-")[0]):
        return False
    jobs.release(JOB, previous, "its process died")
    return jobs.take(JOB, holder, LEASE_SECONDS)


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True


def _taken(
    scenes: Sequence[Scene], steps: Mapping[str, Step], night: _Night, goes_on: Callable[[int, int], bool]
) -> list[StepReport]:
    reports: list[StepReport] = []
    total = len(scenes) * len(steps)
    for context in scenes:
        for name, step in steps.items():
            if context.stop() or not goes_on(len(reports), total):
                return reports
            with part(VERB, {STEP: name}):
                reports.append(_step(name, step, context, night))
    goes_on(len(reports), total)
    return reports


def _step(name: str, step: Step, scene: Scene, night: _Night) -> StepReport:
    """Run one step in one scope; plan it again if another writer committed in the meantime."""
    for attempts_left in reversed(range(_TRIES)):
        try:
            return _done(name, _planned(name, step, scene), scene, night)
        except StaleRevision:
            if not attempts_left:
                return StepReport(
                    name, scene.scope, failed="other writers kept changing the memory; the next dream tries again"
                )
        except LaminaError as error:
            return StepReport(name, scene.scope, failed=f"nothing was changed: {error}")
    raise AssertionError("unreachable")


def _planned(name: str, step: Step, scene: Scene) -> Plan:
    """Plan a step and apply the policy. Any failure becomes a LaminaError, so that the other steps still run."""
    try:
        return gated(step(scene), scene)
    except LaminaError:
        raise
    except Exception as error:
        logger.error("dream step %s failed: %s", name, wordless(error))
        raise LaminaError(wordless(error)) from error


def _done(name: str, plan: Plan, scene: Scene, night: _Night) -> StepReport:
    path = f"{layout.folder_of(scene.scope)}dream:{name}"
    hold_reason = None if night.anyway else _held(plan, scene)
    if hold_reason is not None:
        message = f"dream {name}: {hold_reason}: `lamina dream --step {name} --dry-run` shows it, `--yes` applies it"
        scene.store.ledger.report(Problem(path, HELD_DREAM, message, at=scene.now))
        return StepReport(name, scene.scope, moves=plan.moves, notes=plan.notes, held=hold_reason)
    commit = None
    if plan.changes:
        committed = scene.store.commit(
            Commit(
                actor="lamina",
                origin=Origin.DREAM,
                verb=VERB,
                reason=reason_of(name, plan.moves),
                scope=scene.scope,
                changes=tuple(map(Change, plan.changes)),
                way=Way.UPKEEP,
                batch=night.batch,
            )
        )
        commit = committed.id
    failures = () if night.dry and not plan.in_trial else _noted(plan)
    scene.store.ledger.clear(path)
    return StepReport(name, scene.scope, commit, plan.moves, (*plan.notes, *failures))


def _held(plan: Plan, scene: Scene) -> str | None:
    if plan.touched <= FEW:  # few changes are never held, so the store need not be counted
        return None
    return held(plan.touched, sum(scene.store.counts((scene.scope,), "status").values()))


def _noted(plan: Plan) -> tuple[str, ...]:
    """Run what a plan does after its commit; return a note if that fails, because the commit is done."""
    try:
        plan.after()
    except LaminaError as error:
        return (f"committed, but its state for the next dream was not saved: {error}",)
    return ()
