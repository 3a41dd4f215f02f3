"""The operations that read."""

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

AsOf = Annotated[When | None, Query(description="What was true then.")]
KnownAt = Annotated[When | None, Query(description="What was known then.")]
Most = Annotated[int, Query(ge=1, le=MOST_HITS)]
Rows = Annotated[int, Query(ge=1, le=MOST_ROWS)]


@reads(router, "/recall", RecallDocument)
def recall(here: Here, asked: Annotated[AskInAddress, Query()]) -> Response:
    """The passages that answer a question, best first, each with its reason, and the same as fenced text."""
    return _recalled(here, asked.q, asked)


@reads(router, "/recall", RecallDocument, method="POST")
def recall_long(here: Here, asked: AskInBody) -> Response:
    """The same for a question that no address should hold. It changes nothing and needs the right to read alone."""
    return _recalled(here, asked.question, asked)


def _recalled(here: Guest, question: str, asked: Ask) -> Response:
    found = here.memory.recall(
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
    return told(recall_document(found, budget=asked.budget))


@reads(router, "/answer", AnswerDocument, method="POST")
def answer(here: Here, asked: Answering) -> Response:
    """An answer in words with the atoms it rests on; needs a chat model, so it is no address to be fetched ahead."""
    return told(answer_document(here.memory.answer(asked.question, asked.k)))


@reads(router, "/top", TopDocument)
def top(here: Here, k: Most = 10) -> Response:
    """The core memories: pinned ones first, then by importance."""
    memory = here.memory
    return told(TopDocument(atoms=[atom_document(each, memory.path_of(each.id)) for each in memory.top(k)]))


@reads(router, "/plan_context", PlanDocument)
def plan_context(here: Here, goal: Annotated[Asking, Query()], budget: Annotated[Budget, Query()] = 2000) -> Response:
    """What a planner needs for a goal: three memories each of profile, procedures and facts."""
    found = here.memory.plan_context(goal)
    sorts = {"profile": found.profile, "procedural": found.procedural, "semantic": found.semantic}
    hits = {name: [hit_document(rank, hit) for rank, hit in enumerate(own, 1)] for name, own in sorts.items()}
    return told(PlanDocument(goal=goal, **hits, context=found.text(budget)))


@reads(router, "/context", ContextDocument)
def context(
    here: Here,
    budget: Annotated[Budget, Query()] = 2000,
    about: Annotated[Asking | None, Query(description="What the session is about, such as a project.")] = None,
) -> Response:
    """What an agent should know at the start of a session: core memories, profile and what is recent, fenced."""
    begun = beginning(here.memory, budget, about)
    return told(ContextDocument(context=begun.text, known=begun.known, about=about, atoms=list(begun.ids)))


@reads(router, "/atoms", AtomsDocument)
def list_(here: Here, wanted: Annotated[Listing, Query()]) -> Response:
    """Atoms, newest first; `status=any` lists all of them."""
    memory, given = here.memory, wanted.given("status", "limit", "offset")
    status = None if wanted.status == "any" else wanted.status
    found = memory.list(status=status, limit=wanted.limit + 1, offset=wanted.offset, **given)
    more = len(found) > wanted.limit
    atoms = [atom_document(each, memory.path_of(each.id)) for each in found[: wanted.limit]]
    return told(AtomsDocument(atoms=atoms, more=more, next=wanted.offset + wanted.limit if more else None))


@reads(router, "/atoms/{id}", GotDocument)
def get(here: Here, id: Id, as_of: AsOf = None, known_at: KnownAt = None) -> Response:
    """One atom whole, with the words it rests on; or as it was true or known at another time."""
    memory = here.memory
    atom = memory.get(id, as_of=as_of, known_at=known_at)
    quotes = [quote.data() for quote in quotes_of(memory, atom)]
    document = atom_document(atom, memory.path_of(atom.id))
    return told(GotDocument(atom=document, quotes=quotes, confirmations=memory.confirmations(atom.id)))


@reads(router, "/atoms/{id}/history", HistoryDocument)
def history(here: Here, id: Id) -> Response:
    """An atom's changes of status and versions."""
    return told(history_document(here.memory, id))


@reads(router, "/atoms/{id}/status_history", TransitionsDocument)
def status_history(here: Here, id: Id) -> Response:
    """An atom's changes of status, oldest first."""
    past = history_document(here.memory, id)
    return told(TransitionsDocument(id=past.id, transitions=past.transitions))


@reads(router, "/atoms/{id}/neighbours", NeighboursDocument)
def neighbours(here: Here, id: Id) -> Response:
    """The atoms linked to or from one, with the link."""
    memory = here.memory
    return told(NeighboursDocument(id=memory.get(id).id, neighbours=neighbour_documents(memory, id)))


@reads(router, "/atoms/{id}/signals", SignalsDocument)
def signals(here: Here, id: Id) -> Response:
    """What use has taught of an atom."""
    atom_id, found = here.memory.get(id).id, here.memory.signals(id)
    last = format_time(found.last_recalled_at) if found.last_recalled_at else None
    return told(
        SignalsDocument(
            id=atom_id,
            quality_score=found.quality_score,
            recall_count=found.recall_count,
            last_recalled_at=last,
            use_days=found.use_days,
            successes=found.successes,
            failures=found.failures,
        )
    )


@reads(router, "/journal", JournalDocument)
def journal(
    here: Here,
    since: Annotated[int, Query(ge=0, le=2**53, description="The position to begin after.")] = 0,
    limit: Rows = 50,
) -> Response:
    """The commits after a position, oldest first: who changed what, when and why."""
    found = journal_after(here.memory, since, limit + 1)
    page = found[:limit]
    entries = [entry_document(each) for each in page]
    return told(JournalDocument(entries=entries, more=len(found) > limit, next=page[-1].seq if page else since))


@reads(router, "/topics", TopicsDocument)
def topics(here: Here, limit: Rows = 20) -> Response:
    """What is spoken of most: subjects, names and tags."""
    found = [
        TopicDocument(name=topic.name, count=topic.count, newest=format_time(topic.newest))
        for topic in here.memory.topics(limit)
    ]
    return told(TopicsDocument(topics=found))
