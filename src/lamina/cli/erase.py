"""`lamina erase`: removes text for good, after a confirmation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command
from lamina.cli.command_options import IdsArgument
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, OutputBlock, TextLine
from lamina.cli.receipts import DRY_RUN_NOTE
from lamina.cli.record_views import short_id
from lamina.errors import InvalidInput, Refused
from lamina.text.normal_form import one_line

if TYPE_CHECKING:
    from lamina.review.erase import ErasureReceipt

app = typer.Typer(rich_help_panel="Write")
MAX_IDS_SHOWN = 20
"""Ids that are printed; more are only counted."""


@command(
    app,
    "erase",
    has_dry_run=True,
    example='lamina erase 8qj1hjz0 --reason "she asked me to"  ·  lamina erase --session call --dry-run',
)
def erase(
    session: CommandSession,
    ids: IdsArgument = None,
    session_id: Annotated[
        str | None,
        typer.Option("--session", help="Erase everything captured in this session, and what was derived from it."),
    ] = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Erase the same words from all other memories too.")
    ] = False,
    reason: Annotated[
        str, typer.Option("--reason", help="The reason; it is stored for good, so do not quote the erased text.")
    ] = "asked to erase",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> CommandResult:
    """Erase atoms for good: text, evidence, vectors, files, and what was derived. This cannot be undone."""
    if not ids and session_id is None:
        raise InvalidInput("nothing to erase; give ids, or --session")
    if not session.dry_run and not yes:
        _confirm_erasure(session, ids or [], session_id, reason, everywhere)
    with session.open_for_change() as memory:
        return render_erasure(session, memory.erase(ids or [], reason, session=session_id, everywhere=everywhere))


def _confirm_erasure(
    session: CommandSession, ids: list[str], session_id: str | None, reason: str, everywhere: bool
) -> None:
    """Show what would be erased and ask; Refused without a terminal or without a yes."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Refused("erasing needs confirmation and there is no terminal; check with --dry-run, then add --yes")
    with session.memory.trial() as trial:
        preview = trial.erase(ids, reason, session=session_id, everywhere=everywhere)
    for line in _change_lines(preview) if everywhere else ():
        session.output.print_note(line.text)
    counts = ", ".join(f"{number:,} {name}" for name, number in preview.removed)
    if not typer.confirm(f"This erases {counts}. It cannot be undone. Continue?", default=False, err=True):
        raise Refused("nothing was erased")


def _change_lines(receipt: ErasureReceipt) -> list[TextLine]:
    """Return every passage that would change, with its text; those that are trusted more first."""
    changes = sorted(receipt.changes, key=lambda change: not change.is_more_trusted)
    return [
        TextLine(
            f"  {short_id(change.atom_id)} ^p{change.passage}, from {change.origin}"
            + (", trusted more than what you erase" if change.is_more_trusted else "")
            + f": {one_line(change.text)} -> {one_line(change.becomes) or '(nothing)'}"
        )
        for change in changes
    ]


def render_erasure(session: CommandSession, receipt: ErasureReceipt) -> CommandResult:
    """Render what was erased, and the copies that lamina cannot erase."""
    from lamina.documents.receipt import erasure_document

    data = {"dry_run": session.dry_run, **erasure_document(receipt).data()}
    named = ", ".join(map(short_id, receipt.erased[:MAX_IDS_SHOWN]))
    more = f" and {len(receipt.erased) - MAX_IDS_SHOWN:,} more" if len(receipt.erased) > MAX_IDS_SHOWN else ""
    verb = "would erase" if session.dry_run else "erased"
    blocks: list[OutputBlock] = [
        TextLine(f"{verb}: {named}{more}", "bold"),
        FieldList(tuple((name, f"{number:,}") for name, number in receipt.removed), indent=2),
    ]
    blocks += _change_lines(receipt)
    if receipt.also_in:
        named = ", ".join(map(short_id, receipt.also_in[:MAX_IDS_SHOWN]))
        note = f"{len(receipt.also_in):,} other memories have some of the same words and stay; --everywhere erases them"
        blocks += [TextLine(f"{note}:", "yellow"), TextLine(f"  {named}")]
    if receipt.still_in:
        blocks.append(TextLine("your files that still contain it:", "yellow"))
        blocks += [TextLine(f"  {path}") for path in receipt.still_in]
    if receipt.outside:
        blocks.append(TextLine("copies that lamina cannot erase:", "yellow"))
        blocks += [TextLine(f"  {note}") for note in receipt.outside]
    if session.dry_run:
        blocks.append(TextLine(DRY_RUN_NOTE, "yellow"))
    elif not receipt.finished:
        blocks.append(
            TextLine(
                "another program uses the databases; the erasure is finished when the vault is next opened", "yellow"
            )
        )
    return CommandResult(data, tuple(blocks))
