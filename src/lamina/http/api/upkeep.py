"""The endpoints that maintain a vault and report its state."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from lamina.access import Caller, House, Right
from lamina.atom.trust import Origin
from lamina.documents import DreamDocument, StatsDocument, dream_document, stats_document
from lamina.documents.stats import job_document, problem_document
from lamina.errors import Refused
from lamina.http import meters
from lamina.http.api.answers import (
    DoctorDocument,
    ExportedDocument,
    HealthDocument,
    JobsDocument,
    RebuiltDocument,
    SyncDocument,
)
from lamina.http.api.bodies import Doctor, Dream, Export, Nothing, Sync
from lamina.http.api.route import PROBLEMS, Guest, Here, Key, only, reads, told, writes
from lamina.http.stop import Stop

router = APIRouter(tags=["upkeep"])


@reads(router, "/stats", StatsDocument)
def stats(here: Here) -> Response:
    """Return counts, sizes, background jobs and problems with files."""
    return told(stats_document(here.memory, whole=here.keeps))


@reads(router, "/jobs", JobsDocument)
def jobs(here: Here) -> Response:
    """Return background jobs: progress and results. For administrators of the whole vault."""
    here.must_keep()
    memory = here.memory
    return told(JobsDocument(jobs=[job_document(job) for job in memory.jobs()], waiting=memory.waiting()))


@writes(router, "/sync", SyncDocument)
def sync(here: Here, body: Sync, key: Key = None) -> Response:
    """Sync every file and the inbox folder now. Accepting deletions needs a person who administers the vault."""
    if body.accept_deletions:
        here.must_keep()
        if here.caller.origin is not Origin.HUMAN:
            raise Refused("an agent may not accept deletions of files; ask a person to do it")
    return told(SyncDocument(**asdict(here.memory.sync(accept_deletions=body.accept_deletions))))


@writes(router, "/doctor", DoctorDocument)
def doctor(here: Here, body: Doctor, key: Key = None) -> Response:
    """Report problems and how to fix them; syncs the files first, so it is a write.

    `deep` verifies the whole journal and rebuilds the index, so it needs an administrator of the vault.
    """
    if body.deep:
        here.must_keep()
    diagnosis = here.memory.doctor(deep=body.deep)
    problems = [problem_document(problem) for problem in diagnosis.problems]
    return told(
        DoctorDocument(
            healthy=diagnosis.healthy, problems=problems, faults=list(diagnosis.faults), notes=list(diagnosis.notes)
        )
    )


@writes(router, "/dream", DreamDocument)
def dream(here: Here, body: Dream, key: Key = None) -> Response:
    """Consolidate the memory, step by step; `undo` with the batch reverses all of it."""
    if body.yes and not here.caller.may(Right.ADMIN):
        raise Stop.forbidden(here.caller, Right.ADMIN)
    return told(dream_document(here.memory.dream(body.steps, dry_run=body.dry_run, yes=body.yes)))


@writes(router, "/rebuild", RebuiltDocument)
def rebuild(here: Here, body: Nothing, key: Key = None) -> Response:
    """Rebuild the index from the journal; nothing is lost."""
    return told(RebuiltDocument(atoms=here.memory.rebuild()))


@writes(router, "/export", ExportedDocument)
def export(here: Here, body: Export, key: Key = None) -> Response:
    """Write everything this token may read to the vault's folder for exports."""
    path = here.memory.export(format=body.format, history=body.history)
    return told(ExportedDocument(path=path.relative_to(here.memory.root).as_posix(), format=body.format))


async def anybody(request: Request) -> tuple[House, Caller | None]:
    """Return the served memory and the caller, if there is one."""
    return request.app.state.served_memory, request.state.caller


@reads(router, "/health", HealthDocument)
def health(request: Request, asking: Annotated[tuple[House, Caller | None], Depends(anybody)]) -> Response:
    """Return whether the server is running; with a token also layers, jobs, problems and the daemon's state."""
    house, caller = asking
    if caller is None:
        return Response(HealthDocument(alive=True).model_dump_json(exclude_none=True), media_type="application/json")
    stats_now = stats_document(Guest(house, caller).memory, whole=house.is_kept_by(caller))
    daemon_status = request.app.state.daemon_status
    return told(
        HealthDocument(
            alive=True,
            scope=stats_now.scope,
            atoms=stats_now.atoms,
            layers=stats_now.by_layer,
            to_review=stats_now.to_review,
            waiting=stats_now.waiting,
            jobs=stats_now.jobs,
            quarantined=stats_now.problems,
            keeper=daemon_status() if daemon_status is not None else None,
        )
    )


@router.get(
    "/metrics",
    dependencies=[only()],
    operation_id="metrics",
    name="metrics",
    response_class=Response,
    responses={**PROBLEMS, 200: {"description": "Metrics as text.", "content": {"text/plain": {}}}},
)
def metrics(request: Request, here: Here) -> Response:
    """Return request and atom metrics of the token's scope, for Prometheus.

    Administrators of the vault get the requests of every scope and the refused requests.
    """
    scope, whole_vault = here.caller.scope, here.keeps
    stats_now = stats_document(here.memory, whole=whole_vault)
    extra = [
        meters.counted("lamina_atoms", "Atoms by status.", "status", stats_now.by_status, scope),
        meters.counted("lamina_layer_atoms", "Atoms by layer.", "layer", stats_now.by_layer, scope),
        meters.counted("lamina_database_bytes", "Bytes of each database.", "file", stats_now.bytes, scope),
        meters.counted(
            "lamina_vector_bytes", "Bytes of vectors by precision.", "precision", stats_now.vector_bytes, scope
        ),
        meters.single("lamina_commits", "Commits of the scope.", stats_now.commits, scope),
        meters.single("lamina_waiting_passages", "Passages waiting for extraction.", stats_now.waiting, scope),
        meters.single("lamina_to_review", "Items pending review.", stats_now.to_review, scope),
        meters.single("lamina_problems", "Files and atoms that a person must fix.", len(stats_now.problems), scope),
    ]
    text = request.app.state.metrics.text(None if whole_vault else scope, extra)
    return Response(text, media_type=meters.MEDIA_TYPE)
