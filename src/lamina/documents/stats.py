"""The JSON document of a memory's state: counts, sizes, background jobs and problems with files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.documents.json_document import JsonDocument, UtcTime

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.store.admin import FileProblem
    from lamina.store.queue import Job


class JobDocument(JsonDocument):
    """A background job."""

    name: str
    running: bool
    done: int
    total: int
    started_at: UtcTime | None
    finished_at: UtcTime | None
    error: str


class ProblemDocument(JsonDocument):
    """A problem with a file or an atom that a person should know of."""

    path: str
    kind: str
    message: str
    line: int
    id: str | None
    at: UtcTime | None


class StatsDocument(JsonDocument):
    """Counts of atoms, pending work, jobs and disk usage.

    Models, vectors, bytes and jobs belong to the whole vault; they are empty for callers who do not administer it.
    `unused_bytes`: what the index would give back to the disk.
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
    unused_bytes: int
    waiting: int
    to_review: int
    bytes: dict[str, int]
    jobs: list[JobDocument]
    problems: list[ProblemDocument]


_VAULT_WIDE_FIELDS: dict[str, Any] = {"models": {}, "vector_bytes": {}, "unused_bytes": 0, "bytes": {}}


def stats_document(memory: Memory, *, whole_vault: bool = False) -> StatsDocument:
    """Return the state of a memory's scopes; `whole_vault` adds what concerns the whole vault."""
    stats = memory.upkeep.stats()
    fields = {name: stats[name] for name in StatsDocument.model_fields if name in stats}
    return StatsDocument(
        **{**fields, **({} if whole_vault else _VAULT_WIDE_FIELDS)},
        to_review=memory.review.count(),
        jobs=[job_document(job) for job in memory.upkeep.jobs()] if whole_vault else [],
        problems=[problem_document(problem) for problem in memory.upkeep.doctor(look=False).problems],
    )


def job_document(job: Job) -> JobDocument:
    """Return the document of a background job."""
    return JobDocument.of(job, running=bool(job.holder))


def problem_document(problem: FileProblem) -> ProblemDocument:
    """Return the document of a problem with a file."""
    return ProblemDocument.of(problem, id=problem.atom_id)
