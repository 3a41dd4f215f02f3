"""The tools that read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lamina.atom.passage import passages_of
from lamina.documents.atom import QuoteDocument, atom_document, quotes_of
from lamina.documents.history import HistoryDocument, history_document
from lamina.documents.neighbour import neighbour_documents
from lamina.documents.recall import hit_document
from lamina.documents.stats import StatsDocument, stats_document
from lamina.mcp.answers import Found, Got, brief_hit
from lamina.mcp.arguments import GetArguments, RecallArguments, StatusArguments
from lamina.mcp.told import DATA, Told, earlier, fenced, linked, quote, whole
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.memory import Memory
    from lamina.recall.hit import Recall
    from lamina.recall.pack import Item


def recall(memory: Memory, asked: RecallArguments) -> Told:
    """Return the passages that answer, best first, and a fenced text of them."""
    recalled = memory.recall(
        asked.question,
        asked.k,
        mode=asked.mode,
        scopes=asked.scopes,
        include=tuple(asked.include),
        fast=asked.fast,
        as_of=asked.as_of,
        known_at=asked.known_at,
        filter_stale=asked.filter_stale,
    )
    document = Found(
        recall_id=recalled.id,
        known=bool(recalled.relevant),
        asked_at=format_time(recalled.asked_at),
        position=recalled.position,
        model=recalled.model,
        understood=dict(recalled.understood),
        filtered=dict(recalled.filtered),
        hits=[brief_hit(rank, hit) for rank, hit in enumerate(recalled.hits, 1)],
        explained=[hit_document(rank, hit) for rank, hit in enumerate(recalled.hits, 1)] if asked.explain else None,
    )
    return Told(told_recall(recalled, asked.budget), document)


def told_recall(found: Recall, budget: int) -> str:
    """Return the recall as fenced text, with how to give feedback on it."""
    count = len(found.relevant)
    header = f"recall {found.id}: {count} relevant" if count else f"recall {found.id}: nothing relevant is known"
    lines = [header, DATA, found.context(budget)]
    lines += [f"afterwards: feedback with recall_id {found.id} and the ids you used"] if count else []
    return "\n".join(lines)


def get(memory: Memory, asked: GetArguments) -> Told:
    """Return one atom in full, with the text it rests on, and its history and links if requested."""
    atom = memory.get(asked.id, as_of=asked.as_of, known_at=asked.known_at)
    past_versions = history_document(memory, atom.id) if asked.history else None
    links = neighbour_documents(memory, atom.id) if asked.neighbours else None
    document = Got(
        **dict(atom_document(atom, memory.path_of(atom.id))),
        quotes=quotes_of(memory, atom),
        confirmations=memory.confirmations(atom.id),
        history=past_versions,
        neighbours=links,
    )
    lines = [_head(atom)]
    lines += [f"superseded by {', '.join(atom.superseded_by)}"] if atom.superseded_by else []
    lines += _moves(past_versions) if past_versions else []
    lines += ["marked out: links from it; marked in: links to it" if links else "no links"] if asked.neighbours else []
    items = [*whole(atom), *_quoted(memory, document.quotes)]
    items += earlier(atom, memory.history(atom.id).versions) if past_versions else []
    items += linked(memory.neighbours(atom.id), atom.id) if links else []
    return Told("\n".join([*lines, fenced(items)]), document)


def _head(atom: Atom) -> str:
    flags = [name for name, is_set in (("pinned", atom.pinned), ("resolved", atom.resolved)) if is_set]
    parts = [atom.status, f"layer {atom.layer}", *flags, f"revision {atom.revision}"]
    return f"{atom.id}: {atom.kind}, {', '.join(parts)}"


def _moves(past: HistoryDocument) -> list[str]:
    """Return the status changes without their reasons, which are in the document because they may quote content."""
    moves = [
        f"{transition.at} {transition.old or 'created'} → {transition.new} by commit {transition.commit}"
        for transition in past.transitions
    ]
    return [*moves, f"{len(past.versions)} versions; reasons are in the structured result"]


def _quoted(memory: Memory, quotes: Sequence[QuoteDocument]) -> Iterator[Item]:
    """Yield the quotes an atom rests on, those of one turn together."""
    quotes_by_turn: dict[tuple[str, int], list[str]] = {}
    for quote_document in quotes:
        quotes_by_turn.setdefault((quote_document.segment, quote_document.passage), []).append(quote_document.text)
    for (id, n), texts in quotes_by_turn.items():
        segment = memory.get(id)
        yield from (quote(segment, passage, " … ".join(texts)) for passage in passages_of(segment) if passage.n == n)


def status(memory: Memory, asked: StatusArguments) -> Told:
    """Return the state of the memory."""
    document = stats_document(memory)
    return Told(_told_stats(document), document)


def _told_stats(told: StatsDocument) -> str:
    by_status = ", ".join(f"{count} {name}" for name, count in told.by_status.items())
    running = [job.name for job in told.jobs if job.running]
    lines = [
        f"{told.scope}: {told.atoms} atoms ({by_status or 'none'}), {told.commits} commits",
        f"{told.waiting} captured passages are waiting for extraction; {told.to_review} items are pending review",
        f"{len(told.problems)} problems with files or atoms" if told.problems else "no problems",
        f"running: {', '.join(running)}" if running else "no background work",
    ]
    return "\n".join(lines)
