"""`lamina bench`: handed on to the benchmarks, which are loaded only when asked for."""

from __future__ import annotations

from importlib import import_module

import typer

from lamina.cli.command import ending
from lamina.cli.output import Output
from lamina.errors import NotFound

app = typer.Typer()


@app.command(
    "bench",
    rich_help_panel="Upkeep",
    epilog="Example: lamina bench speed",
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def bench(ctx: typer.Context) -> None:
    """Measure the shipped pipeline; `lamina bench --help` lists the benchmarks."""
    with ending(Output(), "bench"):
        benchmarks = _benchmarks()
    benchmarks(ctx.args, prog_name="lamina bench")


def _benchmarks() -> typer.Typer:
    home = "lamina.bench.cli"
    try:
        found = import_module(home).app
    except ModuleNotFoundError as error:
        if error.name != home:
            raise
        raise NotFound("there are no benchmarks in this installation") from error
    assert isinstance(found, typer.Typer)
    return found
