"""Show several runs of one benchmark side by side, such as with and without the state model: tables, a chart or JSON.

Figures are `{group: {figure: value}}`, overall and for each category.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.bench_result import BenchResult
from benchmarks.chart import Groups
from benchmarks.result_printer import WIDTH

Runs = Mapping[str, BenchResult]
"""The result of each run by its name, such as `with model`."""

_SIZES = frozenset({"n", "wanted"})
"""Figures that the data gives, the same in every run."""


def print_json(runs: Runs) -> None:
    """Print the document of the only run, or those of all runs by their names."""
    documents = {name: result.document() for name, result in runs.items()}
    first = next(iter(documents.values()))
    whole = first if len(documents) == 1 else {"bench": first["bench"], "runs": documents}
    typer.echo(json.dumps(whole, indent=1, ensure_ascii=False))


def print_tables(runs: Runs) -> None:
    """Print the figures, a column for each category with a value for each run, and what the runs cost."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    for table in (_figures_table(runs), _costs_table(runs)):
        console.print(table)


def join_bars(bars: Mapping[str, Groups]) -> Groups:
    """Return one chart of all runs: each bar once for each run, named after both where there are several."""
    if len(bars) == 1:
        return next(iter(bars.values()))
    groups: dict[str, dict[str, float]] = {}
    for run, chart in bars.items():
        for group, values in chart.items():
            groups.setdefault(group, {}).update({f"{name}, {run}": value for name, value in values.items()})
    return groups


def _figures_table(runs: Runs) -> Table:
    first = next(iter(runs.values()))
    categories = list(first.categories) if len(first.categories) > 1 else []
    title = " / ".join(runs) if len(runs) > 1 else None
    table = Table("", "overall", *categories, title=title, title_justify="left")
    for group, figures in first.overall.items():
        table.add_section()
        for n, figure in enumerate(figures):
            name = (group if n == 0 else "") + (f"  {figure}" if n else f", {figure}")
            cells = [_cell(group, figure, _column(runs, category)) for category in (None, *categories)]
            table.add_row(name, *cells, style="bold" if n == 0 else None)
    return table


def _column(runs: Runs, category: str | None) -> Iterator[Mapping[str, Any]]:
    return (result.overall if category is None else result.categories[category] for result in runs.values())


def _cell(group: str, figure: str, column: Iterator[Mapping[str, Any]]) -> str:
    values = [_number(figures.get(group, {}).get(figure)) for figures in column]
    return values[0] if figure in _SIZES else " / ".join(values)


def _costs_table(runs: Runs) -> Table:
    table = Table("cost", *(runs if len(runs) > 1 else [""]))
    table.add_row("model", *(str(result.settings["model"]) for result in runs.values()))
    table.add_row("state_model", *(str(result.settings["state_model"]) for result in runs.values()))
    for name in next(iter(runs.values())).speed:
        table.add_row(name, *(f"{result.speed[name]:,}" for result in runs.values()))
    return table


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1f}" if isinstance(value, float) else f"{value:,}"
