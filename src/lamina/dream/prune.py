"""Step 7, prune: delete old logs and counters. They contain no memory."""

from __future__ import annotations

from datetime import timedelta

from lamina.dream.plan import Plan
from lamina.dream.scene import Scene

LOGS_FOR = timedelta(days=90)
"""How long recall logs and finished jobs are kept."""
USAGE_FOR = timedelta(days=400)
"""How long usage of chat models is kept: a year, and the month before it for comparison."""


def prune(scene: Scene) -> Plan:
    """Delete old recall logs, finished jobs and usage counters; the journal keeps everything."""
    store, logs, use = scene.store, scene.now - LOGS_FOR, (scene.now - USAGE_FOR).date()
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

    return Plan(notes=tuple(notes), after=delete_old)
