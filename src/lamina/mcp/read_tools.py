"""The tools that read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from lamina.atom.passage import passages_of
from lamina.documents.atom import (
    AtomDocument,
    CountersDocument,
    NeighbourDocument,
    QuoteDocument,
    StandingDocument,
    atom_document,
    load_quotes,
    neighbour_documents,
    standing_document,
)
from lamina.documents.importance import ImportanceDocument, importance_document
from lamina.documents.journal import HistoryDocument, history_document
from lamina.documents.recall import brief_recall
from lamina.documents.stats import StatsDocument, stats_document
from lamina.mcp.result_text import (
    DATA_NOTICE,
    ToolResult,
    atom_items,
    earlier_version_items,
    fence_items,
    neighbour_items,
    quote_item,
)
from lamina.mcp.tool_arguments import GetArguments, RecallArguments, StatusArguments

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.memory import Memory
    from lamina.recall.context_packing import ContextItem
    from lamina.recall.recall_result import Recall
    from lamina.working.block import Block


class AtomResult(AtomDocument, CountersDocument):
    """An atom in full, with the text it rests on."""

    quotes: list[QuoteDocument]
    confirmations: Annotated[int, Field(description="How many independent sources confirm it, beyond the first.")]
    standing: StandingDocument
    history: HistoryDocument | None
    neighbours: list[NeighbourDocument] | None
    why: ImportanceDocument | None


def recall(memory: Memory, arguments: RecallArguments) -> ToolResult:
    """Return the passages that answer, best first, and a fenced text of them."""
    recalled = memory.recall(**arguments.given_fields("budget", "explain", "blocks"))
    text = recall_text(recalled, arguments.budget, [memory.block(name) for name in arguments.blocks])
    return ToolResult(text, brief_recall(recalled, explain=arguments.explain))


def recall_text(recall: Recall, budget: int, blocks: Sequence[Block]) -> str:
    """Return the recall as fenced text, with the notes of blocks and how to give feedback on it."""
    count = len(recall.relevant)
    header = f"recall {recall.id}: {count} relevant" if count else f"recall {recall.id}: nothing relevant is known"
    lines = [header, DATA_NOTICE, recall.context(budget, blocks=blocks)]
    lines += [f"afterwards: feedback with recall_id {recall.id} and the ids you used"] if count else []
    return "\n".join(lines)


def get(memory: Memory, arguments: GetArguments) -> ToolResult:
    """Return one atom in full, with the text it rests on, and its history and links if requested."""
    atom = memory.get(arguments.id, as_of=arguments.as_of, known_at=arguments.known_at)
    past_versions = history_document(memory, atom.id) if arguments.history else None
    links = neighbour_documents(memory, atom.id) if arguments.neighbours else None
    document = AtomResult(
        **dict(atom_document(atom, memory.path_of(atom.id))),
        quotes=load_quotes(memory, atom),
        **CountersDocument.of(memory.signals(atom.id)).data(),
        confirmations=memory.confirmations(atom.id),
        standing=standing_document(memory, atom),
        history=past_versions,
        neighbours=links,
        why=importance_document(memory.why(atom.id)) if arguments.why else None,
    )
    lines = [_atom_header(atom)]
    lines += _importance_lines(document.why) if document.why else []
    lines += [f"superseded by {', '.join(atom.superseded_by)}"] if atom.superseded_by else []
    lines += _transition_lines(past_versions) if past_versions else []
    lines += (
        ["marked out: links from it; marked in: links to it" if links else "no links"] if arguments.neighbours else []
    )
    items = [*atom_items(atom), *_quote_items(memory, document.quotes)]
    items += earlier_version_items(atom, memory.history(atom.id).versions) if past_versions else []
    items += neighbour_items(memory.neighbours(atom.id), atom.id) if links else []
    return ToolResult("\n".join([*lines, fence_items(items)]), document)


def _atom_header(atom: Atom) -> str:
    flags = [name for name, is_set in (("pinned", atom.pinned), ("resolved", atom.resolved)) if is_set]
    parts = [atom.status, f"layer {atom.layer}", *flags, f"revision {atom.revision}"]
    return f"{atom.id}: {atom.kind}, {', '.join(parts)}"


def _importance_lines(why: ImportanceDocument) -> list[str]:
    factors = ", ".join(f"{factor.name} {factor.value:g} × {factor.weight:g}" for factor in why.factors)
    ageing = "; ".join(f"{name}: {decision}" for name, decision in why.ageing.items())
    return [f"importance {why.importance:g} = {factors}", ageing]


def _transition_lines(history: HistoryDocument) -> list[str]:
    """Return the status changes without their reasons, which are in the document because they may quote content."""
    moves = [
        f"{transition.at} {transition.old or 'created'} → {transition.new} by commit {transition.commit}"
        for transition in history.transitions
    ]
    return [*moves, f"{len(history.versions)} versions; reasons are in the structured result"]


def _quote_items(memory: Memory, quotes: Sequence[QuoteDocument]) -> Iterator[ContextItem]:
    """Yield the quotes an atom rests on, those of one turn together."""
    quotes_by_turn: dict[tuple[str, int], list[str]] = {}
    for quote_document in quotes:
        quotes_by_turn.setdefault((quote_document.segment, quote_document.passage), []).append(quote_document.text)
    for (id, n), texts in quotes_by_turn.items():
        segment = memory.get(id)
        yield from (
            quote_item(segment, passage, " … ".join(texts)) for passage in passages_of(segment) if passage.n == n
        )


def status(memory: Memory, arguments: StatusArguments) -> ToolResult:
    """Return the state of the memory."""
    document = stats_document(memory)
    return ToolResult(_stats_text(document), document)


def _stats_text(stats: StatsDocument) -> str:
    by_status = ", ".join(f"{count} {name}" for name, count in stats.by_status.items())
    running = [job.name for job in stats.jobs if job.running]
    lines = [
        f"{stats.scope}: {stats.atoms} atoms ({by_status or 'none'}), {stats.commits} commits",
        f"{stats.waiting} captured passages are waiting for extraction; {stats.to_review} items are pending review",
        f"{len(stats.problems)} problems with files or atoms" if stats.problems else "no problems",
        f"running: {', '.join(running)}" if running else "no background work",
    ]
    return "\n".join(lines)
