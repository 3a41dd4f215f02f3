"""`lamina tour`: shows what lamina does, with real results on a temporary vault."""

from __future__ import annotations

from typing import Annotated

import typer

from lamina.cli.command import command
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult
from lamina.cli.repository_checkout import import_from_checkout

app = typer.Typer(rich_help_panel="Start")


@command(app, "tour", example="lamina tour --keep")
def tour(
    session: CommandSession,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the vault of the tour.")] = False,
    pause: Annotated[float, typer.Option(help="Seconds to wait after each step.", min=0, max=60)] = 0.0,
) -> CommandResult:
    """Show in a minute what lamina does, on a temporary vault; every result is real and checked.

    The tour is part of the repository and runs from a checkout.
    """
    result = import_from_checkout("benchmarks.tour.tour_run").run_tour(session, keep=keep, pause=pause)
    assert isinstance(result, CommandResult)
    return result
