"""The commands that propose statements for review, and those that roll back or quarantine them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command, command_group
from lamina.cli.command_options import IdArgument, PrivateOption, ReasonOption
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, OutputBlock, TextLine, shorten
from lamina.cli.receipts import DRY_RUN_NOTE, commit_data, render_receipt, undo_blocks
from lamina.cli.record_views import one_line_text, short_id
from lamina.cli.review import PANEL, render_decisions

if TYPE_CHECKING:
    from lamina.review.proposals import Proposed

app = typer.Typer(rich_help_panel=PANEL)
profile = command_group(
    "profile",
    panel=PANEL,
    help="Propose values of the profile; it changes only when you confirm them.",
    example='lamina profile propose theme dark --reason "asked for it twice"',
)
semantic = command_group(
    "semantic",
    panel=PANEL,
    help="Find facts that could be merged; they are superseded only when you confirm it.",
    example="lamina semantic compact --create-proposals",
)
procedural = command_group(
    "procedural",
    panel=PANEL,
    help="Find procedures of the same workflow; one becomes canonical only when you confirm it.",
    example="lamina procedural dedup --create-proposals",
)

CreateProposals = Annotated[
    bool, typer.Option("--create-proposals", help="Propose one statement for each group, pending your review.")
]


@command(
    profile,
    "propose",
    has_dry_run=True,
    may_create=True,
    example='lamina profile propose theme dark --reason "asked for it twice"',
)
def propose(
    session: CommandSession,
    key: Annotated[str, typer.Argument(help="The property of the profile.", show_default=False)],
    value: Annotated[str, typer.Argument(help="Its value.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="The reason; stored with the proposal.", show_default=False)],
    private: PrivateOption = False,
) -> CommandResult:
    """Propose a value of the profile; once confirmed, it supersedes the current value."""
    metadata = {"profile_key": key, "value": value, "reason": reason}
    with session.open_for_change() as memory:
        receipt = memory.propose(
            f"Profile, {key}: {value}", reason=reason, private=private, value=value, metadata=metadata
        )
        return render_receipt(session, memory, receipt)


@command(
    semantic,
    "compact",
    has_dry_run=True,
    example="lamina semantic compact  ·  lamina semantic compact --create-proposals",
)
def compact(session: CommandSession, create_proposals: CreateProposals = False) -> CommandResult:
    """Group facts that say the same or share a topic; each group can become one synthesis with citations."""
    with session.open_for_change() as memory:
        command = session.format_command("revise", "ID", "--tag", "TOPIC")
        hint = f"facts are grouped by a tag that they share; {command} sets one"
        proposed = memory.review.compact(create_proposals=create_proposals)
        return _render_groups(session, proposed, create_proposals, hint)


@command(
    procedural,
    "dedup",
    has_dry_run=True,
    example="lamina procedural dedup  ·  lamina procedural dedup --create-proposals",
)
def dedup(session: CommandSession, create_proposals: CreateProposals = False) -> CommandResult:
    """Group procedures by workflow; in each group the most certain, then the oldest, can become canonical."""
    with session.open_for_change() as memory:
        command = session.format_command("revise", "ID", "--metadata", "workflow=NAME")
        hint = f"procedures are grouped by the workflow in their metadata; {command} sets it"
        proposed = memory.review.dedup(create_proposals=create_proposals)
        return _render_groups(session, proposed, create_proposals, hint)


@command(app, "rollback", has_dry_run=True, example='lamina rollback 8qj1hjz0 --reason "was right before"')
def rollback(session: CommandSession, id: IdArgument, reason: ReasonOption = "rolled back") -> CommandResult:
    """Reverse a statement, and restore what it had superseded."""
    with session.open_for_change() as memory:
        return render_decisions(session, [memory.rollback(id, reason)])


@command(app, "quarantine", has_dry_run=True, example="lamina quarantine --session call-17 --dry-run")
def quarantine(
    session: CommandSession,
    source: Annotated[str | None, typer.Option("--source", help="Everything from this source.")] = None,
    session_id: Annotated[str | None, typer.Option("--session", help="Everything from this session.")] = None,
    origin: Annotated[
        str | None, typer.Option("--origin", help="Everything of this origin: web, tool, import, …")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Also if it is more than 5 % of all atoms.")] = False,
    reason: ReasonOption = "not to be trusted",
) -> CommandResult:
    """Hold everything from a source, session or origin, and what is derived from it, for review; undo its changes."""
    with session.open_for_change() as memory:
        receipt = memory.quarantine(
            source=source, session=session_id, origin=origin, reason=reason, yes=yes or session.dry_run
        )
        return render_decisions(session, [receipt])


def _render_groups(session: CommandSession, proposed: Proposed, created: bool, hint: str) -> CommandResult:
    from lamina.documents.pending_items import group_documents

    data = [document.data() for document in group_documents(proposed, has_proposals=created)]
    blocks: list[OutputBlock] = []
    for group in proposed.groups:
        title = f"{group.basis}: {len(group.members)} statements"
        blocks.append(TextLine(f"{title}, proposed as {short_id(group.proposal.id)}" if created else title, "bold"))
        blocks += [
            TextLine(f"  {short_id(member.id)}  {member.confidence:g}  {shorten(one_line_text(member))}")
            for member in group.members
        ]
    return CommandResult(
        commit_data(session, proposed.receipt.commit, groups=data),
        (*blocks, *_closing_blocks(session, proposed, created, hint)),
    )


def _closing_blocks(session: CommandSession, proposed: Proposed, created: bool, hint: str) -> list[OutputBlock]:
    if not proposed.groups:
        return [TextLine("no groups found"), TextLine(hint, "dim")]
    if session.dry_run:
        return [TextLine(DRY_RUN_NOTE, "yellow")]
    if not created:
        return [TextLine("nothing was proposed; --create-proposals proposes each group for review", "dim")]
    return [
        *undo_blocks(session, proposed.receipt.commit),
        TextLine(f"decide: {session.format_command('review')}", "green"),
    ]
