"""The commands that read the memory."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from lamina.cli.command import command
from lamina.cli.command_options import (
    AsOfOption,
    IdArgument,
    KnownAtOption,
    ListFilters,
    QuestionArgument,
    RecallFilters,
    SinceOption,
    select_given,
)
from lamina.cli.command_session import CommandSession
from lamina.cli.journal_diff import ChangeGroup, Difference, list_differences
from lamina.cli.output import CommandResult, FieldList, Json, OutputBlock, TextGrid, TextLine, shorten
from lamina.cli.record_views import (
    atom_blocks,
    atom_data,
    atoms_grid,
    entries_grid,
    entry_data,
    format_day,
    format_minute,
    hit_blocks,
    hit_data,
    importance_blocks,
    name_atoms,
    one_line_text,
    read_quotes,
    recall_blocks,
    short_id,
)
from lamina.cli.text_input import parse_since
from lamina.text.timestamps import format_time

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.recall import Recall

app = typer.Typer(rich_help_panel="Read")


@command(app, "recall", example='lamina recall "how does she take her coffee?" -k 3 --explain')
def recall(
    session: CommandSession,
    question: QuestionArgument,
    k: Annotated[int, typer.Option("-k", help="How many hits at most.")] = 10,
    mode: Annotated[str, typer.Option(help="facts_only, facts_plus_rules or full_context.")] = "full_context",
    explain: Annotated[bool, typer.Option("--explain", help="Show every word, term and weight of each score.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help="Also show hits below the relevance threshold.")] = False,
    ranking: Annotated[str, typer.Option(help="full, or plain: a fixed ranking by words alone.")] = "full",
    context: Annotated[bool, typer.Option("--context", help="Print the hits as context for an agent.")] = False,
    budget: Annotated[int, typer.Option(help="Maximum tokens of the context.", min=1)] = 2000,
    block_names: Annotated[
        list[str] | None,
        typer.Option("--block", help="Add the notes of this workstream to the context; can be repeated."),
    ] = None,
    **filters: Unpack[RecallFilters],
) -> CommandResult:
    """Find the passages that answer a question, best first, each with its reason."""
    recalled = session.memory.recall(question, k, mode=mode, ranking=ranking, **select_given(filters))
    _note_missing_models(session, recalled)
    from lamina.documents.recall import recall_document

    blocks_given = [session.memory.block(name) for name in block_names or ()]
    document = recall_document(recalled, budget if context else None, blocks_given).data()
    data = {name: value for name, value in document.items() if context or name != "context"}
    if context:
        return CommandResult(data, (TextLine(data["context"]),))
    shown_hits = recalled.hits if show_all else recalled.relevant
    blocks = [block for rank, hit in enumerate(shown_hits, 1) for block in hit_blocks(rank, hit, explain=explain)]
    blocks = blocks or [TextLine("nothing known")]
    if explain:
        blocks += recall_blocks(recalled)
    if shown_hits:
        blocks.append(
            TextLine(f"give feedback: {session.format_command('feedback', recalled.id, '--cited', 'ID')}", "green")
        )
    return CommandResult(data, tuple(blocks))


def _note_missing_models(session: CommandSession, recalled: Recall) -> None:
    models = session.memory.engine.models.choice
    session.note_once("light", models.missing_hint)
    if models.primary is not None and recalled.model not in (models.primary.model.id, "plain", "none"):
        session.output.print_note(
            f"some passages have no vectors yet, so the light model answered; "
            f"{session.format_command('sync')} computes them"
        )


@command(app, "top", example="lamina top -k 5")
def top(
    session: CommandSession, k: Annotated[int, typer.Option("-k", help="How many at most.", min=1)] = 10
) -> CommandResult:
    """Show the core memories, which an agent always gets: pinned ones first, then by effective importance."""
    memory = session.memory
    atoms = memory.top(k)
    data = {"atoms": [atom_data(atom, memory.path_of(atom.id)) for atom in atoms]}
    empty_note = TextLine(f"no core memories; {session.format_command('pin', 'ID')} adds one")
    return CommandResult(data, (atoms_grid(atoms) if atoms else empty_note,))


@command(app, "plan", example='lamina plan "a birthday dinner for Ann" --budget 500')
def plan(
    session: CommandSession,
    goal: Annotated[str, typer.Argument(help="The goal to plan for.", show_default=False)],
    budget: Annotated[int, typer.Option(help="Maximum tokens.", min=1)] = 2000,
) -> CommandResult:
    """Print context for planning a goal: up to three memories each of profile, procedures and facts."""
    from lamina.recall.recall_result import bundled_token_counter

    plan_hits = session.memory.plan_context(goal)
    hits_by_layer = {"profile": plan_hits.profile, "procedural": plan_hits.procedural, "semantic": plan_hits.semantic}
    context = plan_hits.text(budget, count=bundled_token_counter())
    data = {name: [hit_data(rank, hit) for rank, hit in enumerate(hits, 1)] for name, hits in hits_by_layer.items()}
    return CommandResult({"goal": goal, **data, "context": context}, (TextLine(context),))


@command(app, "answer", example='lamina answer "when did she move to Porto?"')
def answer(session: CommandSession, question: QuestionArgument) -> CommandResult:
    """Answer a question with the chat model, citing atoms; needs the setting `chat`."""
    result = session.memory.answer(question)
    from lamina.documents.recall import answer_document

    data = answer_document(result).data()
    citations = tuple((f"[{label}]", short_id(atom_id)) for label, atom_id in result.labels)
    calculations = tuple(("calculated", str(step)) for step in result.steps)
    blocks: list[OutputBlock] = [
        TextLine(result.text, "bold" if result.is_known else "dim"),
        FieldList((*citations, *calculations), indent=2),
    ]
    return CommandResult(data, (*blocks, *([] if result.is_known else [TextLine(f"why: {result.reason}", "dim")])))


@command(app, "get", example="lamina get 8qj1hjz0  ·  lamina get 8qj1hjz0 --why")
def get(
    session: CommandSession,
    id: IdArgument,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    why: Annotated[
        bool, typer.Option("--why", help="Also show why it matters: the factors of its importance, and its ageing.")
    ] = False,
) -> CommandResult:
    """Show one atom: its text, file, evidence, every field that is set, and its standing."""
    memory = session.memory
    atom = memory.get(id, as_of=as_of, known_at=known_at)
    path, quotes = memory.path_of(atom.id), read_quotes(memory, atom)
    confirmations, standing = memory.confirmations(atom.id), memory.standing(atom.id)
    quote_documents = [{"link": link, "text": text} for link, text in quotes]
    from lamina.documents.atom import CountersDocument

    counters = CountersDocument.of(memory.signals(atom.id)).data()
    computed = asdict(standing)
    data = {
        **atom_data(atom, path),
        **counters,
        "quotes": quote_documents,
        "confirmations": confirmations,
        "standing": computed,
    }
    more: list[OutputBlock] = [
        FieldList(tuple((name, str(value)) for name, value in values.items() if value is not None))
        for values in (counters, computed)
    ]
    more += [TextLine(f"confirmed by {confirmations} more independent sources")] if confirmations else []
    if why:
        from lamina.documents.importance import importance_document

        document = importance_document(memory.why(atom.id))
        data, more = {**data, "why": document.data()}, [*more, *importance_blocks(document)]
    return CommandResult(data, (*atom_blocks(atom, path, quotes), *more))


@command(app, "list", example="lamina list --kind preference --limit 20")
def list_(
    session: CommandSession,
    status: Annotated[
        list[str] | None, typer.Option("--status", help="Only atoms of this status; can be repeated. Default: active.")
    ] = None,
    all_statuses: Annotated[bool, typer.Option("--all", help="Atoms of every status.")] = False,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 50,
    offset: Annotated[int, typer.Option(help="How many to skip.", min=0)] = 0,
    **filters: Unpack[ListFilters],
) -> CommandResult:
    """List atoms, newest first; pinned ones have a star. Boxes are listed with --kind box only."""
    memory = session.memory
    statuses = None if all_statuses else status or "active"
    page = memory.list(status=statuses, limit=limit + 1, offset=offset, **select_given(filters))
    atoms, more = page[:limit], len(page) > limit
    data = {"atoms": [atom_data(atom, memory.path_of(atom.id)) for atom in atoms], "more": more}
    blocks: list[OutputBlock] = [atoms_grid(atoms)] if atoms else [TextLine("no such atoms")]
    blocks += [TextLine(f"there are more: --offset {offset + limit}", "dim")] if more else []
    return CommandResult(data, tuple(blocks))


@command(app, "topics", example="lamina topics  ·  lamina list --topic pottery")
def topics(
    session: CommandSession, limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 20
) -> CommandResult:
    """List the most frequent topics: subjects, names, tags and topics of boxes. A dream writes them to topics.md."""
    counts = session.memory.topics(limit)
    rows = tuple((topic.name, str(topic.count), format_day(topic.newest)) for topic in counts)
    data = {"topics": [asdict(topic) | {"newest": format_time(topic.newest)} for topic in counts]}
    return CommandResult(data, (TextGrid(("topic", "statements", "newest"), rows) if rows else TextLine("no topics"),))


@command(app, "history", example="lamina history 8qj1hjz0")
def history(session: CommandSession, id: IdArgument) -> CommandResult:
    """Show the history of an atom: its status changes and versions, oldest first."""
    memory = session.memory
    atom = memory.get(id)
    past = memory.history(atom.id)
    from lamina.documents.journal import history_document

    data = history_document(memory, atom.id).data()
    moves = tuple(
        (
            format_minute(transition.at),
            f"{transition.old or 'created'} → {transition.new}",
            transition.actor,
            shorten(name_atoms(transition.reason, memory), 80),
        )
        for transition in past.transitions
    )
    versions = tuple(
        (
            str(version.revision),
            format_minute(version.at),
            short_id(version.commit),
            version.verb,
            shorten(one_line_text(version.atom)),
        )
        for version in past.versions
    )
    return CommandResult(
        data,
        (
            TextGrid(("when (UTC)", "status", "actor", "reason"), moves),
            TextLine(),
            TextGrid(("n", "when (UTC)", "commit", "verb", "what it said"), versions),
        ),
    )


@command(app, "neighbours", example="lamina neighbours 8qj1hjz0")
def neighbours(session: CommandSession, id: IdArgument) -> CommandResult:
    """Show the atoms linked to or from one."""
    memory = session.memory
    atom = memory.get(id)
    rows = []
    for edge, other in memory.neighbours(atom.id):
        arrow = f"{edge.name} →" if edge.source == atom.id else f"← {edge.name}"
        rows.append((arrow, f"{edge.confidence:g}", short_id(other.id), other.kind, shorten(one_line_text(other))))
    from lamina.documents.atom import neighbour_documents

    data = [document.data() for document in neighbour_documents(memory, atom.id)]
    grid = TextGrid(("link", "strength", "id", "kind", "what it says"), tuple(rows))
    return CommandResult({"id": atom.id, "neighbours": data}, (grid if rows else TextLine("no neighbours"),))


@command(app, "journal", example="lamina journal --since today --limit 5")
def journal(
    session: CommandSession,
    since: Annotated[
        str | None, typer.Option("--since", help="yesterday, today, 2d, 3h, a date, or the number of a commit.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many at most, the newest.", min=1)] = 20,
) -> CommandResult:
    """List commits, oldest first: who changed what, when and why."""
    memory = session.memory
    if since is not None and since.isdecimal():
        entries = memory.journal(int(since), limit=limit)
    else:
        entries = memory.journal(parse_since(since, datetime.now(UTC)) if since else 0, limit=limit)
    blocks: tuple[OutputBlock, ...] = (entries_grid(entries),) if entries else (TextLine("no commits"),)
    return CommandResult({"entries": [entry_data(entry) for entry in entries]}, blocks)


@command(app, "diff", example="lamina diff --since yesterday")
def diff(session: CommandSession, since: SinceOption = "yesterday") -> CommandResult:
    """Show what was learnt, changed, doubted or forgotten since a time."""
    memory = session.memory
    start = parse_since(since, datetime.now(UTC))
    changes = list_differences(memory, memory.journal(start))
    data: dict[str, Json] = {"since": format_time(start)}
    blocks: list[OutputBlock] = []
    for group in ChangeGroup:
        members = [difference for difference in changes if difference.group is group]
        data[group.value] = [
            {
                "before": member.before.content if member.before else None,
                "reason": member.reason,
                "atom": atom_data(member.after, memory.path_of(member.after.id)),
            }
            for member in members
        ]
        if members:
            blocks += [
                TextLine(f"{group.value} ({len(members)})", "bold"),
                *(TextLine(_difference_line(member, memory)) for member in members),
            ]
    return CommandResult(data, tuple(blocks) or (TextLine(f"nothing changed since {format_minute(start)} UTC"),))


def _difference_line(difference: Difference, memory: Memory) -> str:
    old_text = (
        shorten(one_line_text(difference.before), 60)
        if difference.before and difference.before.content != difference.after.content
        else ""
    )
    arrow = f"{old_text} → " if old_text else ""
    status = "" if difference.after.status.value == "active" else f" [{difference.after.status}]"
    after, reason = difference.after, name_atoms(difference.reason, memory)
    return f"  {short_id(after.id)}  {after.kind}: {arrow}{shorten(one_line_text(after))}{status}  ({reason})"
