"""`lamina review`: lists what is pending review, and records the decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from lamina.cli.command import command, command_group
from lamina.cli.command_options import (
    ClaimOptions,
    IdArgument,
    IdsArgument,
    NewTextArgument,
    ReasonOption,
    ValueOption,
    parse_fields,
)
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, Json, OutputBlock, TextLine, shorten
from lamina.cli.receipts import atom_outcome_blocks, commit_data, outcome_data, undo_blocks
from lamina.cli.record_views import atom_data, format_day, name_atoms, one_line_text, read_quotes, short_id
from lamina.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lamina.atom.atom import Atom
    from lamina.capture.receipt import Receipt
    from lamina.memory import Memory
    from lamina.review.pairs import Pair
    from lamina.review.pending_items import Item

PANEL = "Review"
MAX_SHOWN = 20
"""Decisions that are printed; more are only counted."""


def _list_all(session: CommandSession) -> CommandResult:
    return list_pending(session)


review = command_group(
    "review",
    panel=PANEL,
    help="Decide about pending statements: imported, captured or proposed. Pending statements are never answers.",
    example="lamina review  ·  lamina review confirm 8qj1hjz0  ·  "
    'lamina review reject --source web --reason "not ours"',
    default=_list_all,
)

SourceOption = Annotated[
    str | None,
    typer.Option("--source", help="Everything pending from this source; a prefix such as `chatgpt` is enough."),
]
OtherIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The other of the pair.", show_default=False)]


@command(review, "list", example="lamina review list  ·  lamina review list --source chatgpt")
def list_pending(
    session: CommandSession,
    source: SourceOption = None,
    kind: Annotated[str | None, typer.Option(help="Only statement, proposal, pair or deletions.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 50,
) -> CommandResult:
    """List what is pending review, newest first, with its evidence and what each decision would do."""
    memory = session.memory
    items, total = memory.review.list(source, kind=kind, limit=limit), memory.review.count(source, kind=kind)
    data: list[Json] = []
    blocks: list[OutputBlock] = []
    for item in items:
        quotes = [read_quotes(memory, atom) for atom in item.atoms]
        data.append(_item_data(memory, item, quotes))
        blocks += _item_blocks(session, item, quotes)
    more = [TextLine(f"and {total - limit:,} more")] if total > limit else []
    empty_note = [] if items else [TextLine("nothing is pending review")]
    single_atoms = [atom for json in data if json["kind"] in ("statement", "proposal") for atom in json["atoms"]]
    held_count = len(memory.review.held(source))
    return CommandResult(
        {"held": held_count, "waiting": total, "items": data, "atoms": single_atoms}, (*blocks, *more, *empty_note)
    )


@command(
    review,
    "confirm",
    has_dry_run=True,
    example="lamina review confirm 8qj1hjz0 1hjz0z1a  ·  lamina review confirm --source chatgpt",
)
def confirm(
    session: CommandSession, ids: IdsArgument = None, source: SourceOption = None, reason: ReasonOption = "confirmed"
) -> CommandResult:
    """Confirm statements: they supersede the statements they replace; duplicates are merged."""
    with session.open_for_change() as memory:
        return _decide(session, ids, source, reason, memory.review.confirm, memory.review.approve_source)


@command(review, "reject", has_dry_run=True, example='lamina review reject 8qj1hjz0 --reason "never said so"')
def reject(
    session: CommandSession, ids: IdsArgument = None, source: SourceOption = None, reason: ReasonOption = "rejected"
) -> CommandResult:
    """Reject statements: the captured words stay, and the same words do not produce the statement again."""
    with session.open_for_change() as memory:
        return _decide(session, ids, source, reason, memory.review.reject, memory.review.reject_source)


@command(review, "edit", has_dry_run=True, example='lamina review edit 8qj1hjz0 "Prefers green tea." --value green')
def edit(
    session: CommandSession,
    id: IdArgument,
    content: NewTextArgument = None,
    reason: ReasonOption = "confirmed in other words",
    **options: Unpack[ClaimOptions],
) -> CommandResult:
    """Edit a statement and confirm it in one commit."""
    with session.open_for_change() as memory:
        return render_decisions(session, [memory.review.edit(id, content, reason=reason, **parse_fields(options))])


@command(review, "pairs", example="lamina review pairs  ·  lamina review pairs --all")
def pairs(
    session: CommandSession,
    include_postponed: Annotated[
        bool, typer.Option("--all", help="Also postponed pairs, and likely changes that no answer depends on.")
    ] = False,
) -> CommandResult:
    """List pairs of statements that contradict each other, the older first, with the reason."""
    pair_list = session.memory.review.pairs(later=include_postponed)
    blocks: list[OutputBlock] = []
    for pair in pair_list:
        blocks += _pair_blocks(session, pair)
    empty_note = [] if pair_list else [TextLine("no two statements contradict each other")]
    from lamina.documents.pending_items import pair_document

    return CommandResult([pair_document(session.memory, pair).data() for pair in pair_list], (*blocks, *empty_note))


@command(review, "keep", has_dry_run=True, example="lamina review keep 8qj1hjz0 --over 1hjz0z1a")
def keep(
    session: CommandSession,
    id: IdArgument,
    over: Annotated[str, typer.Option("--over", metavar="ID", help="The other of the pair.", show_default=False)],
    reason: ReasonOption = "kept",
) -> CommandResult:
    """Keep one of a pair: an older other one is superseded, a newer one is invalidated."""
    with session.open_for_change() as memory:
        return render_decisions(session, [memory.review.keep_a(id, over, reason)])


@command(review, "both", has_dry_run=True, example="lamina review both 8qj1hjz0 1hjz0z1a")
def both(
    session: CommandSession, id: IdArgument, other: OtherIdArgument, reason: ReasonOption = "both are so"
) -> CommandResult:
    """Keep both of a pair; they are not reported as a contradiction again."""
    with session.open_for_change() as memory:
        return render_decisions(session, [memory.review.both_valid(id, other, reason)])


@command(
    review,
    "merge",
    has_dry_run=True,
    example='lamina review merge 8qj1hjz0 1hjz0z1a "Tea on weekdays, coffee on Sundays."',
)
def merge(
    session: CommandSession,
    id: IdArgument,
    other: OtherIdArgument,
    content: Annotated[
        str, typer.Argument(metavar="WORDS", help="The text of the merged statement.", show_default=False)
    ],
    value: ValueOption = None,
    reason: ReasonOption = "merged",
) -> CommandResult:
    """Replace both of a pair by one statement in your words."""
    with session.open_for_change() as memory:
        receipt = memory.review.merge(id, other, content, reason=reason, **parse_fields({"value": value}))
        return render_decisions(session, [receipt])


@command(review, "later", has_dry_run=True, example='lamina review later 8qj1hjz0 1hjz0z1a --note "ask Ann"')
def later(
    session: CommandSession,
    id: IdArgument,
    other: OtherIdArgument,
    note: Annotated[
        str, typer.Option("--note", help="What you need to find out; stored with the pair.")
    ] = "more to be known",
) -> CommandResult:
    """Postpone a pair: both stay active, and it is not listed for 30 days."""
    with session.open_for_change() as memory:
        return render_decisions(session, [memory.review.need_more(id, other, note)])


def render_decisions(session: CommandSession, receipts: Sequence[Receipt]) -> CommandResult:
    """Render the receipts of decisions."""
    decisions: list[Json] = []
    blocks: list[OutputBlock] = []
    for n, receipt in enumerate(receipts):
        decision = commit_data(session, receipt.commit, outcomes=[*map(outcome_data, receipt.outcomes)])
        decisions.append({name: value for name, value in decision.items() if name != "dry_run"})
        if n < MAX_SHOWN:
            for outcome in receipt.outcomes[:MAX_SHOWN]:
                result = outcome.atom.status.value
                blocks += atom_outcome_blocks(session.memory, result, outcome.atom, outcome.path, outcome.reason)
            if len(receipt.outcomes) > MAX_SHOWN:
                blocks.append(TextLine(f"and {len(receipt.outcomes) - MAX_SHOWN:,} more atoms"))
            blocks += undo_blocks(session, receipt.commit)
    if len(receipts) > MAX_SHOWN:
        blocks.append(TextLine(f"and {len(receipts) - MAX_SHOWN:,} more"))
    return CommandResult({"dry_run": session.dry_run, "decisions": decisions}, tuple(blocks))


def _decide(
    session: CommandSession,
    ids: list[str] | None,
    source: str | None,
    reason: str,
    decide: Callable[[str, str], Receipt],
    decide_source: Callable[[str, str], list[Receipt]],
) -> CommandResult:
    """Decide about statements, or about everything from a source; InvalidInput if both or neither are given."""
    if bool(ids) == (source is not None):
        raise InvalidInput("give either ids or --source; `lamina review list` shows what is pending")
    receipts = (
        decide_source(source, reason) if source is not None else [decide(atom_id, reason) for atom_id in ids or ()]
    )
    return render_decisions(session, receipts)


def _item_data(memory: Memory, item: Item, quotes: Sequence[list[tuple[str, str]]]) -> Json:
    atoms = [
        {**atom_data(atom, memory.path_of(atom.id)), "said": [{"link": link, "quote": words} for link, words in quoted]}
        for atom, quoted in zip(item.atoms, quotes, strict=True)
    ]
    return {
        "kind": item.kind.value,
        "ids": list(item.ids),
        "text": item.text,
        "reason": item.reason,
        "verbs": [{"verb": verb, "does": does} for verb, does in item.verbs],
        "atoms": atoms,
    }


def _item_blocks(session: CommandSession, item: Item, quotes: Sequence[list[tuple[str, str]]]) -> list[OutputBlock]:
    if len(item.atoms) == 2:
        a, b = item.atoms
        return _atom_pair_blocks(
            a, b, item.reason, [(_review_command(session, verb, a, b), does) for verb, does in item.verbs]
        )
    if not item.atoms:
        return [TextLine(f"{item.text}: {item.reason}", "bold yellow")]
    (atom,) = item.atoms
    fields = [("from", f"{format_day(atom.observed_at)} · {atom.source_id or atom.origin}")]
    fields += [("why", name_atoms(item.reason, session.memory))]
    fields += [("said in", f"{link} “{shorten(words)}”") for link, words in quotes[0]]
    fields += [
        (verb, name_atoms(does, session.memory))
        for verb, does in item.verbs
        if verb == "confirm" and does != "it counts"
    ]
    return [
        TextLine(f"{short_id(atom.id)}  {atom.kind}: {shorten(one_line_text(atom))}", "bold"),
        FieldList(tuple(fields), indent=2),
    ]


def _review_command(session: CommandSession, verb: str, *atoms: Atom) -> str:
    for atom in atoms:
        verb = verb.replace(atom.id, short_id(atom.id))
    return session.format_command("review", *verb.split())


def _pair_blocks(session: CommandSession, pair: Pair) -> list[OutputBlock]:
    fields = [] if pair.later is None else [("postponed until", format_day(pair.later))]
    return _atom_pair_blocks(pair.a, pair.b, pair.reason, fields + ([("note", pair.note)] if pair.note else []))


def _atom_pair_blocks(a: Atom, b: Atom, reason: str, fields: Sequence[tuple[str, str]]) -> list[OutputBlock]:
    lines: list[OutputBlock] = [
        TextLine(
            f"{short_id(atom.id)}  {format_day(atom.observed_at)} · {atom.origin}: {shorten(one_line_text(atom))}",
            "bold",
        )
        for atom in (a, b)
    ]
    return [*lines, FieldList((("why", reason), *fields), indent=2)]
