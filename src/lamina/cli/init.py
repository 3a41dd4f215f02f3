"""`lamina init`: makes a folder a vault."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lamina.cli.command import command
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, OutputBlock, TextLine
from lamina.cli.start_screen import command_lines, suggest_commands
from lamina.cli.upkeep import report_fields
from lamina.cli.vault_choice import ChoiceReason, choose_vault

app = typer.Typer(rich_help_panel="Start")


@command(app, "init", has_dry_run=True, example="lamina init ~/notes/memory")
def init(
    session: CommandSession,
    folder: Annotated[Path | None, typer.Argument(help="The folder. Default: ~/lamina.", show_default=False)] = None,
) -> CommandResult:
    """Make a folder a vault; existing files are left unchanged."""
    chosen = choose_vault(folder, os.environ, Path.cwd(), Path.home(), search_upwards=False)
    if folder is None and session.choice.reason is ChoiceReason.OPTION:
        chosen = session.choice
    if session.dry_run:
        state = "is a vault already" if chosen.exists else "would become a vault"
        return CommandResult(
            {"vault": str(chosen.folder), "created": False, "dry_run": True}, (TextLine(f"{chosen.folder} {state}"),)
        )
    with CommandSession(chosen, session.output, scope=session.scope, may_create=True, is_quiet=True) as new_session:
        memory = new_session.memory
        data = {
            "vault": str(memory.root),
            "created": memory.engine.created,
            "dry_run": False,
            "state": str(memory.engine.state),
            "sync": asdict(memory.upkeep.opening_report),
        }
        verb = "is a vault now" if memory.engine.created else "was a vault already"
        blocks: list[OutputBlock] = [TextLine(f"{memory.root} {verb}", "bold")]
        if memory.engine.state.parent != memory.root:
            blocks.append(TextLine(f"the databases are in {memory.engine.state}"))
        if memory.upkeep.opening_report.has_changes:
            blocks.append(report_fields(memory.upkeep.opening_report))
        stats = memory.upkeep.stats()
        steps = suggest_commands(new_session, stats, stats["files"]["problems"])
        return CommandResult(data, (*blocks, *command_lines(steps)))
