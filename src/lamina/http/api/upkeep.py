"""The operations that look after a vault, and those that tell how it stands."""

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
    """Counts and sizes, background work, and what is wrong with files."""
    return told(stats_document(here.memory, whole=here.keeps))


@reads(router, "/jobs", JobsDocument)
def jobs(here: Here) -> Response:
    """Background work: how far it is, how it ended. For who looks after the whole vault."""
    here.must_keep()
    memory = here.memory
    return told(JobsDocument(jobs=[job_document(job) for job in memory.jobs()], waiting=memory.waiting()))


@writes(router, "/sync", SyncDocument)
def sync(here: Here, body: Sync, key: Key = None) -> Response:
    """Look at every file and into the inbox now. To accept deletions takes a person who looks after the vault."""
    if body.accept_deletions:
        here.must_keep()
        if here.caller.origin is not Origin.HUMAN:
            raise Refused("an agent may not say that files which went missing are to be forgotten; a person does")
    return told(SyncDocument(**asdict(here.memory.sync(accept_deletions=body.accept_deletions))))


@writes(router, "/doctor", DoctorDocument)
def doctor(here: Here, body: Doctor, key: Key = None) -> Response:
    """Tell what is wrong and how to mend it; looks at the files first, so it is no mere read.

    `deep` takes the whole journal apart and makes the index anew, so it is for who looks after the vault.
    """
    if body.deep:
        here.must_keep()
    found = here.memory.doctor(deep=body.deep)
    problems = [problem_document(problem) for problem in found.problems]
    return told(
        DoctorDocument(healthy=found.healthy, problems=problems, faults=list(found.faults), notes=list(found.notes))
    )


@writes(router, "/dream", DreamDocument)
def dream(here: Here, body: Dream, key: Key = None) -> Response:
    """Consolidate, step by step; `undo` with the batch takes all of it back."""
    if body.yes and not here.caller.may(Right.ADMIN):
        raise Stop.forbidden(here.caller, Right.ADMIN)
    return told(dream_document(here.memory.dream(body.steps, dry_run=body.dry_run, yes=body.yes)))


@writes(router, "/rebuild", RebuiltDocument)
def rebuild(here: Here, body: Nothing, key: Key = None) -> Response:
    """Make the index anew from the journal; nothing is lost by it."""
    return told(RebuiltDocument(atoms=here.memory.rebuild()))


@writes(router, "/export", ExportedDocument)
def export(here: Here, body: Export, key: Key = None) -> Response:
    """Write everything this token may read into the vault's own folder for exports."""
    place = here.memory.export(format=body.format, history=body.history)
    return told(ExportedDocument(path=place.relative_to(here.memory.root).as_posix(), format=body.format))


async def anybody(request: Request) -> tuple[House, Caller | None]:
    """Whoever asks, known or not."""
    return request.app.state.house, request.state.caller


@reads(router, "/health", HealthDocument)
def health(request: Request, asking: Annotated[tuple[House, Caller | None], Depends(anybody)]) -> Response:
    """Whether the server is there; with a token: layers, jobs, files that need a hand, and the keeper."""
    house, caller = asking
    if caller is None:
        return Response(HealthDocument(alive=True).model_dump_json(exclude_none=True), media_type="application/json")
    found = stats_document(Guest(house, caller).memory, whole=house.is_kept_by(caller))
    keeper = request.app.state.keeper
    return told(
        HealthDocument(
            alive=True,
            scope=found.scope,
            atoms=found.atoms,
            layers=found.by_layer,
            to_review=found.to_review,
            waiting=found.waiting,
            jobs=found.jobs,
            quarantined=found.problems,
            keeper=keeper() if keeper is not None else None,
        )
    )


@router.get(
    "/metrics",
    dependencies=[only()],
    operation_id="metrics",
    name="metrics",
    response_class=Response,
    responses={**PROBLEMS, 200: {"description": "Figures as text.", "content": {"text/plain": {}}}},
)
def metrics(request: Request, here: Here) -> Response:
    """Counts and times of requests and counts of atoms, of the token's own scope, for Prometheus.

    Who looks after the vault is told the requests of every scope, and what was turned away.
    """
    scope, whole = here.caller.scope, here.keeps
    found = stats_document(here.memory, whole=whole)
    beside = [
        meters.counted("lamina_atoms", "Atoms by status.", "status", found.by_status, scope),
        meters.counted("lamina_layer_atoms", "Atoms by layer.", "layer", found.by_layer, scope),
        meters.counted("lamina_database_bytes", "Bytes of each database.", "file", found.bytes, scope),
        meters.counted("lamina_vector_bytes", "Bytes of vectors by precision.", "precision", found.vector_bytes, scope),
        meters.single("lamina_commits", "Commits of the scope.", found.commits, scope),
        meters.single("lamina_waiting_passages", "Passages that wait to be read.", found.waiting, scope),
        meters.single("lamina_to_review", "What waits for a person.", found.to_review, scope),
        meters.single("lamina_problems", "Files that need a person's hand.", len(found.problems), scope),
    ]
    text = request.app.state.meters.text(None if whole else scope, beside)
    return Response(text, media_type=meters.MEDIA_TYPE)
