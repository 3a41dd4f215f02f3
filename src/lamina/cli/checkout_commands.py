"""`lamina bench` and `lamina tour`: the commands whose code is in a checkout of the repository."""

from __future__ import annotations

from typing import Annotated

import typer

from lamina.cli.command import command, exit_on_error
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandOutput, CommandResult
from lamina.cli.repository_checkout import import_from_checkout

tour_app, bench_app = typer.Typer(rich_help_panel="Start"), typer.Typer(rich_help_panel="Upkeep")


@command(tour_app, "tour", example="lamina tour --keep")
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


@bench_app.command(
    "bench",
    rich_help_panel="Upkeep",
    epilog="Example: lamina bench speed",
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def bench(ctx: typer.Context) -> None:
    """Run a benchmark of the shipped pipeline, from a checkout; `lamina bench --help` lists them."""
    with exit_on_error(CommandOutput(), "bench"):
        benchmark_app = import_from_checkout("benchmarks.cli").app
    assert isinstance(benchmark_app, typer.Typer)
    benchmark_app(ctx.args, prog_name="lamina bench")
