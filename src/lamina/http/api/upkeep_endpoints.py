"""The endpoints that maintain a vault and report its state."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from lamina.access import Caller, Right, ServedMemory
from lamina.atom.trust import Origin
from lamina.documents import DreamDocument, StatsDocument, dream_document, stats_document
from lamina.documents.stats import job_document, problem_document
from lamina.errors import Refused
from lamina.http import request_metrics
from lamina.http.api.endpoint import (
    PROBLEM_RESPONSES,
    CallerContext,
    CurrentCaller,
    IdempotencyKey,
    json_response,
    read_endpoint,
    reject_unknown_parameters,
    write_endpoint,
)
from lamina.http.api.request_bodies import DoctorBody, DreamBody, EmptyBody, ExportBody, SyncBody
from lamina.http.api.response_documents import (
    DoctorDocument,
    ExportDocument,
    HealthDocument,
    JobsDocument,
    RebuildDocument,
    SyncDocument,
)
from lamina.http.problem_error import ProblemError

router = APIRouter(tags=["upkeep"])


@read_endpoint(router, "/stats", StatsDocument)
def stats(context: CurrentCaller) -> Response:
    """Return counts, sizes, background jobs and problems with files."""
    return json_response(stats_document(context.memory, whole_vault=context.is_vault_admin))


@read_endpoint(router, "/jobs", JobsDocument)
def jobs(context: CurrentCaller) -> Response:
    """Return background jobs: progress and results. For administrators of the whole vault."""
    context.require_vault_admin()
    memory = context.memory
    return json_response(JobsDocument(jobs=[job_document(job) for job in memory.jobs()], waiting=memory.waiting()))


@write_endpoint(router, "/sync", SyncDocument)
def sync(context: CurrentCaller, body: SyncBody, key: IdempotencyKey = None) -> Response:
    """Sync every file and the inbox folder now. Accepting deletions needs a person who administers the vault."""
    if body.accept_deletions:
        context.require_vault_admin()
        if context.caller.origin is not Origin.HUMAN:
            raise Refused("an agent may not accept deletions of files; ask a person to do it")
    return json_response(SyncDocument(**asdict(context.memory.sync(accept_deletions=body.accept_deletions))))


@write_endpoint(router, "/doctor", DoctorDocument)
def doctor(context: CurrentCaller, body: DoctorBody, key: IdempotencyKey = None) -> Response:
    """Report problems and how to fix them; syncs the files first, so it is a write.

    `deep` verifies the whole journal and rebuilds the index, so it needs an administrator of the vault.
    """
    if body.deep:
        context.require_vault_admin()
    diagnosis = context.memory.doctor(deep=body.deep)
    problems = [problem_document(problem) for problem in diagnosis.problems]
    return json_response(
        DoctorDocument(
            healthy=diagnosis.healthy, problems=problems, faults=list(diagnosis.faults), notes=list(diagnosis.notes)
        )
    )


@write_endpoint(router, "/dream", DreamDocument)
def dream(context: CurrentCaller, body: DreamBody, key: IdempotencyKey = None) -> Response:
    """Consolidate the memory, step by step; `undo` with the batch reverses all of it."""
    if body.yes and not context.caller.may(Right.ADMIN):
        raise ProblemError.forbidden(context.caller, Right.ADMIN)
    return json_response(dream_document(context.memory.dream(body.steps, dry_run=body.dry_run, yes=body.yes)))


@write_endpoint(router, "/rebuild", RebuildDocument)
def rebuild(context: CurrentCaller, body: EmptyBody, key: IdempotencyKey = None) -> Response:
    """Rebuild the index from the journal; nothing is lost."""
    return json_response(RebuildDocument(atoms=context.memory.rebuild()))


@write_endpoint(router, "/export", ExportDocument)
def export(context: CurrentCaller, body: ExportBody, key: IdempotencyKey = None) -> Response:
    """Write everything this token may read to the vault's folder for exports."""
    path = context.memory.export(format=body.format, history=body.history)
    return json_response(ExportDocument(path=path.relative_to(context.memory.root).as_posix(), format=body.format))


async def get_optional_caller(request: Request) -> tuple[ServedMemory, Caller | None]:
    """Return the served memory and the caller, if there is one."""
    return request.app.state.served_memory, request.state.caller


@read_endpoint(router, "/health", HealthDocument)
def health(
    request: Request, served: Annotated[tuple[ServedMemory, Caller | None], Depends(get_optional_caller)]
) -> Response:
    """Return whether the server is running; with a token also layers, jobs, problems and the daemon's state."""
    house, caller = served
    if caller is None:
        return Response(HealthDocument(alive=True).model_dump_json(exclude_none=True), media_type="application/json")
    stats_now = stats_document(CallerContext(house, caller).memory, whole_vault=house.is_vault_admin(caller))
    daemon_status = request.app.state.daemon_status
    return json_response(
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
    dependencies=[reject_unknown_parameters()],
    operation_id="metrics",
    name="metrics",
    response_class=Response,
    responses={**PROBLEM_RESPONSES, 200: {"description": "Metrics as text.", "content": {"text/plain": {}}}},
)
def metrics(request: Request, context: CurrentCaller) -> Response:
    """Return request and atom metrics of the token's scope, for Prometheus.

    Administrators of the vault get the requests of every scope and the refused requests.
    """
    scope, whole_vault = context.caller.scope, context.is_vault_admin
    stats_now = stats_document(context.memory, whole_vault=whole_vault)
    extra = [
        request_metrics.labelled_gauge("lamina_atoms", "Atoms by status.", "status", stats_now.by_status, scope),
        request_metrics.labelled_gauge("lamina_layer_atoms", "Atoms by layer.", "layer", stats_now.by_layer, scope),
        request_metrics.labelled_gauge(
            "lamina_database_bytes", "Bytes of each database.", "file", stats_now.bytes, scope
        ),
        request_metrics.labelled_gauge(
            "lamina_vector_bytes", "Bytes of vectors by precision.", "precision", stats_now.vector_bytes, scope
        ),
        request_metrics.gauge("lamina_commits", "Commits of the scope.", stats_now.commits, scope),
        request_metrics.gauge("lamina_waiting_passages", "Passages waiting for extraction.", stats_now.waiting, scope),
        request_metrics.gauge("lamina_to_review", "Items pending review.", stats_now.to_review, scope),
        request_metrics.gauge(
            "lamina_problems", "Files and atoms that a person must fix.", len(stats_now.problems), scope
        ),
    ]
    text = request.app.state.metrics.render(None if whole_vault else scope, extra)
    return Response(text, media_type=request_metrics.MEDIA_TYPE)
