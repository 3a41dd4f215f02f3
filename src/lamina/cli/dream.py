"""`lamina dream`: runs the consolidation cycle, by hand or from cron."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, Json, OutputBlock, TextGrid, TextLine, shorten
from lamina.cli.progress import ProgressBar
from lamina.cli.receipts import DRY_RUN_NOTE
from lamina.cli.record_views import short_id
from lamina.cli.text_input import parse_time_option

if TYPE_CHECKING:
    from lamina.dream.report import DreamReport

app = typer.Typer(rich_help_panel="Upkeep")
MAX_MOVES_SHOWN = 12
"""Changes of a step that are printed; `--json` has all of them."""


@command(
    app, "dream", has_dry_run=True, example="lamina dream --dry-run --at 2027-06-01  ·  lamina dream --step age --yes"
)
def dream(
    session: CommandSession,
    step: Annotated[
        list[str] | None,
        typer.Option(
            "--step",
            metavar="NAME",
            help="Run only this step: age, merge, cards, bridge, probe, drift, prune or precision.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also run steps that would change more than 5 % of the atoms.")
    ] = False,
    if_due: Annotated[
        bool, typer.Option("--if-due", help="Run only if enough was captured since the last dream; for cron.")
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="DATE",
            help="With --dry-run: as if it were this time, and nothing stored now had been used until then.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Also draw how memories fade, into FILE.svg or FILE.png."),
    ] = None,
) -> CommandResult:
    """Consolidate: age memories, summarise related ones, challenge outdated ones. One undo reverts all of it."""
    with session.open_for_change() as memory:
        if if_due and not memory.upkeep.dream_is_due():
            return CommandResult({"due": False}, (TextLine("no dream is due"),))
        with ProgressBar() as bar:
            report = memory.upkeep.dream(
                step,
                dry_run=session.dry_run,
                at=parse_time_option(at),
                yes=yes,
                progress=lambda done, of: bar("dreaming", done, of),
            )
        if plot is not None:
            memory.upkeep.plot(plot)
    session.embed_pending()
    return CommandResult(_data(session, report), tuple(_blocks(session, report)), 1 if report.failed else 0)


def _data(session: CommandSession, report: DreamReport) -> Json:
    has_commit = any(step.commit for step in report.steps) and not report.dry_run
    undo = session.format_command("undo", report.batch) if has_commit else None
    from lamina.documents.dream import dream_document

    return {**dream_document(report).data(), "undo": undo}


def _blocks(session: CommandSession, report: DreamReport) -> list[OutputBlock]:
    if report.asleep:
        return [TextLine(report.asleep, "yellow")]
    blocks: list[OutputBlock] = []
    has_scopes = len({step.scope for step in report.steps}) > 1
    for step in report.steps:
        name = f"{step.scope} {step.summary}" if has_scopes else step.summary
        blocks.append(TextLine(name, "bold red" if step.failed else "bold yellow" if step.held else "bold"))
        rows = tuple(
            (move.action, short_id(move.atom_id), shorten(move.text), move.why) for move in step.moves[:MAX_MOVES_SHOWN]
        )
        blocks += [TextGrid(("what", "id", "words", "why"), rows)] if rows else []
        if len(step.moves) > MAX_MOVES_SHOWN:
            blocks.append(TextLine(f"and {len(step.moves) - MAX_MOVES_SHOWN:,} more; --json lists all"))
        blocks += [FieldList((("examined", step.examined),), indent=2)] if step.examined else []
        blocks += [FieldList(tuple(("note", note) for note in step.notes), indent=2)] if step.notes else []
    if report.guidelines:
        blocks.append(FieldList(tuple(("from usage", guideline) for guideline in report.guidelines)))
    if report.dry_run:
        blocks.append(TextLine(DRY_RUN_NOTE, "yellow"))
    elif any(step.commit for step in report.steps):
        blocks.append(FieldList((("undo", session.format_command("undo", report.batch)),)))
    return blocks
