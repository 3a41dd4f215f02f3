"""The commands that propose statements for review, and those that roll back or quarantine them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import AsJson, Scope, Shared, Vault, command
from lamina.cli.output import Block, Json, Line, View, brief
from lamina.cli.receipts import DRY, ending_blocks, receipt_view
from lamina.cli.review import PANEL, Why, decided
from lamina.cli.session import Session
from lamina.cli.told import atom_data, short, words_of
from lamina.cli.write import Id, Private

if TYPE_CHECKING:
    from lamina.review.groups import Proposed

app = typer.Typer()
profile = typer.Typer(
    name="profile",
    no_args_is_help=True,
    epilog='Example: lamina profile propose theme dark --reason "asked for it twice"',
)
semantic = typer.Typer(
    name="semantic", no_args_is_help=True, epilog="Example: lamina semantic compact --create-proposals"
)
procedural = typer.Typer(
    name="procedural", no_args_is_help=True, epilog="Example: lamina procedural dedup --create-proposals"
)

Create = Annotated[
    bool, typer.Option("--create-proposals", help="Propose one statement for each group, pending your review.")
]


@profile.callback()
def of_the_profile(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Propose values of the profile; it changes only when you confirm them."""
    ctx.obj = Shared(vault, scope, json).over(ctx.obj or Shared())


@semantic.callback()
def of_facts(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Find facts that could be merged; they are superseded only when you confirm it."""
    ctx.obj = Shared(vault, scope, json).over(ctx.obj or Shared())


@procedural.callback()
def of_procedures(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Find procedures of the same workflow; one becomes canonical only when you confirm it."""
    ctx.obj = Shared(vault, scope, json).over(ctx.obj or Shared())


@command(
    profile,
    "propose",
    panel=PANEL,
    changes=True,
    may_make=True,
    example='lamina profile propose theme dark --reason "asked for it twice"',
)
def propose(
    session: Session,
    key: Annotated[str, typer.Argument(help="The property of the profile.", show_default=False)],
    value: Annotated[str, typer.Argument(help="Its value.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="The reason; stored with the proposal.", show_default=False)],
    private: Private = False,
) -> View:
    """Propose a value of the profile; once confirmed, it supersedes the current value."""
    metadata = {"profile_key": key, "value": value, "reason": reason}
    with session.changing() as memory:
        receipt = memory.propose(
            f"Profile, {key}: {value}", reason=reason, private=private, value=value, metadata=metadata
        )
        return receipt_view(session, memory, receipt)


@command(
    semantic,
    "compact",
    panel=PANEL,
    changes=True,
    example="lamina semantic compact  ·  lamina semantic compact --create-proposals",
)
def compact(session: Session, create_proposals: Create = False) -> View:
    """Group facts that say the same or share a topic; each group can become one synthesis with citations."""
    with session.changing() as memory:
        return _groups(session, memory.review.compact(create_proposals=create_proposals), create_proposals)


@command(
    procedural,
    "dedup",
    panel=PANEL,
    changes=True,
    example="lamina procedural dedup  ·  lamina procedural dedup --create-proposals",
)
def dedup(session: Session, create_proposals: Create = False) -> View:
    """Group procedures by workflow; in each group the most certain, then the oldest, can become canonical."""
    with session.changing() as memory:
        return _groups(session, memory.review.dedup(create_proposals=create_proposals), create_proposals)


@command(app, "rollback", panel=PANEL, changes=True, example='lamina rollback 8qj1hjz0 --reason "was right before"')
def rollback(session: Session, id: Id, reason: Why = "rolled back") -> View:
    """Reverse a statement, and restore what it had superseded."""
    with session.changing() as memory:
        return decided(session, [memory.rollback(id, reason)])


@command(app, "quarantine", panel=PANEL, changes=True, example="lamina quarantine --session call-17 --dry-run")
def quarantine(
    session: Session,
    source: Annotated[str | None, typer.Option("--source", help="Everything from this source.")] = None,
    session_id: Annotated[str | None, typer.Option("--session", help="Everything from this session.")] = None,
    origin: Annotated[
        str | None, typer.Option("--origin", help="Everything of this origin: web, tool, import, …")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Also if it is more than 5 % of all atoms.")] = False,
    reason: Why = "not to be trusted",
) -> View:
    """Hold everything from a source, session or origin, and what is derived from it, for review; undo its changes."""
    with session.changing() as memory:
        receipt = memory.quarantine(
            source=source, session=session_id, origin=origin, reason=reason, yes=yes or session.dry_run
        )
        return decided(session, [receipt])


def _groups(session: Session, found: Proposed, created: bool) -> View:
    commit = found.receipt.commit if not session.dry_run else None
    data: list[Json] = []
    blocks: list[Block] = []
    for group in found.groups:
        data.append(
            {
                "basis": group.basis,
                "members": [member.id for member in group.members],
                "proposal": atom_data(group.proposal, None) if created else None,
            }
        )
        title = f"{group.basis}: {len(group.members)} statements"
        blocks.append(Line(f"{title}, proposed as {short(group.proposal.id)}" if created else title, "bold"))
        blocks += [Line(f"  {short(member.id)}  {brief(words_of(member))}") for member in group.members]
    outcome = {"dry_run": session.dry_run, "commit": commit, "undo": session.shell("undo", commit) if commit else None}
    return View({**outcome, "groups": data}, (*blocks, *_groups_ending(session, found, created)))


def _groups_ending(session: Session, found: Proposed, created: bool) -> list[Block]:
    if not found.groups:
        return [Line("no groups found")]
    if session.dry_run:
        return [Line(DRY, "yellow")]
    if not created:
        return [Line("nothing was proposed; --create-proposals proposes each group for review", "dim")]
    return [*ending_blocks(session, found.receipt.commit), Line(f"decide: {session.shell('review')}", "green")]
