"""Decides when a dream is due: after a number of captures, or after a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from lamina.atom.scope import Scope
from lamina.dream.dream import JOB
from lamina.store.base import Store

_CAPTURE_VERBS = frozenset({"capture", "extract", "import", "inbox"})


def is_due(store: Store, scopes: Sequence[Scope], now: datetime, max_captures: int, max_interval: timedelta) -> bool:
    """Return whether a dream is due; it never is in an empty memory."""
    last = last_dream(store)
    if last is None:
        return store.count_commits(scopes) > 0
    entries = store.read_journal(scopes, store.position(before=last))
    captures = sum(entry.verb in _CAPTURE_VERBS for entry in entries)
    return captures >= max_captures or now - last >= max_interval


def last_dream(store: Store) -> datetime | None:
    """Return when the last complete dream ended; None if there is none or it was interrupted."""
    last = next((job for job in store.jobs.list() if job.name == JOB), None)
    return last.finished_at if last is not None and last.done >= last.total else None
