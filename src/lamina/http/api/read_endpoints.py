"""The endpoints that read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from lamina.documents import (
    AnswerDocument,
    HistoryDocument,
    RecallDocument,
    answer_document,
    atom_document,
    entry_document,
    history_document,
    hit_document,
    load_quotes,
    neighbour_documents,
    recall_document,
)
from lamina.http.api.endpoint import AtomIdPath, CallerContext, CurrentCaller, json_response, read_endpoint
from lamina.http.api.request_bodies import (
    MAX_HITS,
    MAX_ROWS,
    AnswerBody,
    Budget,
    ListParameters,
    Question,
    RecallBody,
    RecallOptions,
    RecallParameters,
    Timestamp,
)
from lamina.http.api.response_documents import (
    AtomDetailDocument,
    AtomsDocument,
    ContextDocument,
    JournalDocument,
    NeighboursDocument,
    PlanDocument,
    SignalsDocument,
    TopDocument,
    TopicDocument,
    TopicsDocument,
    TransitionsDocument,
)
from lamina.http.api.start_context import build_start_context
from lamina.http.journal_batches import list_commits_after as journal_after
from lamina.text.timestamps import format_time

router = APIRouter(tags=["reading"])

AsOf = Annotated[Timestamp | None, Query(description="What was true at this time.")]
KnownAt = Annotated[Timestamp | None, Query(description="What was recorded by this time.")]
HitLimit = Annotated[int, Query(ge=1, le=MAX_HITS)]
RowLimit = Annotated[int, Query(ge=1, le=MAX_ROWS)]


@read_endpoint(router, "/recall", RecallDocument)
def recall(context: CurrentCaller, parameters: Annotated[RecallParameters, Query()]) -> Response:
    """Return the passages that answer a question, best first, each with its reason, and the same as fenced text."""
    return _recall(context, parameters.q, parameters)


@read_endpoint(router, "/recall", RecallDocument, method="POST")
def recall_long(context: CurrentCaller, body: RecallBody) -> Response:
    """Do the same for a question that should not be in a URL. Changes nothing; needs only the right to read."""
    return _recall(context, body.question, body)


def _recall(context: CallerContext, question: str, options: RecallOptions) -> Response:
    recalled = context.memory.recall(
        question,
        options.k,
        mode=options.mode,
        scopes=options.scopes,
        include=tuple(options.include),
        fast=options.fast,
        ranking=options.ranking,
        as_of=options.as_of,
        known_at=options.known_at,
        filter_stale=options.filter_stale,
    )
    return json_response(recall_document(recalled, budget=options.budget))


@read_endpoint(router, "/answer", AnswerDocument, method="POST")
def answer(context: CurrentCaller, body: AnswerBody) -> Response:
    """Answer in words, with the atoms it rests on. Needs a chat model; a POST, so that nothing prefetches it."""
    return json_response(answer_document(context.memory.answer(body.question, body.k)))


@read_endpoint(router, "/top", TopDocument)
def top(context: CurrentCaller, k: HitLimit = 10) -> Response:
    """Return the core memories: pinned ones first, then by importance."""
    memory = context.memory
    return json_response(TopDocument(atoms=[atom_document(atom, memory.path_of(atom.id)) for atom in memory.top(k)]))


@read_endpoint(router, "/plan_context", PlanDocument)
def plan_context(
    context: CurrentCaller, goal: Annotated[Question, Query()], budget: Annotated[Budget, Query()] = 2000
) -> Response:
    """Return what a planner needs for a goal: three memories each of profile, procedures and facts."""
    plan = context.memory.plan_context(goal)
    groups = {"profile": plan.profile, "procedural": plan.procedural, "semantic": plan.semantic}
    hits = {name: [hit_document(rank, hit) for rank, hit in enumerate(group, 1)] for name, group in groups.items()}
    return json_response(PlanDocument(goal=goal, **hits, context=plan.text(budget)))


@read_endpoint(router, "/context", ContextDocument)
def context(
    context: CurrentCaller,
    budget: Annotated[Budget, Query()] = 2000,
    about: Annotated[Question | None, Query(description="What the session is about, such as a project.")] = None,
) -> Response:
    """Return what an agent should know when a session starts: core memories, profile, recent statements, fenced."""
    start = build_start_context(context.memory, budget, about)
    return json_response(ContextDocument(context=start.text, known=start.is_known, about=about, atoms=list(start.ids)))


@read_endpoint(router, "/atoms", AtomsDocument)
def list_(context: CurrentCaller, parameters: Annotated[ListParameters, Query()]) -> Response:
    """List atoms, newest first; `status=any` lists all of them."""
    memory, filters = context.memory, parameters.given_fields("status", "limit", "offset")
    status = None if parameters.status == "any" else parameters.status
    atoms_found = memory.list(status=status, limit=parameters.limit + 1, offset=parameters.offset, **filters)
    more = len(atoms_found) > parameters.limit
    atoms = [atom_document(atom, memory.path_of(atom.id)) for atom in atoms_found[: parameters.limit]]
    return json_response(
        AtomsDocument(atoms=atoms, more=more, next=parameters.offset + parameters.limit if more else None)
    )


@read_endpoint(router, "/atoms/{id}", AtomDetailDocument)
def get(context: CurrentCaller, id: AtomIdPath, as_of: AsOf = None, known_at: KnownAt = None) -> Response:
    """Return one atom with the text it rests on; or as it was true or known at another time."""
    memory = context.memory
    atom = memory.get(id, as_of=as_of, known_at=known_at)
    quotes = [quote.data() for quote in load_quotes(memory, atom)]
    document = atom_document(atom, memory.path_of(atom.id))
    return json_response(AtomDetailDocument(atom=document, quotes=quotes, confirmations=memory.confirmations(atom.id)))


@read_endpoint(router, "/atoms/{id}/history", HistoryDocument)
def history(context: CurrentCaller, id: AtomIdPath) -> Response:
    """Return an atom's status changes and versions."""
    return json_response(history_document(context.memory, id))


@read_endpoint(router, "/atoms/{id}/status_history", TransitionsDocument)
def status_history(context: CurrentCaller, id: AtomIdPath) -> Response:
    """Return an atom's status changes, oldest first."""
    full_history = history_document(context.memory, id)
    return json_response(TransitionsDocument(id=full_history.id, transitions=full_history.transitions))


@read_endpoint(router, "/atoms/{id}/neighbours", NeighboursDocument)
def neighbours(context: CurrentCaller, id: AtomIdPath) -> Response:
    """Return the atoms linked to or from one, with the link."""
    memory = context.memory
    return json_response(NeighboursDocument(id=memory.get(id).id, neighbours=neighbour_documents(memory, id)))


@read_endpoint(router, "/atoms/{id}/signals", SignalsDocument)
def signals(context: CurrentCaller, id: AtomIdPath) -> Response:
    """Return an atom's usage counters and feedback."""
    atom_id, counters = context.memory.get(id).id, context.memory.signals(id)
    last = format_time(counters.last_recalled_at) if counters.last_recalled_at else None
    return json_response(
        SignalsDocument(
            id=atom_id,
            quality_score=counters.quality_score,
            recall_count=counters.recall_count,
            last_recalled_at=last,
            use_days=counters.use_days,
            successes=counters.successes,
            failures=counters.failures,
        )
    )


@read_endpoint(router, "/journal", JournalDocument)
def journal(
    context: CurrentCaller,
    since: Annotated[int, Query(ge=0, le=2**53, description="The position to start after.")] = 0,
    limit: RowLimit = 50,
) -> Response:
    """Return the commits after a position, oldest first: who changed what, when and why."""
    commits = journal_after(context.memory, since, limit + 1)
    page = commits[:limit]
    entries = [entry_document(entry) for entry in page]
    return json_response(
        JournalDocument(entries=entries, more=len(commits) > limit, next=page[-1].seq if page else since)
    )


@read_endpoint(router, "/topics", TopicsDocument)
def topics(context: CurrentCaller, limit: RowLimit = 20) -> Response:
    """Return the most frequent topics: subjects, names and tags."""
    documents = [
        TopicDocument(name=topic.name, count=topic.count, newest=format_time(topic.newest))
        for topic in context.memory.topics(limit)
    ]
    return json_response(TopicsDocument(topics=documents))
