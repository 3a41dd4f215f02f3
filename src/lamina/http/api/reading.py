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
    neighbour_documents,
    quotes_of,
    recall_document,
)
from lamina.http.api.answers import (
    AtomsDocument,
    ContextDocument,
    GotDocument,
    JournalDocument,
    NeighboursDocument,
    PlanDocument,
    SignalsDocument,
    TopDocument,
    TopicDocument,
    TopicsDocument,
    TransitionsDocument,
)
from lamina.http.api.beginning import beginning
from lamina.http.api.bodies import (
    MOST_HITS,
    MOST_ROWS,
    Answering,
    Ask,
    AskInAddress,
    AskInBody,
    Asking,
    Budget,
    Listing,
    When,
)
from lamina.http.api.route import Guest, Here, Id, reads, told
from lamina.http.journal import first as journal_after
from lamina.text.times import format_time

router = APIRouter(tags=["reading"])

AsOf = Annotated[When | None, Query(description="What was true at this time.")]
KnownAt = Annotated[When | None, Query(description="What was recorded by this time.")]
Most = Annotated[int, Query(ge=1, le=MOST_HITS)]
Rows = Annotated[int, Query(ge=1, le=MOST_ROWS)]


@reads(router, "/recall", RecallDocument)
def recall(here: Here, asked: Annotated[AskInAddress, Query()]) -> Response:
    """Return the passages that answer a question, best first, each with its reason, and the same as fenced text."""
    return _recalled(here, asked.q, asked)


@reads(router, "/recall", RecallDocument, method="POST")
def recall_long(here: Here, asked: AskInBody) -> Response:
    """Do the same for a question that should not be in a URL. Changes nothing; needs only the right to read."""
    return _recalled(here, asked.question, asked)


def _recalled(here: Guest, question: str, asked: Ask) -> Response:
    recalled = here.memory.recall(
        question,
        asked.k,
        mode=asked.mode,
        scopes=asked.scopes,
        include=tuple(asked.include),
        fast=asked.fast,
        ranking=asked.ranking,
        as_of=asked.as_of,
        known_at=asked.known_at,
        filter_stale=asked.filter_stale,
    )
    return told(recall_document(recalled, budget=asked.budget))


@reads(router, "/answer", AnswerDocument, method="POST")
def answer(here: Here, asked: Answering) -> Response:
    """Answer in words, with the atoms it rests on. Needs a chat model; a POST, so that nothing prefetches it."""
    return told(answer_document(here.memory.answer(asked.question, asked.k)))


@reads(router, "/top", TopDocument)
def top(here: Here, k: Most = 10) -> Response:
    """Return the core memories: pinned ones first, then by importance."""
    memory = here.memory
    return told(TopDocument(atoms=[atom_document(atom, memory.path_of(atom.id)) for atom in memory.top(k)]))


@reads(router, "/plan_context", PlanDocument)
def plan_context(here: Here, goal: Annotated[Asking, Query()], budget: Annotated[Budget, Query()] = 2000) -> Response:
    """Return what a planner needs for a goal: three memories each of profile, procedures and facts."""
    plan = here.memory.plan_context(goal)
    groups = {"profile": plan.profile, "procedural": plan.procedural, "semantic": plan.semantic}
    hits = {name: [hit_document(rank, hit) for rank, hit in enumerate(group, 1)] for name, group in groups.items()}
    return told(PlanDocument(goal=goal, **hits, context=plan.text(budget)))


@reads(router, "/context", ContextDocument)
def context(
    here: Here,
    budget: Annotated[Budget, Query()] = 2000,
    about: Annotated[Asking | None, Query(description="What the session is about, such as a project.")] = None,
) -> Response:
    """Return what an agent should know when a session starts: core memories, profile, recent statements, fenced."""
    start = beginning(here.memory, budget, about)
    return told(ContextDocument(context=start.text, known=start.known, about=about, atoms=list(start.ids)))


@reads(router, "/atoms", AtomsDocument)
def list_(here: Here, wanted: Annotated[Listing, Query()]) -> Response:
    """List atoms, newest first; `status=any` lists all of them."""
    memory, filters = here.memory, wanted.given("status", "limit", "offset")
    status = None if wanted.status == "any" else wanted.status
    atoms_found = memory.list(status=status, limit=wanted.limit + 1, offset=wanted.offset, **filters)
    more = len(atoms_found) > wanted.limit
    atoms = [atom_document(atom, memory.path_of(atom.id)) for atom in atoms_found[: wanted.limit]]
    return told(AtomsDocument(atoms=atoms, more=more, next=wanted.offset + wanted.limit if more else None))


@reads(router, "/atoms/{id}", GotDocument)
def get(here: Here, id: Id, as_of: AsOf = None, known_at: KnownAt = None) -> Response:
    """Return one atom with the text it rests on; or as it was true or known at another time."""
    memory = here.memory
    atom = memory.get(id, as_of=as_of, known_at=known_at)
    quotes = [quote.data() for quote in quotes_of(memory, atom)]
    document = atom_document(atom, memory.path_of(atom.id))
    return told(GotDocument(atom=document, quotes=quotes, confirmations=memory.confirmations(atom.id)))


@reads(router, "/atoms/{id}/history", HistoryDocument)
def history(here: Here, id: Id) -> Response:
    """Return an atom's status changes and versions."""
    return told(history_document(here.memory, id))


@reads(router, "/atoms/{id}/status_history", TransitionsDocument)
def status_history(here: Here, id: Id) -> Response:
    """Return an atom's status changes, oldest first."""
    full_history = history_document(here.memory, id)
    return told(TransitionsDocument(id=full_history.id, transitions=full_history.transitions))


@reads(router, "/atoms/{id}/neighbours", NeighboursDocument)
def neighbours(here: Here, id: Id) -> Response:
    """Return the atoms linked to or from one, with the link."""
    memory = here.memory
    return told(NeighboursDocument(id=memory.get(id).id, neighbours=neighbour_documents(memory, id)))


@reads(router, "/atoms/{id}/signals", SignalsDocument)
def signals(here: Here, id: Id) -> Response:
    """Return an atom's usage counters and feedback."""
    atom_id, counters = here.memory.get(id).id, here.memory.signals(id)
    last = format_time(counters.last_recalled_at) if counters.last_recalled_at else None
    return told(
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


@reads(router, "/journal", JournalDocument)
def journal(
    here: Here,
    since: Annotated[int, Query(ge=0, le=2**53, description="The position to start after.")] = 0,
    limit: Rows = 50,
) -> Response:
    """Return the commits after a position, oldest first: who changed what, when and why."""
    commits = journal_after(here.memory, since, limit + 1)
    page = commits[:limit]
    entries = [entry_document(entry) for entry in page]
    return told(JournalDocument(entries=entries, more=len(commits) > limit, next=page[-1].seq if page else since))


@reads(router, "/topics", TopicsDocument)
def topics(here: Here, limit: Rows = 20) -> Response:
    """Return the most frequent topics: subjects, names and tags."""
    documents = [
        TopicDocument(name=topic.name, count=topic.count, newest=format_time(topic.newest))
        for topic in here.memory.topics(limit)
    ]
    return told(TopicsDocument(topics=documents))
