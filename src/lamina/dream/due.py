"""Whether it is time to dream: so many captures were read since the last dream, or it is long ago."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from lamina.atom.scope import Scope
from lamina.dream.dream import JOB
from lamina.store.base import Store

_READ = frozenset({"capture", "extract", "import", "inbox"})


def is_due(store: Store, scopes: Sequence[Scope], now: datetime, every: int, after: timedelta) -> bool:
    """Whether a dream is due; where nothing was ever written it is not."""
    last = last_dream(store)
    if last is None:
        return store.commits(scopes) > 0
    since = store.journal(scopes, store.position(before=last))
    read = sum(entry.verb in _READ for entry in since)
    return read >= every or now - last >= after


def last_dream(store: Store) -> datetime | None:
    """When a dream last came to its end; one that was broken off did not."""
    last = next((each for each in store.jobs.list() if each.name == JOB), None)
    return last.finished_at if last is not None and last.done >= last.total else None
