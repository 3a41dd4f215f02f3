"""`lamina bench scale` and `lamina bench peers`: parse options, print tables, a chart or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.bench_result import BenchResult
from benchmarks.command_options import AsJson, Chart, exit_on_error
from lamina.errors import InvalidInput

Questions = Annotated[int, typer.Option(help="how many questions are asked", min=10)]
Seed = Annotated[int, typer.Option(help="random seed")]
Vectors = Annotated[
    Path | None,
    typer.Option("--vectors", metavar="FILE", help="Rows of this .npy (float32) instead of generated vectors."),
]
PEER_COLUMNS = ("engine", "recall@10", "p50 ms", "p95 ms", "CPU ms", "times ours", "build s", "memory MB", "disk MB")
WIDTH = 140
SMALLEST = 1000


def scale(
    sizes: Annotated[str, typer.Option(help="how many vectors, separated by commas")] = "10000,100000,1000000",
    questions: Questions = 200,
    seed: Seed = 1,
    vectors: Vectors = None,
    passages: Annotated[
        str, typer.Option(help="also vaults of this many passages, separated by commas; a million take 20 min")
    ] = "",
    data: Annotated[Path | None, typer.Option(help="A LoCoMo file: the passages are generated like its talk.")] = None,
    as_json: AsJson = False,
    chart: Chart = None,
) -> None:
    """Measure vector search at growing sizes: time, recall, memory, disk, adding, filters, and how each grows. With
    --passages also fill vaults with talk, open them and time complete recalls.

    Example: lamina bench scale --sizes 10000,100000 --passages 100000 --data locomo.json.gz --chart scale.svg
    """
    from benchmarks.locomo import load
    from benchmarks.scale_benchmark import measure_vaults, run

    with exit_on_error():
        result = run(_sizes(sizes), questions, seed, vectors, _say)
        if passages:
            talk = load(data)[0] if data is not None else []
            measure_vaults(_sizes(passages), talk, questions, seed, result, _say)
        _draw(chart, "lamina bench scale (%, beside float32 and numpy)", result.chart())
    if as_json:
        by_size = {str(size): figures for size, figures in result.figures.items()}
        by_size |= {f"whole recall, {size}": figures for size, figures in result.whole.items()}
        _print_json(BenchResult("scale", None, result.settings, result.bars(), by_size, result.growth()))
        return
    names = list(dict.fromkeys(name for figures in result.figures.values() for name in figures))
    rows = [[name, *(f"{figures[name]:,.2f}" for figures in result.figures.values())] for name in names]
    _print_table(["measured", *(f"{size:,}" for size in result.figures)], rows)
    for size, figures in result.whole.items():
        _print_table(
            [f"whole recall, {size:,} passages", ""], [[name, f"{figure:,.2f}"] for name, figure in figures.items()]
        )
    _print_table(["grows by the power", ""], [[name, f"{value:.2f}"] for name, value in result.growth().items()])
    _print_bars(result.bars())


def peers(
    sizes: Annotated[str, typer.Option(help="how many vectors, separated by commas")] = "100000",
    python: Annotated[
        str | None, typer.Option(help="the Python interpreter that has the other engines, if not this one")
    ] = None,
    only: Annotated[str, typer.Option(help="only these engines, separated by commas")] = "",
    threads: Annotated[int, typer.Option(help="how many processors each engine may use", min=1)] = 1,
    questions: Questions = 200,
    seed: Seed = 1,
    vectors: Vectors = None,
    as_json: AsJson = False,
    chart: Chart = None,
) -> None:
    """Compare with other engines on the same vectors: usearch, sqlite-vec, chromadb, lancedb, faiss and plain numpy.

    Example: lamina bench peers --sizes 100000 --python peers/bin/python --only usearch,lancedb
    """
    from benchmarks.peer_benchmark import run
    from benchmarks.vector_engines import ENGINES
    from benchmarks.vector_sources import choose_source

    names = only.split(",") if only else list(ENGINES)
    with exit_on_error():
        unknown = sorted(set(names) - set(ENGINES))
        if unknown:
            raise InvalidInput(f"no engine is called {unknown[0]!r}; there are {', '.join(ENGINES)}")
        results = {
            size: run(choose_source(vectors, size, questions, seed), names, python or sys.executable, threads, _say)
            for size in _sizes(sizes)
        }
        largest = max(results)
        _draw(chart, f"Speed at equal recall, {largest:,} vectors (fastest = 100)", results[largest].chart())
    if as_json:
        settings = {"seed": seed, "runs": [entry.settings for entry in results.values()]}
        all_bars = {
            f"{size} {name}": entry for size, result in results.items() for name, entry in result.bars().items()
        }
        figures = {str(size): result.figures() for size, result in results.items()}
        _print_json(BenchResult("peers", None, settings, all_bars, figures, {}))
        return
    for result in results.values():
        _print_table(PEER_COLUMNS, result.rows())
        for name, why in result.missing.items():
            typer.echo(f"{name}: not run: {why}")
        _print_bars(result.bars())


def _sizes(given: str) -> list[int]:
    try:
        sizes = [int(number) for number in given.split(",")]
    except ValueError:
        raise InvalidInput(f"--sizes takes numbers separated by commas, not {given!r}") from None
    if min(sizes) < SMALLEST:
        raise InvalidInput(f"--sizes must be {SMALLEST:,} or more; smaller sets give no useful figures")
    return sizes


def _say(text: str) -> None:
    typer.echo(f"{text}…", err=True)


def _draw(path: Path | None, title: str, groups: Mapping[str, Mapping[str, float]]) -> None:
    if path is not None:
        from benchmarks.chart import write_chart

        write_chart(path, title, groups)


def _print_json(result: BenchResult) -> None:
    typer.echo(json.dumps(result.document(), indent=1, ensure_ascii=False))


def _print_bars(bars: Mapping[str, Mapping[str, Any]]) -> None:
    rows = []
    for name, entry in bars.items():
        figure = "never" if entry["figure"] is None else f"{entry['figure']:,.2f}"
        rows.append([name, figure, entry["bar"], "yes" if entry["holds"] else "NO"])
    _print_table(["bar", "figure", "wanted", "holds"], rows)


def _print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if not rows:
        return
    console, table = Console(), Table(*names)
    for row in rows:
        table.add_row(*row)
    (console if console.is_terminal else Console(width=WIDTH)).print(table)
