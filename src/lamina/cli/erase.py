"""`lamina erase`: taking words out for good, after a second question."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command
from lamina.cli.output import Block, Facts, Line, View
from lamina.cli.receipts import DRY
from lamina.cli.session import Session
from lamina.cli.told import short
from lamina.errors import InvalidInput, Refused

if TYPE_CHECKING:
    from lamina.review.erase import ErasureReceipt

app = typer.Typer()
PANEL = "Write"
SHOWN = 20
"""So many ids are told one by one; more are counted."""


@command(
    app,
    "erase",
    panel=PANEL,
    changes=True,
    example='lamina erase 8qj1hjz0 --reason "she asked me to"  ·  lamina erase --session call --dry-run',
)
def erase(
    session: Session,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of atoms, or their endings.", show_default=False)
    ] = None,
    session_id: Annotated[
        str | None, typer.Option("--session", help="Everything said in this session, and what was made of it.")
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", help="Why; kept for good, so it must not quote the words.")
    ] = "asked to erase",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask again.")] = False,
) -> View:
    """Erase atoms: text, sentences they rest on, copies, vectors and files are gone for good; nothing undoes it."""
    if not ids and session_id is None:
        raise InvalidInput("name what is to be erased: ids, or --session")
    if not session.dry_run and not yes:
        _ask(session, ids or [], session_id, reason)
    with session.changing() as memory:
        return erasure_view(session, memory.erase(ids or [], reason, session=session_id))


def _ask(session: Session, ids: list[str], session_id: str | None, reason: str) -> None:
    """Show what would go and ask; where nobody can answer, nothing is erased."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Refused("nobody is here to confirm it; look with --dry-run, then say --yes")
    with session.memory.trial():
        would = session.memory.erase(ids, reason, session=session_id)
    told = ", ".join(f"{number:,} {name}" for name, number in would.removed)
    if not typer.confirm(f"This erases {told}. Nothing brings it back. Go on?", default=False, err=True):
        raise Refused("nothing was erased")


def erasure_view(session: Session, receipt: ErasureReceipt) -> View:
    """What was removed, by place, and what is out of lamina's hands."""
    from lamina.documents.erasure import erasure_document

    data = {"dry_run": session.dry_run, **erasure_document(receipt).data()}
    named = ", ".join(map(short, receipt.erased[:SHOWN]))
    more = f" and {len(receipt.erased) - SHOWN:,} more" if len(receipt.erased) > SHOWN else ""
    word = "would erase" if session.dry_run else "erased"
    blocks: list[Block] = [
        Line(f"{word}: {named}{more}", "bold"),
        Facts(tuple((name, f"{number:,}") for name, number in receipt.removed), indent=2),
    ]
    if receipt.still_in:
        blocks.append(Line("your own files that still hold it:", "yellow"))
        blocks += [Line(f"  {each}") for each in receipt.still_in]
    if receipt.outside:
        blocks.append(Line("out of lamina's hands:", "yellow"))
        blocks += [Line(f"  {each}") for each in receipt.outside]
    if session.dry_run:
        blocks.append(Line(DRY, "yellow"))
    elif not receipt.finished:
        blocks.append(Line("another program holds the databases; the next opening of the vault finishes it", "yellow"))
    return View(data, tuple(blocks))
