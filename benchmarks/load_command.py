"""`lamina bench load`: parse options, print tables or JSON."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.command_options import AsJson, exit_on_error


def load(
    clients: Annotated[int, typer.Option(help="how many clients at the same time", min=1, max=1000)] = 50,
    seconds: Annotated[float, typer.Option(help="for how long", min=1)] = 60.0,
    slow: Annotated[int, typer.Option(help="slow connections beside a client; 0 leaves them out", min=0)] = 1000,
    atoms: Annotated[int, typer.Option(help="how many statements the vault has", min=1)] = 2000,
    pause: Annotated[float, typer.Option(help="seconds a client waits between two requests, on average", min=0)] = 0.5,
    embedder: Annotated[str, typer.Option(help="the embedding model of the server: light, auto, none, …")] = "light",
    seed: Annotated[int, typer.Option(help="random seed")] = 1,
    as_json: AsJson = False,
) -> None:
    """Send requests to a real server from many clients, then kill it and check every acknowledged write; also measure
    one client beside slow connections.

    Example: lamina bench load --clients 20 --seconds 10 --slow 200 --json
    """
    from benchmarks.load_benchmark import run

    say = Console(stderr=True)
    with exit_on_error():
        result = run(
            clients, seconds, slow, atoms, pause, embedder, seed, lambda text: say.print(f"[dim]{text}")
        ).result()
    if as_json:
        typer.echo(json.dumps(result.document(), indent=1))
        return
    bars, table = result.overall["bars"], Table("measured", "figure", "bar", "holds")
    for name, value in result.speed.items():
        bar = bars.get(name, {"bar": "", "holds": None})
        table.add_row(name, f"{value:,.3f}", bar["bar"], {True: "yes", False: "NO", None: ""}[bar["holds"]])
    by_verb = Table("verb", "requests", "p50 s", "p95 s", "p99 s", "max s")
    for verb, figures in result.categories.items():
        times = (f"{figures[name]:.3f}" for name in ("p50_s", "p95_s", "p99_s", "max_s"))
        by_verb.add_row(verb, str(figures["requests"]), *times)
    Console().print(table, by_verb)
    for message in result.overall["wrong"]:
        typer.echo(message, err=True)
