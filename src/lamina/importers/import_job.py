"""The job of an import: which path is imported and how far it got, so that an import that was interrupted says so.

What was imported is safe, because each item is committed under its own key. Importing the path again does the rest.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from lamina.atom.provenance import Scope
from lamina.capture.redact import redact
from lamina.errors import Refused
from lamina.store.admin import FileProblem
from lamina.store.queue import Job, LeaseRenewal, Queue, new_lease_token

INTERRUPTED_IMPORT = "import"
"""The kind of the problem that an interrupted import is."""
LEASE_SECONDS = 20.0
"""How long the import of a process that was killed keeps others out."""
REPORTS = 100
"""About how often the progress is stored during an import."""
_PREFIX = "import"

ImportProgress = Callable[[int, int], None]
"""Receives how many items are done and how many there are."""


@contextmanager
def hold_import_job(queue: Queue, scope: Scope, path: Path) -> Iterator[ImportProgress]:
    """Register the import of a path until the block ends; Refused while another process imports it."""
    name, holder = _job_name(scope, path), new_lease_token()
    if not queue.lease(name, holder, LEASE_SECONDS):
        raise Refused(f"another process is importing {path.name}; `lamina jobs` shows how far it is")
    lease, error = LeaseRenewal(queue, name, holder, LEASE_SECONDS), "interrupted"

    def report(done: int, total: int) -> None:
        if done == total or done % max(1, total // REPORTS) == 0:
            lease.report(done, total)

    try:
        with lease.run():
            yield report
        error = ""
    finally:
        queue.release(name, holder, error)


def find_interrupted_imports(queue: Queue, scopes: tuple[Scope, ...], now: datetime) -> Iterator[FileProblem]:
    """Yield a problem for each import into these scopes that stopped before its end."""
    for job in queue.list_jobs():
        kind, _, rest = job.name.partition(" ")
        scope, _, path = rest.partition(" ")
        if kind == _PREFIX and scope in scopes and is_interrupted(job, now):
            message = f"the import stopped at {job.done:,} of {job.total:,}; what was imported is safe. "
            message += f"`lamina import {shlex.quote(path)}` imports the rest"
            yield FileProblem(path, INTERRUPTED_IMPORT, message, at=job.started_at)


def is_interrupted(job: Job, now: datetime) -> bool:
    """Return whether a job stopped before its end and no one works on it."""
    is_leased = bool(job.holder) and job.until is not None and job.until > now
    return not is_leased and job.done < job.total


def _job_name(scope: Scope, path: Path) -> str:
    return f"{_PREFIX} {scope} {redact(str(path.resolve())).text}"
