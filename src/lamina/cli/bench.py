"""`lamina bench`: runs the benchmarks, which are loaded only here."""

from __future__ import annotations

from importlib import import_module

import typer

from lamina.cli.command import exit_on_error
from lamina.cli.output import CommandOutput
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
    """Run a benchmark of the shipped pipeline; `lamina bench --help` lists them."""
    with exit_on_error(CommandOutput(), "bench"):
        benchmarks = _load_benchmarks()
    benchmarks(ctx.args, prog_name="lamina bench")


def _load_benchmarks() -> typer.Typer:
    module_name = "lamina.bench.cli"
    try:
        benchmark_app = import_module(module_name).app
    except ModuleNotFoundError as error:
        if error.name != module_name:
            raise
        raise NotFound("the benchmarks are not part of this installation; run them from the repository") from error
    assert isinstance(benchmark_app, typer.Typer)
    return benchmark_app
