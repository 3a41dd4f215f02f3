"""`lamina init`: makes a folder a vault."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from lamina.cli.command import command
from lamina.cli.next_steps import next_steps
from lamina.cli.output import Block, Line, View
from lamina.cli.session import Session
from lamina.cli.upkeep import report_data, report_facts
from lamina.cli.vault_choice import Way, choose

app = typer.Typer()


@command(app, "init", panel="Start", changes=True, example="lamina init ~/notes/memory")
def init(
    session: Session,
    folder: Annotated[Path | None, typer.Argument(help="The folder. Default: ~/lamina.", show_default=False)] = None,
) -> View:
    """Make a folder a vault; existing files are left unchanged."""
    chosen = choose(folder, os.environ, Path.cwd(), Path.home(), upwards=False)
    if folder is None and session.choice.way is Way.OPTION:
        chosen = session.choice
    if session.dry_run:
        state = "is a vault already" if chosen.exists else "would become a vault"
        return View(
            {"vault": str(chosen.folder), "created": False, "dry_run": True}, (Line(f"{chosen.folder} {state}"),)
        )
    with Session(chosen, session.output, scope=session.scope, may_make=True, quiet=True) as new_session:
        memory = new_session.memory
        data = {
            "vault": str(memory.root),
            "created": memory.created,
            "dry_run": False,
            "state": str(memory.state),
            "sync": report_data(memory.opened),
        }
        verb = "is a vault now" if memory.created else "was a vault already"
        blocks: list[Block] = [Line(f"{memory.root} {verb}", "bold")]
        if memory.state.parent != memory.root:
            blocks.append(Line(f"the databases are in {memory.state}"))
        if memory.opened.anything:
            blocks.append(report_facts(memory.opened))
        stats = memory.stats()
        return View(data, (*blocks, *next_steps(new_session, stats, stats["files"]["problems"])))
