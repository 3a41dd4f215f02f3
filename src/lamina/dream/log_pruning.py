"""Step 7, prune: delete old logs and counters. They contain no memory."""

from __future__ import annotations

from datetime import timedelta

from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import StepPlan

LOG_RETENTION = timedelta(days=90)
"""How long recall logs and finished jobs are kept."""
USAGE_RETENTION = timedelta(days=400)
"""How long usage of chat models is kept: a year, and the month before it for comparison."""


def prune(context: StepContext) -> StepPlan:
    """Delete old recall logs, finished jobs and usage counters; the journal keeps everything."""
    store, logs, use = context.store, context.now - LOG_RETENTION, (context.now - USAGE_RETENTION).date()
    finished = (job for job in store.jobs.list() if not job.holder and job.finished_at is not None)
    jobs = sum(job.finished_at is not None and job.finished_at < logs for job in finished)
    counts = sum(usage_day.day < use for usage_day in store.usage.days())
    notes = [
        f"{count:,} {what}"
        for count, what in (
            (jobs, f"jobs finished before {logs:%Y-%m-%d}"),
            (counts, f"counts of chat use before {use}"),
        )
        if count
    ]

    def delete_old() -> None:
        store.recalls.prune(logs)
        store.jobs.prune(logs)
        store.usage.prune(use)

    return StepPlan(notes=tuple(notes), after_commit=delete_old)
