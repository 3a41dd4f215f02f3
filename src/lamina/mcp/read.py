"""The tools that read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.atom import atom_document, quotes_of
from lamina.documents.history import HistoryDocument, history_document
from lamina.documents.neighbour import neighbour_documents
from lamina.documents.recall import hit_document
from lamina.documents.stats import StatsDocument, stats_document
from lamina.mcp.answers import Found, Got, brief_hit
from lamina.mcp.arguments import GetArguments, RecallArguments, StatusArguments
from lamina.mcp.told import DATA, Told, fenced, whole
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.recall.hit import Recall


def recall(memory: Memory, asked: RecallArguments) -> Told:
    """The passages that answer, best first, and a fenced text made of them."""
    found = memory.recall(
        asked.question, asked.k, mode=asked.mode, scopes=asked.scopes, include=tuple(asked.include), fast=asked.fast,
        as_of=asked.as_of, known_at=asked.known_at, filter_stale=asked.filter_stale,
    )  # fmt: skip
    document = Found(
        recall_id=found.id, known=bool(found.relevant), asked_at=format_time(found.asked_at), position=found.position,
        model=found.model, understood=dict(found.understood), filtered=dict(found.filtered),
        hits=[brief_hit(rank, hit) for rank, hit in enumerate(found.hits, 1)],
        explained=[hit_document(rank, hit) for rank, hit in enumerate(found.hits, 1)] if asked.explain else None,
    )  # fmt: skip
    return Told(told_recall(found, asked.budget), document)


def told_recall(found: Recall, budget: int) -> str:
    """What is known, fenced, and how to say what of it was used."""
    many = len(found.relevant)
    head = f"recall {found.id}: {many} relevant" if many else f"recall {found.id}: nothing relevant is known"
    lines = [head, DATA, found.context(budget)]
    lines += [f"afterwards: feedback with recall_id {found.id} and the ids you used"] if many else []
    return "\n".join(lines)


def get(memory: Memory, asked: GetArguments) -> Told:
    """One atom whole, with the words it rests on, and its past and its links where they are asked for."""
    atom = memory.get(asked.id, as_of=asked.as_of, known_at=asked.known_at)
    past = history_document(memory, atom.id) if asked.history else None
    links = neighbour_documents(memory, atom.id) if asked.neighbours else None
    document = Got(
        **dict(atom_document(atom, memory.path_of(atom.id))), quotes=quotes_of(memory, atom),
        confirmations=memory.confirmations(atom.id), history=past, neighbours=links,
    )  # fmt: skip
    lines = [f"{atom.id}: {atom.kind}, {atom.status}, revision {atom.revision}"]
    lines += _past(past) if past else []
    lines += [f"{each.direction} {each.relation} {each.atom.id}" for each in links or ()]
    return Told("\n".join([*lines, fenced(whole(atom))]), document)


def _past(past: HistoryDocument) -> list[str]:
    """The past without a word of anybody's: reasons and older texts stand in the document."""
    moves = [f"{each.at} {each.old or 'born'} → {each.new} by commit {each.commit}" for each in past.transitions]
    return [*moves, f"{len(past.versions)} versions; their words and reasons are in the structured result"]


def status(memory: Memory, asked: StatusArguments) -> Told:
    """How the memory stands."""
    document = stats_document(memory)
    return Told(_told_stats(document), document)


def _told_stats(told: StatsDocument) -> str:
    by_status = ", ".join(f"{many} {name}" for name, many in told.by_status.items())
    running = [each.name for each in told.jobs if each.running]
    lines = [
        f"{told.scope}: {told.atoms} atoms ({by_status or 'none'}), {told.commits} commits",
        f"{told.waiting} captured passages wait to be read; {told.to_review} things wait for a person's review",
        f"{len(told.problems)} problems with files or atoms" if told.problems else "no problems",
        f"at work: {', '.join(running)}" if running else "no background work",
    ]
    return "\n".join(lines)
