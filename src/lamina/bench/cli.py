"""`lamina bench …`: translate options into measurements, and measurements into a table or JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import lamina

app = typer.Typer(help="Measure the shipped pipeline.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure the shipped pipeline."""


@app.command()
def speed(
    files: Annotated[int, typer.Option(help="how many atoms to write, open and rebuild", min=100)] = 100_000,
    passages: Annotated[int, typer.Option(help="how many passages to recall from", min=500)] = 100_000,
    questions: Annotated[int, typer.Option(help="how many questions to ask", min=5)] = 300,
    data: Annotated[Path | None, typer.Option(help="a LoCoMo file: real questions and text of its shape")] = None,
    seed: Annotated[int, typer.Option(help="of everything random")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON document instead of a table")] = False,
) -> None:
    """Time writing, opening, rebuilding and recalling against bare yardsticks in the same run.

    Example: lamina bench speed --files 10000 --passages 10000 --data locomo.json.gz
    """
    from lamina.bench.speed import run

    told = Console(stderr=True)
    result = run(files, passages, questions, data, seed, lambda text: told.print(f"[dim]{text}…"))
    if as_json:
        document = {
            "bench": "speed", "commit": lamina.__version__, "data_sha256": result.data_sha256,
            "settings": result.settings, "overall": result.bars(), "categories": {}, "speed": result.figures,
        }  # fmt: skip
        typer.echo(json.dumps(document, indent=1))
        return
    table = Table("measured", "figure", "bar", "holds")
    bars = result.bars()
    for name, value in result.figures.items():
        bar = bars.get(name, {"bar": "", "holds": None})
        table.add_row(name, f"{value:,.3f}", bar["bar"], {True: "yes", False: "NO", None: ""}[bar["holds"]])
    Console().print(table)
