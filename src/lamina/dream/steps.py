"""The steps of a dream in their order, the two short ones (`prune`, `precision`), and when a step is throttled.

A throttled step reads a whole scope: it runs when enough has changed since the last time, or after a week.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from lamina.dream.age_step import age
from lamina.dream.bridge_step import bridge
from lamina.dream.cards_step import cards
from lamina.dream.dream import VERB, Step
from lamina.dream.drift_step import drift
from lamina.dream.guidelines_step import guidelines
from lamina.dream.probe_step import probe
from lamina.dream.step import StepContext, StepPlan
from lamina.dream.synthesis_step import merge
from lamina.dream.topics import topics
from lamina.store.admin import Retention
from lamina.store.atoms import AtomFilter
from lamina.store.precision import PrecisionChange

LOG_RETENTION = timedelta(days=90)
"""How long recall logs and finished jobs are kept."""
USAGE_RETENTION = timedelta(days=400)
"""How long usage of chat models is kept: a year, and the month before it for comparison."""


def prune(context: StepContext) -> StepPlan:
    """Delete old recall logs, finished jobs and usage counters; the journal keeps everything."""
    store, logs, use = context.store, context.now - LOG_RETENTION, (context.now - USAGE_RETENTION).date()
    finished = (job for job in store.queue.list_jobs() if not job.holder and job.finished_at is not None)
    jobs = sum(job.finished_at is not None and job.finished_at < logs for job in finished)
    counts = sum(usage_day.day < use for usage_day in store.admin.usage.days())
    notes = [
        f"{count:,} {what}"
        for count, what in (
            (jobs, f"jobs finished before {logs:%Y-%m-%d}"),
            (counts, f"counts of chat use before {use}"),
        )
        if count
    ]

    def delete_old() -> None:
        store.admin.prune(Retention(logs, use))

    examined = f"recall logs, jobs and usage from before {logs:%Y-%m-%d} and {use}"
    return StepPlan(notes=tuple(notes), examined=examined, after_commit=delete_old)


BATCH_SIZE = 5000
"""The number of atoms that are processed between two checks for an interrupt."""


def precision(context: StepContext) -> StepPlan:
    """Set the precision of vectors that ageing computed, and drop the token states of cold passages."""
    bits = context.store.signals.unapplied_bits(context.scope)
    stored_precision = context.store.passages.encodings.precision

    def apply_precision() -> None:
        items = list(bits.items())
        for start in range(0, len(items), BATCH_SIZE):
            if context.should_stop():
                return  # the rest stays unmarked, and the next dream processes it
            batch = dict(items[start : start + BATCH_SIZE])
            stored_precision.change(batch)
            context.store.signals.mark_bits_applied(batch)
        stored_precision.reclaim()

    changes = stored_precision.change(bits, dry_run=True)
    return StepPlan(
        notes=(note,) if (note := describe_changes(changes)) else (),
        examined=f"{len(bits):,} memories whose vectors should have another precision",
        after_commit=apply_precision,
    )


def describe_changes(changes: PrecisionChange) -> str:
    """Describe the changes: 1,204 vectors to 8 bits, 311 to 4 bits; token states of 311 passages dropped."""
    vectors = [f"{count:,} to {bits} bits" for bits, count in changes.vectors.items()]
    if vectors:
        vectors[0] = vectors[0].replace(" to ", " vectors to ")
    states = [f"token states of {changes.states:,} passages dropped"] if changes.states else []
    return "; ".join([", ".join(vectors), *states] if vectors else states)


CHANGE_RATIO = 100
"""A scope is read again once one atom in this many has changed."""
MAX_INTERVAL = timedelta(days=7)


def throttle_step(name: str, step: Step) -> Step:
    """Return the step so that it only runs when it is due; a step that fails is tried again in the next dream."""

    def run_if_due(context: StepContext) -> StepPlan:
        position = context.store.journal.position()
        if not _is_due(context, context.store.queue.get_position(context.scope, name)):
            return StepPlan(
                examined=f"nothing: too little has changed since the last time; `--step {name}` runs it now"
            )
        plan = step(context)
        # After an interrupt it may be incomplete, so the next dream runs it again.
        return plan if context.should_stop() else plan.then_mark_read(context, name, position)

    return run_if_due


def _is_due(context: StepContext, last_position: int | None) -> bool:
    """Return whether the step never ran here, or atoms have changed since: many of them, or a week ago."""
    if last_position is None:
        return True
    entries = context.store.journal.read((context.scope,), last_position)
    changed = {change.atom_id for entry in entries if entry.verb != VERB for change in entry.changes}
    is_enough = len(changed) * CHANGE_RATIO >= sum(
        context.store.atoms.count_by("status", AtomFilter(scopes=(context.scope,))).values()
    )
    return bool(changed) and (
        is_enough or last_position <= context.store.journal.position(before=context.now - MAX_INTERVAL)
    )


STEPS: Mapping[str, Step] = {
    "age": age,
    "merge": merge,
    "cards": cards,
    "topics": topics,
    "guidelines": guidelines,
    "bridge": bridge,
    "probe": probe,
    "drift": drift,
    "prune": prune,
    "precision": precision,
}

NIGHTLY: Mapping[str, Step] = {
    **STEPS,
    "merge": throttle_step("merge", merge),
    "bridge": throttle_step("bridge", bridge),
}
"""Steps that read a whole scope are throttled here; `STEPS` runs them whenever they are requested."""
