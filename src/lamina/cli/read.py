"""The commands that read the memory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command
from lamina.cli.diff import Difference, Group, differences
from lamina.cli.output import Block, Facts, Grid, Json, Line, View, brief
from lamina.cli.session import Session
from lamina.cli.since import since as moment_since
from lamina.cli.told import (
    atom_blocks,
    atom_data,
    atoms_grid,
    entries_grid,
    entry_data,
    hit_blocks,
    hit_data,
    quotes_of,
    recall_blocks,
    short,
    when,
    words_of,
)
from lamina.cli.write import Id
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.recall import Recall

app = typer.Typer()
PANEL = "Read"

AsOf = Annotated[
    str | None,
    typer.Option("--as-of", help="What was true at this time: a date (its start) or a time; UTC unless it has a zone."),
]
KnownAt = Annotated[
    str | None,
    typer.Option(
        "--known-at", help="What was known at this time: a date (its end) or a time; UTC unless it has a zone."
    ),
]
Since = Annotated[str, typer.Option("--since", help="yesterday, today, 2d, 3h, or a date like 2026-11-15.")]


@command(app, "recall", panel=PANEL, example='lamina recall "how does she take her coffee?" -k 3 --explain')
def recall(
    session: Session,
    question: Annotated[str, typer.Argument(help="What you want to know.", show_default=False)],
    k: Annotated[int, typer.Option("-k", help="How many hits at most.")] = 10,
    mode: Annotated[str, typer.Option(help="facts_only, facts_plus_rules or full_context.")] = "full_context",
    only: Annotated[list[str] | None, typer.Option("--only", help="Search this scope only; can be repeated.")] = None,
    include: Annotated[
        list[str] | None,
        typer.Option("--include", help="Also search history, challenged or constrained atoms; can be repeated."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every word, term and weight of each score.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Also show hits below the relevance threshold.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Skip the comparison of token states.")] = False,
    ranking: Annotated[str, typer.Option(help="full, or plain: a fixed ranking by words alone.")] = "full",
    context: Annotated[bool, typer.Option("--context", help="Print the hits as context for an agent.")] = False,
    budget: Annotated[int, typer.Option(help="Maximum tokens of the context.", min=1)] = 2000,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    filter_stale: Annotated[
        bool,
        typer.Option("--filter-stale", help="Leave out what the last dream marked as stale, and what is archived."),
    ] = False,
) -> View:
    """Find the passages that answer a question, best first, each with its reason."""
    recalled = session.memory.recall(
        question,
        k,
        mode=mode,
        scopes=only or None,
        include=include or (),
        fast=fast,
        ranking=ranking,
        as_of=as_of,
        known_at=known_at,
        filter_stale=filter_stale,
    )
    _say_what_could_be_better(session, recalled)
    from lamina.documents.recall import recall_document

    document = recall_document(recalled, budget if context else None).data()
    data = {name: value for name, value in document.items() if context or name != "context"}
    if context:
        return View(data, (Line(data["context"]),))
    shown_hits = recalled.hits if every else recalled.relevant
    blocks = [block for rank, hit in enumerate(shown_hits, 1) for block in hit_blocks(rank, hit, explain=explain)]
    blocks = blocks or [Line("nothing known")]
    if explain:
        blocks += recall_blocks(recalled)
    if shown_hits:
        blocks.append(Line(f"give feedback: {session.shell('feedback', recalled.id, '--cited', 'ID')}", "green"))
    return View(data, tuple(blocks))


def _say_what_could_be_better(session: Session, found: Recall) -> None:
    models = session.memory.models
    session.say_once("light", models.missing)
    if models.primary is not None and found.model not in (models.primary.model.id, "plain", "none"):
        session.output.note(
            f"some passages have no vectors yet, so the light model answered; {session.shell('sync')} computes them"
        )


@command(app, "top", panel=PANEL, example="lamina top -k 5")
def top(session: Session, k: Annotated[int, typer.Option("-k", help="How many at most.", min=1)] = 10) -> View:
    """Show the core memories, which an agent always gets: pinned ones first, then by importance."""
    memory = session.memory
    atoms = memory.top(k)
    data = {"atoms": [atom_data(atom, memory.path_of(atom.id)) for atom in atoms]}
    empty_note = Line(f"no core memories; {session.shell('pin', 'ID')} adds one")
    return View(data, (atoms_grid(atoms) if atoms else empty_note,))


@command(app, "plan", panel=PANEL, example='lamina plan "a birthday dinner for Ann" --budget 500')
def plan(
    session: Session,
    goal: Annotated[str, typer.Argument(help="The goal to plan for.", show_default=False)],
    budget: Annotated[int, typer.Option(help="Maximum tokens.", min=1)] = 2000,
) -> View:
    """Print context for planning a goal: up to three memories each of profile, procedures and facts."""
    from lamina.recall.hit import bundled_count

    plan_hits = session.memory.plan_context(goal)
    hits_by_layer = {"profile": plan_hits.profile, "procedural": plan_hits.procedural, "semantic": plan_hits.semantic}
    context = plan_hits.text(budget, count=bundled_count())
    data = {name: [hit_data(rank, hit) for rank, hit in enumerate(hits, 1)] for name, hits in hits_by_layer.items()}
    return View({"goal": goal, **data, "context": context}, (Line(context),))


@command(app, "answer", panel=PANEL, example='lamina answer "when did she move to Porto?"')
def answer(
    session: Session, question: Annotated[str, typer.Argument(help="What you want to know.", show_default=False)]
) -> View:
    """Answer a question with the chat model, citing atoms; needs the setting `chat`."""
    result = session.memory.answer(question)
    from lamina.documents.answer import answer_document

    data = answer_document(result).data()
    citations = tuple((f"[{label}]", short(atom_id)) for label, atom_id in result.labels)
    calculations = tuple(("worked out", str(step)) for step in result.steps)
    blocks: list[Block] = [
        Line(result.text, "bold" if result.known else "dim"),
        Facts((*citations, *calculations), indent=2),
    ]
    return View(data, (*blocks, *([] if result.known else [Line(f"why: {result.why}", "dim")])))


@command(app, "get", panel=PANEL, example="lamina get 8qj1hjz0")
def get(session: Session, id: Id, as_of: AsOf = None, known_at: KnownAt = None) -> View:
    """Show one atom: its text, file, evidence and every field that is set."""
    memory = session.memory
    atom = memory.get(id, as_of=as_of, known_at=known_at)
    path, quotes = memory.path_of(atom.id), quotes_of(memory, atom)
    confirmations = memory.confirmations(atom.id)
    quote_documents = [{"link": link, "text": text} for link, text in quotes]
    data = {**atom_data(atom, path), "quotes": quote_documents, "confirmations": confirmations}
    more = [Line(f"confirmed by {confirmations} more independent sources")] if confirmations else []
    return View(data, (*atom_blocks(atom, path, quotes), *more))


@command(app, "list", panel=PANEL, example="lamina list --kind preference --limit 20")
def list_(
    session: Session,
    status: Annotated[str, typer.Option(help="Only atoms of this status.")] = "active",
    everything: Annotated[bool, typer.Option("--all", help="Atoms of every status.")] = False,
    kind: Annotated[str | None, typer.Option(help="Only this kind.")] = None,
    memory_type: Annotated[str | None, typer.Option(help="fact, procedure or narrative.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only atoms about this subject.")] = None,
    session_id: Annotated[str | None, typer.Option("--session", help="Only atoms of this session.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 50,
    offset: Annotated[int, typer.Option(help="How many to skip.", min=0)] = 0,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> View:
    """List atoms, newest first; pinned ones have a star."""
    memory = session.memory
    page = memory.list(
        status=None if everything else status,
        kind=kind,
        memory_type=memory_type,
        subject=subject,
        session_id=session_id,
        limit=limit + 1,
        offset=offset,
        as_of=as_of,
        known_at=known_at,
    )
    atoms, more = page[:limit], len(page) > limit
    data = {"atoms": [atom_data(atom, memory.path_of(atom.id)) for atom in atoms], "more": more}
    blocks: list[Block] = [atoms_grid(atoms)] if atoms else [Line("no such atoms")]
    blocks += [Line(f"there are more: --offset {offset + limit}", "dim")] if more else []
    return View(data, tuple(blocks))


@command(app, "history", panel=PANEL, example="lamina history 8qj1hjz0")
def history(session: Session, id: Id) -> View:
    """Show the history of an atom: its status changes and versions, oldest first."""
    memory = session.memory
    atom = memory.get(id)
    past = memory.history(atom.id)
    from lamina.documents.history import history_document

    data = history_document(memory, atom.id).data()
    moves = tuple(
        (
            when(transition.at),
            f"{transition.old or 'created'} → {transition.new}",
            transition.actor,
            brief(transition.reason, 80),
        )
        for transition in past.transitions
    )
    versions = tuple(
        (str(version.revision), when(version.at), short(version.commit), version.verb, brief(words_of(version.atom)))
        for version in past.versions
    )
    return View(
        data,
        (
            Grid(("when (UTC)", "status", "actor", "reason"), moves),
            Line(),
            Grid(("n", "when (UTC)", "commit", "verb", "what it said"), versions),
        ),
    )


@command(app, "neighbours", panel=PANEL, example="lamina neighbours 8qj1hjz0")
def neighbours(session: Session, id: Id) -> View:
    """Show the atoms linked to or from one."""
    memory = session.memory
    atom = memory.get(id)
    rows = []
    for edge, other in memory.neighbours(atom.id):
        arrow = f"{edge.name} →" if edge.source == atom.id else f"← {edge.name}"
        rows.append((arrow, f"{edge.confidence:g}", short(other.id), other.kind, brief(words_of(other))))
    from lamina.documents.neighbour import neighbour_documents

    data = [document.data() for document in neighbour_documents(memory, atom.id)]
    grid = Grid(("link", "strength", "id", "kind", "what it says"), tuple(rows))
    return View({"id": atom.id, "neighbours": data}, (grid if rows else Line("no neighbours"),))


@command(app, "journal", panel=PANEL, example="lamina journal --since today --limit 5")
def journal(
    session: Session,
    since: Annotated[
        str | None, typer.Option("--since", help="yesterday, today, 2d, 3h, a date, or the number of a commit.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many at most, the newest.", min=1)] = 20,
) -> View:
    """List commits, oldest first: who changed what, when and why."""
    memory = session.memory
    if since is not None and since.isdecimal():
        entries = memory.journal(int(since), limit=limit)
    else:
        entries = memory.journal(moment_since(since, datetime.now(UTC)) if since else 0, limit=limit)
    blocks: tuple[Block, ...] = (entries_grid(entries),) if entries else (Line("no commits"),)
    return View({"entries": [entry_data(entry) for entry in entries]}, blocks)


@command(app, "diff", panel=PANEL, example="lamina diff --since yesterday")
def diff(session: Session, since: Since = "yesterday") -> View:
    """Show what was learnt, changed, doubted or forgotten since a time."""
    memory = session.memory
    start = moment_since(since, datetime.now(UTC))
    changes = differences(memory, memory.journal(start))
    data: dict[str, Json] = {"since": format_time(start)}
    blocks: list[Block] = []
    for group in Group:
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
            blocks += [Line(f"{group.value} ({len(members)})", "bold"), *(Line(_told(member)) for member in members)]
    return View(data, tuple(blocks) or (Line(f"nothing changed since {when(start)} UTC"),))


def _told(each: Difference) -> str:
    old_text = brief(words_of(each.before), 60) if each.before and each.before.content != each.after.content else ""
    arrow = f"{old_text} → " if old_text else ""
    status = "" if each.after.status.value == "active" else f" [{each.after.status}]"
    return f"  {short(each.after.id)}  {each.after.kind}: {arrow}{brief(words_of(each.after))}{status}  ({each.reason})"
