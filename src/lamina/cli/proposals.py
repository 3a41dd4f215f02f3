"""The commands that put statements before a person, and those that take things back with all they did."""

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
    bool, typer.Option("--create-proposals", help="Put each group before you as one statement that waits.")
]


@profile.callback()
def of_the_profile(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Propose values of the profile; what it says changes only when you confirm them."""
    ctx.obj = Shared(vault, scope, json).over(ctx.obj or Shared())


@semantic.callback()
def of_facts(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Find facts that could be one; they are replaced only when you confirm it."""
    ctx.obj = Shared(vault, scope, json).over(ctx.obj or Shared())


@procedural.callback()
def of_procedures(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Find procedures of one workflow; one becomes canonical only when you confirm it."""
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
    key: Annotated[str, typer.Argument(help="Which property of the profile.", show_default=False)],
    value: Annotated[str, typer.Argument(help="Its value.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="Why; kept with the proposal.", show_default=False)],
    private: Private = False,
) -> View:
    """Propose a value of the profile; confirmed, it takes the place of what the profile says."""
    told = {"profile_key": key, "value": value, "reason": reason}
    with session.changing() as memory:
        receipt = memory.propose(f"Profile, {key}: {value}", reason=reason, private=private, value=value, metadata=told)
        return receipt_view(session, memory, receipt)


@command(
    semantic,
    "compact",
    panel=PANEL,
    changes=True,
    example="lamina semantic compact  ·  lamina semantic compact --create-proposals",
)
def compact(session: Session, create_proposals: Create = False) -> View:
    """Group facts that say the same or share a topic; each group can become one cited synthesis."""
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
    """Group procedures by workflow; the surest, then the oldest of each can become the canonical one."""
    with session.changing() as memory:
        return _groups(session, memory.review.dedup(create_proposals=create_proposals), create_proposals)


@command(app, "rollback", panel=PANEL, changes=True, example='lamina rollback 8qj1hjz0 --reason "was right before"')
def rollback(session: Session, id: Id, reason: Why = "rolled back") -> View:
    """Take a statement back, and let what had made way for it stand again."""
    with session.changing() as memory:
        return decided(session, [memory.rollback(id, reason)])


@command(app, "quarantine", panel=PANEL, changes=True, example="lamina quarantine --session call-17 --dry-run")
def quarantine(
    session: Session,
    source: Annotated[str | None, typer.Option("--source", help="What came from this source.")] = None,
    session_id: Annotated[str | None, typer.Option("--session", help="What came from this session.")] = None,
    origin: Annotated[str | None, typer.Option("--origin", help="What is of this origin: web, tool, import, …")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Also where it is more than 5 % of all there is.")] = False,
    reason: Why = "not to be trusted",
) -> View:
    """Let all that came from somewhere, and all that descends from it, wait again; what it changed is taken back."""
    with session.changing() as memory:
        receipt = memory.quarantine(
            source=source, session=session_id, origin=origin, reason=reason, yes=yes or session.dry_run
        )
        return decided(session, [receipt])


def _groups(session: Session, found: Proposed, created: bool) -> View:
    kept = found.receipt.commit if not session.dry_run else None
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
    told = {"dry_run": session.dry_run, "commit": kept, "undo": session.shell("undo", kept) if kept else None}
    return View({**told, "groups": data}, (*blocks, *_groups_ending(session, found, created)))


def _groups_ending(session: Session, found: Proposed, created: bool) -> list[Block]:
    if not found.groups:
        return [Line("nothing to put together")]
    if session.dry_run:
        return [Line(DRY, "yellow")]
    if not created:
        return [Line("nothing was proposed; --create-proposals puts each before you", "dim")]
    return [*ending_blocks(session, found.receipt.commit), Line(f"decide: {session.shell('review')}", "green")]
