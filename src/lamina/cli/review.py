"""`lamina review`: what waits for a person's word, and the word itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import AsJson, Scope, Shared, Vault, command
from lamina.cli.output import Block, Facts, Json, Line, View, brief
from lamina.cli.receipts import ending_blocks, told_atom
from lamina.cli.session import Session
from lamina.cli.told import atom_data, date, quotes_of, short, words_of
from lamina.errors import InvalidInput

if TYPE_CHECKING:
    from lamina.capture.receipt import Receipt

PANEL = "Write"
SHOWN = 20
"""So many decisions are told one by one; more are counted."""

review = typer.Typer(
    name="review",
    no_args_is_help=True,
    epilog="Example: lamina review list  ·  lamina review confirm 8qj1hjz0  ·  "
    'lamina review reject --source web --reason "not ours"',
)

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of atoms, or their endings.", show_default=False)
]
Source = Annotated[
    str | None,
    typer.Option("--source", help="Everything that waits from this source; a beginning as `chatgpt` means all of it."),
]


@review.callback()
def of_what_waits(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Decide what of imported, captured and proposed statements counts; nothing that waits is ever an answer."""
    ctx.obj = Shared(vault, scope, json).over(ctx.obj or Shared())


@command(review, "list", panel=PANEL, example="lamina review list  ·  lamina review list --source chatgpt")
def waiting(
    session: Session,
    source: Source = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 50,
) -> View:
    """List what waits for your word, newest first, with the sentence it rests on."""
    memory = session.memory
    held = memory.held(source)
    data: list[Json] = []
    blocks: list[Block] = []
    for atom in held[:limit]:
        quotes = quotes_of(memory, atom)
        said = [{"link": link, "quote": words} for link, words in quotes]
        data.append({**atom_data(atom, memory.path_of(atom.id)), "said": said})
        pairs = [("from", f"{date(atom.observed_at)} · {atom.source_id or atom.origin}")]
        pairs += [("said in", f"{link} “{brief(words)}”") for link, words in quotes]
        blocks += [
            Line(f"{short(atom.id)}  {atom.kind}: {brief(words_of(atom))}", "bold"),
            Facts(tuple(pairs), indent=2),
        ]
    more = [Line(f"and {len(held) - limit:,} more")] if len(held) > limit else []
    nothing = [] if held else [Line("nothing waits for review")]
    return View({"held": len(held), "atoms": data}, (*blocks, *more, *nothing))


@command(
    review,
    "confirm",
    panel=PANEL,
    changes=True,
    example="lamina review confirm 8qj1hjz0 1hjz0z1a  ·  lamina review confirm --source chatgpt",
)
def confirm(
    session: Session,
    ids: Ids = None,
    source: Source = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the journal.")] = "confirmed",
) -> View:
    """Let statements count: what stood in their place gives way, and what was known is not kept twice."""
    with session.changing() as memory:
        if source is not None and not ids:
            return _decided(session, memory.confirm_source(source, reason))
        return _decided(session, [memory.confirm(each, reason) for each in _given(ids, source)])


@command(
    review,
    "reject",
    panel=PANEL,
    changes=True,
    example='lamina review reject 8qj1hjz0 --reason "never said so"',
)
def reject(
    session: Session,
    ids: Ids = None,
    source: Source = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the journal.")] = "rejected",
) -> View:
    """Take statements back: their words stay, and they do not return when the same words come in again."""
    with session.changing() as memory:
        if source is not None and not ids:
            return _decided(session, memory.reject_source(source, reason))
        return _decided(session, [memory.reject(each, reason) for each in _given(ids, source)])


def _given(ids: list[str] | None, source: str | None) -> list[str]:
    if not ids or source is not None:
        raise InvalidInput("give ids or --source, one of them; `lamina review list` shows what waits")
    return ids


def _decided(session: Session, receipts: list[Receipt]) -> View:
    decisions: list[Json] = []
    blocks: list[Block] = []
    for n, receipt in enumerate(receipts):
        kept = None if session.dry_run else receipt.commit
        outcomes = [
            {"result": each.result.value, "reason": each.reason, "atom": atom_data(each.atom, each.path)}
            for each in receipt.outcomes
        ]
        undo = session.shell("undo", kept) if kept else None
        decisions.append({"commit": kept, "undo": undo, "outcomes": outcomes})
        if n < SHOWN:
            for each in receipt.outcomes:
                blocks += told_atom(each.atom.status.value, each.atom, each.path, each.reason)
            blocks += ending_blocks(session, receipt.commit)
    if len(receipts) > SHOWN:
        blocks.append(Line(f"and {len(receipts) - SHOWN:,} more"))
    return View({"dry_run": session.dry_run, "decisions": decisions}, tuple(blocks))
