"""`lamina dream`: runs the consolidation cycle, by hand or from cron."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command
from lamina.cli.output import Block, Facts, Grid, Json, Line, View, brief
from lamina.cli.progress import Bar
from lamina.cli.receipts import DRY
from lamina.cli.session import Session
from lamina.cli.told import short

if TYPE_CHECKING:
    from lamina.dream.report import DreamReport

app = typer.Typer()
PANEL = "Upkeep"
SHOWN = 12
"""Changes of a step that are printed; `--json` has all of them."""


@command(app, "dream", panel=PANEL, changes=True, example="lamina dream --dry-run  ·  lamina dream --step age --yes")
def dream(
    session: Session,
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
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Also draw how memories fade, into FILE.svg or FILE.png."),
    ] = None,
) -> View:
    """Consolidate: age memories, summarise related ones, challenge outdated ones. One undo reverts all of it."""
    with session.changing() as memory:
        if if_due and not memory.dream_is_due():
            return View({"due": False}, (Line("no dream is due"),))
        with Bar() as bar:
            report = memory.dream(
                step, dry_run=session.dry_run, yes=yes, progress=lambda done, of: bar("dreaming", done, of)
            )
        if plot is not None:
            memory.plot(plot)
    session.encode()
    return View(_data(session, report), tuple(_blocks(session, report)), 1 if report.failed else 0)


def _data(session: Session, report: DreamReport) -> Json:
    has_commit = any(step.commit for step in report.steps) and not report.dry_run
    undo = session.shell("undo", report.batch) if has_commit else None
    from lamina.documents.dream import dream_document

    return {**dream_document(report).data(), "undo": undo}


def _blocks(session: Session, report: DreamReport) -> list[Block]:
    if report.asleep:
        return [Line(report.asleep, "yellow")]
    blocks: list[Block] = []
    has_scopes = len({step.scope for step in report.steps}) > 1
    for step in report.steps:
        name = f"{step.scope} {step.told}" if has_scopes else step.told
        blocks.append(Line(name, "bold red" if step.failed else "bold yellow" if step.held else "bold"))
        rows = tuple((move.action, short(move.atom_id), brief(move.text), move.why) for move in step.moves[:SHOWN])
        blocks += [Grid(("what", "id", "words", "why"), rows)] if rows else []
        if len(step.moves) > SHOWN:
            blocks.append(Line(f"and {len(step.moves) - SHOWN:,} more; --json lists all"))
        blocks += [Facts(tuple(("note", note) for note in step.notes), indent=2)] if step.notes else []
    if report.guidelines:
        blocks.append(Facts(tuple(("from usage", guideline) for guideline in report.guidelines)))
    if report.dry_run:
        blocks.append(Line(DRY, "yellow"))
    elif any(step.commit for step in report.steps):
        blocks.append(Facts((("undo", session.shell("undo", report.batch)),)))
    return blocks
