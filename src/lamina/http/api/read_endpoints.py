"""The endpoints that read, among them the context for an agent at the start of a session."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from lamina.documents.argument_types import MAX_HITS, MAX_ROWS, Blocks, Question
from lamina.documents.atom import atom_document, atom_documents, load_quotes, neighbour_documents, standing_document
from lamina.documents.importance import ImportanceDocument, importance_document
from lamina.documents.journal import HistoryDocument, entry_document, history_document
from lamina.documents.recall import AnswerDocument, RecallDocument, answer_document, hit_documents, recall_document
from lamina.http.api import request_bodies as bodies
from lamina.http.api import response_documents as documents
from lamina.http.api.endpoint import AtomIdPath, CallerContext, CurrentCaller, read_endpoint
from lamina.http.change_feed import list_commits_after as journal_after
from lamina.http.operation_policies import SLOW_READ

router = APIRouter(tags=["reading"])

HitLimit = Annotated[int, Query(ge=1, le=MAX_HITS)]
RowLimit = Annotated[int, Query(ge=1, le=MAX_ROWS)]


@read_endpoint(router, "/recall")
def recall(context: CurrentCaller, parameters: Annotated[bodies.RecallParameters, Query()]) -> RecallDocument:
    """Return the passages that answer a question, best first, each with its reason, and the same as fenced text."""
    return _recall(context, parameters.q, parameters)


@read_endpoint(router, "/recall", method="POST")
def recall_long(context: CurrentCaller, body: bodies.RecallBody) -> RecallDocument:
    """Do the same for a question that should not be in a URL. Changes nothing; needs only the right to read."""
    return _recall(context, body.question, body)


def _recall(context: CallerContext, question: str, options: bodies.RecallFields) -> RecallDocument:
    memory = context.memory
    recalled = memory.recall(question, **options.given_fields("q", "question", "budget", "blocks"))
    return recall_document(recalled, options.budget, [memory.block(name) for name in options.blocks])


@read_endpoint(router, "/answer", SLOW_READ, method="POST")
def answer(context: CurrentCaller, body: bodies.AnswerBody) -> AnswerDocument:
    """Answer in words, with the atoms it rests on. Needs a chat model; a POST, so that nothing prefetches it."""
    return answer_document(context.memory.answer(body.question, body.k))


@read_endpoint(router, "/top")
def top(context: CurrentCaller, k: HitLimit = 10) -> documents.TopDocument:
    """Return the core memories: pinned ones first, then by effective importance."""
    memory = context.memory
    return documents.TopDocument(atoms=atom_documents(memory, memory.top(k)))


@read_endpoint(router, "/plan_context")
def plan_context(
    context: CurrentCaller, goal: Annotated[Question, Query()], budget: Annotated[bodies.Budget, Query()] = 2000
) -> documents.PlanDocument:
    """Return what a planner needs for a goal: three memories each of profile, procedures and facts."""
    plan = context.memory.plan_context(goal)
    groups = {"profile": plan.profile, "procedural": plan.procedural, "semantic": plan.semantic}
    hits = {name: hit_documents(group) for name, group in groups.items()}
    return documents.PlanDocument(goal=goal, **hits, context=plan.text(budget))


@read_endpoint(router, "/context")
def context(
    context: CurrentCaller,
    budget: Annotated[bodies.Budget, Query()] = 2000,
    about: Annotated[Question | None, Query(description="What the session is about, such as a project.")] = None,
    blocks: Annotated[Blocks, Query()] = [],  # noqa: B006 - the default of a query parameter
) -> documents.ContextDocument:
    """Return what an agent should know when a session starts: core memories, profile, recent statements, fenced."""
    memory = context.memory
    start = memory.beginning(about, budget, blocks=[memory.block(name) for name in blocks])
    return documents.ContextDocument(context=start.text, known=bool(start.ids), about=about, atoms=list(start.ids))


@read_endpoint(router, "/atoms")
def list_(context: CurrentCaller, parameters: Annotated[bodies.ListParameters, Query()]) -> documents.AtomsDocument:
    """List atoms, newest first; `status=any` lists all of them."""
    memory, filters = context.memory, parameters.given_fields("status", "limit", "offset")
    status = None if "any" in parameters.status else parameters.status
    atoms_found = memory.list(status=status, limit=parameters.limit + 1, offset=parameters.offset, **filters)
    more = len(atoms_found) > parameters.limit
    atoms = atom_documents(memory, atoms_found[: parameters.limit])
    return documents.AtomsDocument(atoms=atoms, more=more, next=parameters.offset + parameters.limit if more else None)


@read_endpoint(router, "/atoms/{id}")
def get(
    context: CurrentCaller,
    id: AtomIdPath,
    as_of: Annotated[bodies.AsOf, Query()] = None,
    known_at: Annotated[bodies.KnownAt, Query()] = None,
) -> documents.AtomDetailDocument:
    """Return one atom with the text it rests on; or as it was true or known at another time."""
    memory = context.memory
    atom = memory.get(id, as_of=as_of, known_at=known_at)
    quotes = [quote.data() for quote in load_quotes(memory, atom)]
    document = atom_document(atom, memory.path_of(atom.id))
    return documents.AtomDetailDocument.of(
        memory.signals(atom.id),
        atom=document,
        quotes=quotes,
        confirmations=memory.confirmations(atom.id),
        standing=standing_document(memory, atom),
    )


@read_endpoint(router, "/atoms/{id}/history")
def history(context: CurrentCaller, id: AtomIdPath) -> HistoryDocument:
    """Return an atom's status changes and versions."""
    return history_document(context.memory, id)


@read_endpoint(router, "/atoms/{id}/status_history")
def status_history(context: CurrentCaller, id: AtomIdPath) -> documents.TransitionsDocument:
    """Return an atom's status changes, oldest first."""
    full_history = history_document(context.memory, id)
    return documents.TransitionsDocument(id=full_history.id, transitions=full_history.transitions)


@read_endpoint(router, "/atoms/{id}/neighbours")
def neighbours(context: CurrentCaller, id: AtomIdPath) -> documents.NeighboursDocument:
    """Return the atoms linked to or from one, with the link."""
    memory = context.memory
    return documents.NeighboursDocument(id=memory.get(id).id, neighbours=neighbour_documents(memory, id))


@read_endpoint(router, "/atoms/{id}/signals")
def signals(context: CurrentCaller, id: AtomIdPath) -> documents.SignalsDocument:
    """Return an atom's usage counters and feedback."""
    return documents.SignalsDocument.of(context.memory.signals(id), id=context.memory.get(id).id)


@read_endpoint(router, "/atoms/{id}/why")
def why(context: CurrentCaller, id: AtomIdPath) -> ImportanceDocument:
    """Return why an atom matters: the nine factors of its importance, which add up, and what ageing does with it."""
    return importance_document(context.memory.why(id))


@read_endpoint(router, "/journal")
def journal(
    context: CurrentCaller,
    since: Annotated[int, Query(ge=0, le=2**53, description="The position to start after.")] = 0,
    limit: RowLimit = 50,
) -> documents.JournalDocument:
    """Return the commits after a position, oldest first: who changed what, when and why."""
    commits = journal_after(context.memory, since, limit + 1)
    page = commits[:limit]
    entries = [entry_document(entry) for entry in page]
    return documents.JournalDocument(entries=entries, more=len(commits) > limit, next=page[-1].seq if page else since)


@read_endpoint(router, "/topics")
def topics(context: CurrentCaller, limit: RowLimit = 20) -> documents.TopicsDocument:
    """Return the most frequent topics: subjects, names and tags."""
    return documents.TopicsDocument(
        topics=[documents.TopicDocument.of(topic) for topic in context.memory.topics(limit)]
    )
