"""`lamina review`: lists what is pending review, and records the decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import JsonOption, ScopeOption, SharedOptions, VaultOption, command, exit_on_error
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandOutput, CommandResult, FieldList, Json, OutputBlock, TextLine, shorten
from lamina.cli.receipts import atom_outcome_blocks, undo_blocks
from lamina.cli.record_views import atom_data, format_day, one_line_text, read_quotes, short_id
from lamina.cli.write import AttributeOption, IdArgument, KindOption, SubjectOption, ValueOption
from lamina.errors import InvalidInput
from lamina.text.timestamps import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lamina.atom.atom import Atom
    from lamina.capture.receipt import Receipt
    from lamina.memory import Memory
    from lamina.review.pairs import Pair
    from lamina.review.pending_items import Item

PANEL = "Review"
MAX_SHOWN = 20
"""Decisions that are printed; more are only counted."""

review = typer.Typer(
    name="review",
    invoke_without_command=True,
    epilog="Example: lamina review  ·  lamina review confirm 8qj1hjz0  ·  "
    'lamina review reject --source web --reason "not ours"',
)

IdsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of atoms, or the ends of ids.", show_default=False)
]
SourceOption = Annotated[
    str | None,
    typer.Option("--source", help="Everything pending from this source; a prefix such as `chatgpt` is enough."),
]
DecisionReason = Annotated[str, typer.Option("--reason", help="The reason; stored in the journal.")]
OtherIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The other of the pair.", show_default=False)]


@review.callback()
def review_group(
    ctx: typer.Context, vault: VaultOption = None, scope: ScopeOption = None, json: JsonOption = False
) -> None:
    """Decide about pending statements: imported, captured or proposed. Pending statements are never answers."""
    ctx.obj = shared = SharedOptions(vault, scope, json).completed_by(ctx.obj or SharedOptions())
    if ctx.invoked_subcommand is None:
        with exit_on_error(CommandOutput(as_json=shared.as_json), "review"), shared.open_session() as session:
            session.output.print_result(list_pending(session))


@command(review, "list", panel=PANEL, example="lamina review list  ·  lamina review list --source chatgpt")
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
    panel=PANEL,
    has_dry_run=True,
    example="lamina review confirm 8qj1hjz0 1hjz0z1a  ·  lamina review confirm --source chatgpt",
)
def confirm(
    session: CommandSession, ids: IdsArgument = None, source: SourceOption = None, reason: DecisionReason = "confirmed"
) -> CommandResult:
    """Confirm statements: they supersede the statements they replace; duplicates are merged."""
    with session.open_for_change() as memory:
        if source is not None and not ids:
            return render_decisions(session, memory.review.approve_source(source, reason))
        return render_decisions(
            session, [memory.review.confirm(atom_id, reason) for atom_id in _require_ids(ids, source)]
        )


@command(
    review, "reject", panel=PANEL, has_dry_run=True, example='lamina review reject 8qj1hjz0 --reason "never said so"'
)
def reject(
    session: CommandSession, ids: IdsArgument = None, source: SourceOption = None, reason: DecisionReason = "rejected"
) -> CommandResult:
    """Reject statements: the captured words stay, and the same words do not produce the statement again."""
    with session.open_for_change() as memory:
        if source is not None and not ids:
            return render_decisions(session, memory.review.reject_source(source, reason))
        return render_decisions(
            session, [memory.review.reject(atom_id, reason) for atom_id in _require_ids(ids, source)]
        )


@command(
    review,
    "edit",
    panel=PANEL,
    has_dry_run=True,
    example='lamina review edit 8qj1hjz0 "Prefers green tea." --value green',
)
def edit(
    session: CommandSession,
    id: IdArgument,
    content: Annotated[str | None, typer.Argument(help="The new text. Default: unchanged.", show_default=False)] = None,
    kind: KindOption = None,
    subject: SubjectOption = None,
    attribute: AttributeOption = None,
    value: ValueOption = None,
    reason: DecisionReason = "confirmed in other words",
) -> CommandResult:
    """Edit a statement and confirm it in one commit."""
    options = {"kind": kind, "subject": subject, "attribute": attribute, "value": value}
    fields = {name: option for name, option in options.items() if option is not None}
    with session.open_for_change() as memory:
        return render_decisions(session, [memory.review.edit(id, content, reason=reason, **fields)])


@command(review, "pairs", panel=PANEL, example="lamina review pairs  ·  lamina review pairs --all")
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
    return CommandResult([_pair_data(session.memory, pair) for pair in pair_list], (*blocks, *empty_note))


@command(review, "keep", panel=PANEL, has_dry_run=True, example="lamina review keep 8qj1hjz0 --over 1hjz0z1a")
def keep(
    session: CommandSession,
    id: IdArgument,
    over: Annotated[str, typer.Option("--over", metavar="ID", help="The other of the pair.", show_default=False)],
    reason: DecisionReason = "kept",
) -> CommandResult:
    """Keep one of a pair: an older other one is superseded, a newer one is invalidated."""
    with session.open_for_change() as memory:
        return render_decisions(session, [memory.review.keep_a(id, over, reason)])


@command(review, "both", panel=PANEL, has_dry_run=True, example="lamina review both 8qj1hjz0 1hjz0z1a")
def both(
    session: CommandSession, id: IdArgument, other: OtherIdArgument, reason: DecisionReason = "both are so"
) -> CommandResult:
    """Keep both of a pair; they are not reported as a contradiction again."""
    with session.open_for_change() as memory:
        return render_decisions(session, [memory.review.both_valid(id, other, reason)])


@command(
    review,
    "merge",
    panel=PANEL,
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
    reason: DecisionReason = "merged",
) -> CommandResult:
    """Replace both of a pair by one statement in your words."""
    fields = {"value": value} if value is not None else {}
    with session.open_for_change() as memory:
        return render_decisions(session, [memory.review.merge(id, other, content, reason=reason, **fields)])


@command(
    review, "later", panel=PANEL, has_dry_run=True, example='lamina review later 8qj1hjz0 1hjz0z1a --note "ask Ann"'
)
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
        undoable = None if session.dry_run else receipt.commit
        outcomes = [
            {"result": outcome.result.value, "reason": outcome.reason, "atom": atom_data(outcome.atom, outcome.path)}
            for outcome in receipt.outcomes
        ]
        undo = session.format_command("undo", undoable) if undoable else None
        decisions.append({"commit": undoable, "undo": undo, "outcomes": outcomes})
        if n < MAX_SHOWN:
            for outcome in receipt.outcomes[:MAX_SHOWN]:
                blocks += atom_outcome_blocks(outcome.atom.status.value, outcome.atom, outcome.path, outcome.reason)
            if len(receipt.outcomes) > MAX_SHOWN:
                blocks.append(TextLine(f"and {len(receipt.outcomes) - MAX_SHOWN:,} more atoms"))
            blocks += undo_blocks(session, receipt.commit)
    if len(receipts) > MAX_SHOWN:
        blocks.append(TextLine(f"and {len(receipts) - MAX_SHOWN:,} more"))
    return CommandResult({"dry_run": session.dry_run, "decisions": decisions}, tuple(blocks))


def _require_ids(ids: list[str] | None, source: str | None) -> list[str]:
    if not ids or source is not None:
        raise InvalidInput("give either ids or --source; `lamina review list` shows what is pending")
    return ids


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
    fields = [("from", f"{format_day(atom.observed_at)} · {atom.source_id or atom.origin}"), ("why", item.reason)]
    fields += [("said in", f"{link} “{shorten(words)}”") for link, words in quotes[0]]
    fields += [(verb, does) for verb, does in item.verbs if verb == "confirm" and does != "it counts"]
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


def _pair_data(memory: Memory, pair: Pair) -> Json:
    return {
        "a": atom_data(pair.a, memory.path_of(pair.a.id)),
        "b": atom_data(pair.b, memory.path_of(pair.b.id)),
        "confidence": pair.confidence,
        "reason": pair.reason,
        "note": pair.note,
        "later": format_time(pair.later) if pair.later else None,
    }
