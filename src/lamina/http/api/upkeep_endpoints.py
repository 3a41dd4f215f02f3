"""The endpoints that maintain a vault and report its state."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from lamina.access import Right
from lamina.atom.provenance import Origin
from lamina.documents.dream import DreamDocument, dream_document
from lamina.documents.stats import StatsDocument, job_document, problem_document, stats_document
from lamina.errors import Refused
from lamina.http.api import request_bodies as bodies
from lamina.http.api import response_documents as documents
from lamina.http.api.endpoint import (
    PROBLEM_RESPONSES,
    CallerContext,
    CurrentCaller,
    CurrentWriter,
    read_endpoint,
    reject_unknown_parameters,
    write_endpoint,
)
from lamina.http.operation_policies import SLOW_ADMIN, SLOW_WRITE, OperationPolicy
from lamina.http.problem import ProblemError, forbidden_problem
from lamina.http.request_metrics import MEDIA_TYPE, gauge, labelled_gauge

router = APIRouter(tags=["upkeep"])


@read_endpoint(router, "/stats")
def stats(context: CurrentCaller) -> StatsDocument:
    """Return counts, sizes, background jobs and problems with files."""
    return stats_document(context.memory, whole_vault=context.is_vault_admin)


@read_endpoint(router, "/jobs", OperationPolicy(Right.ADMIN))
def jobs(context: CurrentCaller) -> documents.JobsDocument:
    """Return background jobs: progress and results. For administrators of the whole vault."""
    context.require_vault_admin()
    memory = context.memory
    return documents.JobsDocument(jobs=[job_document(job) for job in memory.upkeep.jobs()], waiting=memory.waiting())


@write_endpoint(router, "/sync", SLOW_WRITE)
def sync(context: CurrentWriter, body: bodies.SyncBody) -> documents.SyncDocument:
    """Sync every file and the inbox folder now. Accepting deletions needs a person who administers the vault."""
    if body.accept_deletions:
        context.require_vault_admin()
        if context.caller.origin is not Origin.HUMAN:
            raise Refused("an agent may not accept deletions of files; ask a person to do it")
    return documents.SyncDocument.of(context.memory.upkeep.sync(accept_deletions=body.accept_deletions))


@write_endpoint(router, "/doctor", SLOW_WRITE)
def doctor(context: CurrentWriter, body: bodies.DoctorBody) -> documents.DoctorDocument:
    """Report problems and how to fix them; syncs the files first, so it is a write.

    `deep` verifies the whole journal and rebuilds the index, so it needs an administrator of the vault.
    """
    if body.deep:
        context.require_vault_admin()
    diagnosis = context.memory.upkeep.doctor(deep=body.deep)
    problems = [problem_document(problem) for problem in diagnosis.problems]
    return documents.DoctorDocument.of(diagnosis, problems=problems)


@write_endpoint(router, "/dream", SLOW_WRITE)
def dream(context: CurrentWriter, body: bodies.DreamBody) -> DreamDocument:
    """Consolidate the memory, step by step; `undo` with the batch reverses all of it."""
    if body.yes and not context.caller.may(Right.ADMIN):
        raise ProblemError(forbidden_problem(context.caller, Right.ADMIN))
    return dream_document(context.memory.upkeep.dream(body.steps, dry_run=body.dry_run, at=body.at, yes=body.yes))


@write_endpoint(router, "/rebuild", SLOW_ADMIN)
def rebuild(context: CurrentWriter, body: bodies.EmptyBody) -> documents.RebuildDocument:
    """Rebuild the index from the journal; nothing is lost."""
    return documents.RebuildDocument(atoms=context.memory.upkeep.rebuild())


@write_endpoint(router, "/export", SLOW_ADMIN)
def export(context: CurrentWriter, body: bodies.ExportBody) -> documents.ExportDocument:
    """Write everything this token may read to the vault's folder for exports."""
    path = context.memory.export(**body.model_dump())
    return documents.ExportDocument(path=path.relative_to(context.memory.root).as_posix(), format=body.format)


@read_endpoint(router, "/health", OperationPolicy(None))
def health(request: Request) -> documents.HealthDocument:
    """Return whether the server is running; with a token also layers, jobs, problems and the daemon's state."""
    if request.state.caller is None:
        return documents.HealthDocument(alive=True)
    context = CallerContext(request.app.state.served_memory, request.state.caller)
    stats_now = stats_document(context.memory, whole_vault=context.is_vault_admin)
    daemon_status = request.app.state.daemon_status
    return documents.HealthDocument.of(
        stats_now,
        alive=True,
        layers=stats_now.by_layer,
        quarantined=stats_now.problems,
        keeper=daemon_status() if daemon_status is not None else None,
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
    gauges = [
        labelled_gauge("lamina_atoms", "Atoms by status.", "status", stats_now.by_status, scope),
        labelled_gauge("lamina_layer_atoms", "Atoms by layer.", "layer", stats_now.by_layer, scope),
        labelled_gauge("lamina_database_bytes", "Bytes of each database.", "file", stats_now.bytes, scope),
        labelled_gauge(
            "lamina_vector_bytes", "Bytes of vectors by precision.", "precision", stats_now.vector_bytes, scope
        ),
        gauge("lamina_commits", "Commits of the scope.", stats_now.commits, scope),
        gauge("lamina_waiting_passages", "Passages waiting for extraction.", stats_now.waiting, scope),
        gauge("lamina_to_review", "Items pending review.", stats_now.to_review, scope),
        gauge("lamina_problems", "Files and atoms that a person must fix.", len(stats_now.problems), scope),
    ]
    text = request.app.state.metrics.render(None if whole_vault else scope, gauges)
    return Response(text, media_type=MEDIA_TYPE)
