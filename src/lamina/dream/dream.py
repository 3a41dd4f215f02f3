"""The dream cycle: run each step in each scope, plan it, check the plan, commit it once and report it.

A dream that is interrupted has committed whole steps only; the next dream does the rest.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamina.atom.provenance import Scope
from lamina.atom.status import TransitionCause
from lamina.dream.change_policy import apply_policy
from lamina.dream.entity_pages import dream_writer
from lamina.dream.report import DreamReport, StepReport, commit_reason
from lamina.dream.step import StepContext, StepPlan
from lamina.errors import InvalidInput, LaminaError, StaleRevision
from lamina.lifecycle.ageing_decision import SMALL_CHANGE, reason_to_hold
from lamina.logs import summarise_error
from lamina.review.pending_items import HELD_DREAM
from lamina.store.admin import FileProblem
from lamina.store.atoms import AtomFilter
from lamina.store.base import Store
from lamina.store.queue import LeaseRenewal, new_lease_token
from lamina.telemetry import STEP, trace_step
from lamina.vault import layout

logger = logging.getLogger("lamina")

JOB = "dream"
VERB = "dream"
BATCH_PREFIX = "dream-"
"""The prefix of a dream's name, which its commits share as their batch."""
LEASE_SECONDS = 60.0
"""How long a lease lasts unless it is renewed: after a crash, the next dream can start so much later."""
_ATTEMPTS = 3
_CAPTURE_VERBS = frozenset({"capture", "extract", "import", "inbox"})

Step = Callable[[StepContext], StepPlan]
Progress = Callable[[int, int], None]
"""Receives how many steps are done and how many there are."""


@dataclass(frozen=True, slots=True)
class _DreamOptions:
    """The options of one dream: its batch, whether a person approved held steps, and whether it is a dry run."""

    batch: str
    is_approved: bool
    is_dry_run: bool


def dream(
    contexts: Sequence[StepContext],
    steps: Mapping[str, Step],
    store: Store,
    at: datetime,
    *,
    is_approved: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> DreamReport:
    """Run the steps in every scope and report each; `is_approved` also runs steps that would be held for review."""
    options = _DreamOptions(f"{BATCH_PREFIX}{secrets.token_hex(6)}", is_approved, dry_run)
    if dry_run:
        return DreamReport(
            options.batch, at, tuple(_run_steps(contexts, steps, options, lambda done, total: True)), dry_run=True
        )
    holder = new_lease_token()
    if not store.queue.lease(JOB, holder, LEASE_SECONDS):
        return DreamReport(
            options.batch, at, (), asleep="another process is running a dream; `lamina jobs` shows which"
        )
    error, lease = "", LeaseRenewal(store.queue, JOB, holder, LEASE_SECONDS)

    def report_progress(done: int, total: int) -> bool:
        if progress is not None:
            progress(done, total)
        return lease.report(done, total)

    try:
        with lease.run():
            reports = tuple(_run_steps(contexts, steps, options, report_progress))
        error = "; ".join(report.summary for report in reports if report.failed)
        return DreamReport(options.batch, at, reports)
    except LaminaError as problem:
        error = str(problem)
        raise
    finally:
        store.queue.release(JOB, holder, error)


def select_steps(steps: Mapping[str, Step], names: Iterable[str]) -> dict[str, Step]:
    """Return the steps with these names in their usual order; InvalidInput names those that do not exist."""
    requested = set(names)
    unknown = sorted(requested - set(steps))
    if unknown:
        raise InvalidInput(f"unknown dream step {', '.join(unknown)}; choose from {', '.join(steps)}")
    return {name: step for name, step in steps.items() if name in requested}


def _run_steps(
    contexts: Sequence[StepContext],
    steps: Mapping[str, Step],
    options: _DreamOptions,
    report_progress: Callable[[int, int], bool],
) -> list[StepReport]:
    reports: list[StepReport] = []
    total = len(contexts) * len(steps)
    for context in contexts:
        for name, step in steps.items():
            if context.should_stop() or not report_progress(len(reports), total):
                return reports
            with trace_step(VERB, {STEP: name}):
                reports.append(_run_step(name, step, context, options))
    report_progress(len(reports), total)
    return reports


def _run_step(name: str, step: Step, context: StepContext, options: _DreamOptions) -> StepReport:
    """Run one step in one scope; plan it again if another writer committed in the meantime."""
    for attempts_left in reversed(range(_ATTEMPTS)):
        try:
            return _apply_plan(name, _plan_step(name, step, context), context, options)
        except StaleRevision:
            if not attempts_left:
                return StepReport(
                    name, context.scope, failed="other writers kept changing the memory; the next dream tries again"
                )
        except LaminaError as error:
            return StepReport(name, context.scope, failed=f"nothing was changed: {error}")
    raise AssertionError("unreachable")


def _plan_step(name: str, step: Step, context: StepContext) -> StepPlan:
    """Plan a step and apply the policy. Any failure becomes a LaminaError, so that the other steps still run."""
    try:
        return apply_policy(step(context), context)
    except LaminaError:
        raise
    except Exception as error:
        logger.error("dream step %s failed: %s", name, summarise_error(error))
        raise LaminaError(summarise_error(error)) from error


def _apply_plan(name: str, plan: StepPlan, context: StepContext, options: _DreamOptions) -> StepReport:
    path = f"{layout.scope_folder(context.scope)}dream:{name}"
    hold_reason = None if options.is_approved else _hold_reason(plan, context)
    if hold_reason is not None:
        message = f"dream {name}: {hold_reason}: `lamina dream --step {name} --dry-run` shows it, `--yes` applies it"
        context.store.admin.problems.report(FileProblem(path, HELD_DREAM, message, at=context.now))
        return StepReport(
            name, context.scope, moves=plan.moves, notes=plan.notes, held=hold_reason, examined=plan.examined
        )
    commit = None
    if plan.changes:
        writer, reason = dream_writer(context.scope), commit_reason(name, plan.moves)
        step_commit = writer.commit(VERB, reason, plan.changes, way=TransitionCause.UPKEEP, batch=options.batch)
        commit = context.store.journal.append(step_commit).id
    failures = () if options.is_dry_run and not plan.after_in_dry_run else _run_after_commit(plan)
    context.store.admin.problems.clear(path)
    return StepReport(name, context.scope, commit, plan.moves, (*plan.notes, *failures), examined=plan.examined)


def _hold_reason(plan: StepPlan, context: StepContext) -> str | None:
    if plan.changed_count <= SMALL_CHANGE:  # few changes are never held, so the store need not be counted
        return None
    return reason_to_hold(
        plan.changed_count, sum(context.store.atoms.count_by("status", AtomFilter(scopes=(context.scope,))).values())
    )


def _run_after_commit(plan: StepPlan) -> tuple[str, ...]:
    """Run what a plan does after its commit; return a note if that fails, because the commit is done."""
    try:
        plan.after_commit()
    except LaminaError as error:
        return (f"committed, but its state for the next dream was not saved: {error}",)
    return ()


def is_due(store: Store, scopes: Sequence[Scope], now: datetime, max_captures: int, max_interval: timedelta) -> bool:
    """Return whether a dream is due; it never is in an empty memory."""
    last = last_dream(store)
    if last is None:
        return store.journal.count(scopes) > 0
    entries = store.journal.read(scopes, store.journal.position(before=last))
    captures = sum(entry.verb in _CAPTURE_VERBS for entry in entries)
    return captures >= max_captures or now - last >= max_interval


def last_dream(store: Store) -> datetime | None:
    """Return when the last complete dream ended; None if there is none or it was interrupted."""
    last = next((job for job in store.queue.list_jobs() if job.name == JOB), None)
    return last.finished_at if last is not None and last.done >= last.total else None
