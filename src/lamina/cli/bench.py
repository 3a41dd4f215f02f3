"""`lamina bench`: runs the benchmarks of a checkout, which are loaded only here."""

from __future__ import annotations

import typer

from lamina.cli.command import exit_on_error
from lamina.cli.output import CommandOutput
from lamina.cli.repository_checkout import import_from_checkout

app = typer.Typer(rich_help_panel="Upkeep")


@app.command(
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
