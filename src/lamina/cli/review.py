"""`lamina review`: lists what is pending review, and records the decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import AsJson, Scope, Shared, Vault, command, ending
from lamina.cli.output import Block, Facts, Json, Line, Output, View, brief
from lamina.cli.receipts import ending_blocks, told_atom
from lamina.cli.session import Session
from lamina.cli.told import atom_data, date, quotes_of, short, words_of
from lamina.cli.write import Attribute, Id, Kind, Subject, Value
from lamina.errors import InvalidInput
from lamina.text.times import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lamina.atom.atom import Atom
    from lamina.capture.receipt import Receipt
    from lamina.memory import Memory
    from lamina.review.pairs import Pair
    from lamina.review.waiting import Item

PANEL = "Review"
SHOWN = 20
"""Decisions that are printed; more are only counted."""

review = typer.Typer(
    name="review",
    invoke_without_command=True,
    epilog="Example: lamina review  ·  lamina review confirm 8qj1hjz0  ·  "
    'lamina review reject --source web --reason "not ours"',
)

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of atoms, or the ends of ids.", show_default=False)
]
Source = Annotated[
    str | None,
    typer.Option("--source", help="Everything pending from this source; a prefix such as `chatgpt` is enough."),
]
Why = Annotated[str, typer.Option("--reason", help="The reason; stored in the journal.")]
Other = Annotated[str, typer.Argument(metavar="ID", help="The other of the pair.", show_default=False)]


@review.callback()
def of_what_waits(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Decide about pending statements: imported, captured or proposed. Pending statements are never answers."""
    ctx.obj = shared = Shared(vault, scope, json).over(ctx.obj or Shared())
    if ctx.invoked_subcommand is None:
        with ending(Output(as_json=shared.as_json), "review"), shared.session() as session:
            session.output.show(waiting(session))


@command(review, "list", panel=PANEL, example="lamina review list  ·  lamina review list --source chatgpt")
def waiting(
    session: Session,
    source: Source = None,
    kind: Annotated[str | None, typer.Option(help="Only statement, proposal, pair or deletions.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 50,
) -> View:
    """List what is pending review, newest first, with its evidence and what each decision would do."""
    memory = session.memory
    items, total = memory.review.list(source, kind=kind, limit=limit), memory.review.count(source, kind=kind)
    data: list[Json] = []
    blocks: list[Block] = []
    for item in items:
        quotes = [quotes_of(memory, atom) for atom in item.atoms]
        data.append(_item_data(memory, item, quotes))
        blocks += _item_blocks(session, item, quotes)
    more = [Line(f"and {total - limit:,} more")] if total > limit else []
    empty_note = [] if items else [Line("nothing is pending review")]
    single_atoms = [atom for json in data if json["kind"] in ("statement", "proposal") for atom in json["atoms"]]
    held_count = len(memory.review.held(source))
    return View(
        {"held": held_count, "waiting": total, "items": data, "atoms": single_atoms}, (*blocks, *more, *empty_note)
    )


@command(
    review,
    "confirm",
    panel=PANEL,
    changes=True,
    example="lamina review confirm 8qj1hjz0 1hjz0z1a  ·  lamina review confirm --source chatgpt",
)
def confirm(session: Session, ids: Ids = None, source: Source = None, reason: Why = "confirmed") -> View:
    """Confirm statements: they supersede the statements they replace; duplicates are merged."""
    with session.changing() as memory:
        if source is not None and not ids:
            return decided(session, memory.review.approve_source(source, reason))
        return decided(session, [memory.review.confirm(atom_id, reason) for atom_id in _given(ids, source)])


@command(review, "reject", panel=PANEL, changes=True, example='lamina review reject 8qj1hjz0 --reason "never said so"')
def reject(session: Session, ids: Ids = None, source: Source = None, reason: Why = "rejected") -> View:
    """Reject statements: the captured words stay, and the same words do not produce the statement again."""
    with session.changing() as memory:
        if source is not None and not ids:
            return decided(session, memory.review.reject_source(source, reason))
        return decided(session, [memory.review.reject(atom_id, reason) for atom_id in _given(ids, source)])


@command(
    review, "edit", panel=PANEL, changes=True, example='lamina review edit 8qj1hjz0 "Prefers green tea." --value green'
)
def edit(
    session: Session,
    id: Id,
    content: Annotated[str | None, typer.Argument(help="The new text. Default: unchanged.", show_default=False)] = None,
    kind: Kind = None,
    subject: Subject = None,
    attribute: Attribute = None,
    value: Value = None,
    reason: Why = "confirmed in other words",
) -> View:
    """Edit a statement and confirm it in one commit."""
    options = {"kind": kind, "subject": subject, "attribute": attribute, "value": value}
    fields = {name: option for name, option in options.items() if option is not None}
    with session.changing() as memory:
        return decided(session, [memory.review.edit(id, content, reason=reason, **fields)])


@command(review, "pairs", panel=PANEL, example="lamina review pairs  ·  lamina review pairs --all")
def pairs(
    session: Session,
    later: Annotated[
        bool, typer.Option("--all", help="Also postponed pairs, and likely changes that no answer depends on.")
    ] = False,
) -> View:
    """List pairs of statements that contradict each other, the older first, with the reason."""
    pair_list = session.memory.review.pairs(later=later)
    blocks: list[Block] = []
    for pair in pair_list:
        blocks += _pair_blocks(session, pair)
    empty_note = [] if pair_list else [Line("no two statements contradict each other")]
    return View([_pair_data(session.memory, pair) for pair in pair_list], (*blocks, *empty_note))


@command(review, "keep", panel=PANEL, changes=True, example="lamina review keep 8qj1hjz0 --over 1hjz0z1a")
def keep(
    session: Session,
    id: Id,
    over: Annotated[str, typer.Option("--over", metavar="ID", help="The other of the pair.", show_default=False)],
    reason: Why = "kept",
) -> View:
    """Keep one of a pair: an older other one is superseded, a newer one is invalidated."""
    with session.changing() as memory:
        return decided(session, [memory.review.keep_a(id, over, reason)])


@command(review, "both", panel=PANEL, changes=True, example="lamina review both 8qj1hjz0 1hjz0z1a")
def both(session: Session, id: Id, other: Other, reason: Why = "both are so") -> View:
    """Keep both of a pair; they are not reported as a contradiction again."""
    with session.changing() as memory:
        return decided(session, [memory.review.both_valid(id, other, reason)])


@command(
    review,
    "merge",
    panel=PANEL,
    changes=True,
    example='lamina review merge 8qj1hjz0 1hjz0z1a "Tea on weekdays, coffee on Sundays."',
)
def merge(
    session: Session,
    id: Id,
    other: Other,
    content: Annotated[
        str, typer.Argument(metavar="WORDS", help="The text of the merged statement.", show_default=False)
    ],
    value: Value = None,
    reason: Why = "merged",
) -> View:
    """Replace both of a pair by one statement in your words."""
    fields = {"value": value} if value is not None else {}
    with session.changing() as memory:
        return decided(session, [memory.review.merge(id, other, content, reason=reason, **fields)])


@command(review, "later", panel=PANEL, changes=True, example='lamina review later 8qj1hjz0 1hjz0z1a --note "ask Ann"')
def later(
    session: Session,
    id: Id,
    other: Other,
    note: Annotated[
        str, typer.Option("--note", help="What you need to find out; stored with the pair.")
    ] = "more to be known",
) -> View:
    """Postpone a pair: both stay active, and it is not listed for 30 days."""
    with session.changing() as memory:
        return decided(session, [memory.review.need_more(id, other, note)])


def decided(session: Session, receipts: Sequence[Receipt]) -> View:
    """Render the receipts of decisions."""
    decisions: list[Json] = []
    blocks: list[Block] = []
    for n, receipt in enumerate(receipts):
        undoable = None if session.dry_run else receipt.commit
        outcomes = [
            {"result": outcome.result.value, "reason": outcome.reason, "atom": atom_data(outcome.atom, outcome.path)}
            for outcome in receipt.outcomes
        ]
        undo = session.shell("undo", undoable) if undoable else None
        decisions.append({"commit": undoable, "undo": undo, "outcomes": outcomes})
        if n < SHOWN:
            for outcome in receipt.outcomes[:SHOWN]:
                blocks += told_atom(outcome.atom.status.value, outcome.atom, outcome.path, outcome.reason)
            if len(receipt.outcomes) > SHOWN:
                blocks.append(Line(f"and {len(receipt.outcomes) - SHOWN:,} more atoms"))
            blocks += ending_blocks(session, receipt.commit)
    if len(receipts) > SHOWN:
        blocks.append(Line(f"and {len(receipts) - SHOWN:,} more"))
    return View({"dry_run": session.dry_run, "decisions": decisions}, tuple(blocks))


def _given(ids: list[str] | None, source: str | None) -> list[str]:
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


def _item_blocks(session: Session, item: Item, quotes: Sequence[list[tuple[str, str]]]) -> list[Block]:
    if len(item.atoms) == 2:
        a, b = item.atoms
        return _two_blocks(a, b, item.reason, [(_command(session, verb, a, b), does) for verb, does in item.verbs])
    if not item.atoms:
        return [Line(f"{item.text}: {item.reason}", "bold yellow")]
    (atom,) = item.atoms
    fields = [("from", f"{date(atom.observed_at)} · {atom.source_id or atom.origin}"), ("why", item.reason)]
    fields += [("said in", f"{link} “{brief(words)}”") for link, words in quotes[0]]
    fields += [(verb, does) for verb, does in item.verbs if verb == "confirm" and does != "it counts"]
    return [Line(f"{short(atom.id)}  {atom.kind}: {brief(words_of(atom))}", "bold"), Facts(tuple(fields), indent=2)]


def _command(session: Session, verb: str, *atoms: Atom) -> str:
    for atom in atoms:
        verb = verb.replace(atom.id, short(atom.id))
    return session.shell("review", *verb.split())


def _pair_blocks(session: Session, pair: Pair) -> list[Block]:
    fields = [] if pair.later is None else [("postponed until", date(pair.later))]
    return _two_blocks(pair.a, pair.b, pair.reason, fields + ([("note", pair.note)] if pair.note else []))


def _two_blocks(a: Atom, b: Atom, reason: str, told: Sequence[tuple[str, str]]) -> list[Block]:
    lines: list[Block] = [
        Line(f"{short(atom.id)}  {date(atom.observed_at)} · {atom.origin}: {brief(words_of(atom))}", "bold")
        for atom in (a, b)
    ]
    return [*lines, Facts((("why", reason), *told), indent=2)]


def _pair_data(memory: Memory, pair: Pair) -> Json:
    return {
        "a": atom_data(pair.a, memory.path_of(pair.a.id)),
        "b": atom_data(pair.b, memory.path_of(pair.b.id)),
        "confidence": pair.confidence,
        "reason": pair.reason,
        "note": pair.note,
        "later": format_time(pair.later) if pair.later else None,
    }
