"""Step 7, prune: what is counted beside the memories is not kept forever. Nothing anybody said is among it."""

from __future__ import annotations

from datetime import timedelta

from lamina.dream.plan import Plan
from lamina.dream.scene import Scene

LOGS_FOR = timedelta(days=90)
"""How long it is told what a recall returned, and how a job ended."""
USAGE_FOR = timedelta(days=400)
"""How long it is told what chat models used: a year, and the month before it to compare with."""


def prune(scene: Scene) -> Plan:
    """Let go of old recalls, finished jobs and old counts of what chat models used; the journal keeps everything."""
    store, logs, use = scene.store, scene.now - LOGS_FOR, (scene.now - USAGE_FOR).date()
    over = (each for each in store.jobs.list() if not each.holder and each.finished_at is not None)
    jobs = sum(each.finished_at is not None and each.finished_at < logs for each in over)
    counts = sum(day.day < use for day in store.usage.days())
    notes = [
        f"{many:,} {what}"
        for many, what in (
            (jobs, f"jobs finished before {logs:%Y-%m-%d}"),
            (counts, f"counts of chat use before {use}"),
        )
        if many
    ]

    def let_go() -> None:
        store.recalls.prune(logs)
        store.jobs.prune(logs)
        store.usage.prune(use)

    return Plan(notes=tuple(notes), after=let_go)
