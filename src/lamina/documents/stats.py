"""How a memory stands: counts, sizes, background work and what is wrong with files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.documents.atom import Moment
from lamina.documents.document import Document
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.store.jobs import Job
    from lamina.store.ledger import Problem


class JobDocument(Document):
    """A piece of background work."""

    name: str
    running: bool
    done: int
    total: int
    started_at: Moment | None
    finished_at: Moment | None
    error: str


class ProblemDocument(Document):
    """Something a person should know of a file or an atom."""

    path: str
    kind: str
    message: str
    line: int
    id: str | None
    at: Moment | None


class StatsDocument(Document):
    """How many atoms there are of what sort, what waits, what runs, and what it takes on the disk.

    Models, vectors, bytes and jobs are of the whole vault, so they are empty for who does not look after it.
    """

    scope: str
    atoms: int
    by_status: dict[str, int]
    by_kind: dict[str, int]
    by_layer: dict[str, int]
    at_hand: dict[str, int]
    commits: int
    files: dict[str, Any]
    models: dict[str, int]
    vector_bytes: dict[str, int]
    waiting: int
    to_review: int
    bytes: dict[str, int]
    jobs: list[JobDocument]
    problems: list[ProblemDocument]


_OF_THE_VAULT: dict[str, dict[str, int]] = {"models": {}, "vector_bytes": {}, "bytes": {}}


def stats_document(memory: Memory, *, whole: bool = False) -> StatsDocument:
    """How a memory stands, for its own scopes; `whole`: also what concerns the vault and everybody in it."""
    held = memory.stats()
    known = {name: held[name] for name in StatsDocument.model_fields if name in held}
    return StatsDocument(
        **{**known, **({} if whole else _OF_THE_VAULT)},
        to_review=memory.review.count(),
        jobs=[job_document(job) for job in memory.jobs()] if whole else [],
        problems=[problem_document(problem) for problem in memory.doctor(look=False).problems],
    )


def job_document(job: Job) -> JobDocument:
    """A piece of background work as everybody sees it."""
    return JobDocument(
        name=job.name,
        running=bool(job.holder),
        done=job.done,
        total=job.total,
        error=job.error,
        started_at=format_time(job.started_at) if job.started_at else None,
        finished_at=format_time(job.finished_at) if job.finished_at else None,
    )


def problem_document(problem: Problem) -> ProblemDocument:
    """What is wrong with a file."""
    return ProblemDocument(
        path=problem.path,
        kind=problem.kind,
        message=problem.message,
        line=problem.line,
        id=problem.atom_id,
        at=format_time(problem.at) if problem.at else None,
    )
