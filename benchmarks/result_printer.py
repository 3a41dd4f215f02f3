"""Print a result as tables, a chart, or the JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.bench_result import BenchResult

CHARTED_FIGURES = ("R@5", "R@10", "NDCG@10")
COUNT_FIGURES = frozenset({"n", "passed", "high", "low", "taken back"})
"""Figures that are counts, not shares."""
WIDTH = 130


def print_result(result: BenchResult, *, as_json: bool, chart: Path | None = None) -> None:
    """Print a result, and draw it if a chart is requested."""
    if chart is not None:
        from benchmarks.chart import write_chart

        write_chart(chart, f"lamina bench {result.bench} (%)", _chart_groups(result))
    if as_json:
        typer.echo(json.dumps(result.document(), indent=1, ensure_ascii=False))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    for table in (*_tables(result), _speed_table(result)):
        console.print(table)


def _tables(result: BenchResult) -> Iterator[Table]:
    """Yield a table for each level; figures without levels share one."""
    if result.bench == "capture":
        yield _list_table({**result.overall, **result.categories})
    elif "turn" in result.overall or "session" in result.overall:
        for level, figures in result.overall.items():
            rows = {name: levels[level] for name, levels in result.categories.items() if level in levels}
            yield _figures_table(f"{level} level, %", {**rows, "overall": figures})
    else:
        rows = {name: figures for name, figures in result.overall.items() if name != "types"}
        groups = {name: figures for name, figures in rows.items() if isinstance(figures, Mapping)}
        title = ", ".join(f"{name} {figure}" for name, figure in rows.items() if name not in groups)
        yield _figures_table(title, {**result.categories, **groups})


def _figures_table(title: str, rows: Mapping[str, Mapping[str, float]]) -> Table:
    names = list(dict.fromkeys(name for figures in rows.values() for name in figures))
    table = Table("", *names, title=title or None, title_justify="left")
    for name, figures in rows.items():
        cells = [_cell(figure, figures.get(figure)) for figure in names]
        table.add_row(name, *cells, style="bold" if name == "overall" else None)
    return table


def _list_table(groups: Mapping[str, Mapping[str, float]]) -> Table:
    table = Table("", "", "")
    for group, figures in groups.items():
        for n, (name, value) in enumerate(figures.items()):
            table.add_row("" if n else group, name, f"{value:,}")
    return table


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if name in COUNT_FIGURES else f"{value:.1f}"


def _speed_table(result: BenchResult) -> Table:
    table = Table("cost", "")
    table.add_row("model", str(result.settings["model"]))
    for name, value in result.speed.items():
        table.add_row(name, f"{value:,}")
    return table


def _chart_groups(result: BenchResult) -> dict[str, dict[str, float]]:
    """Return the bars of the finest level."""
    rows = {**result.categories, "overall": result.overall}
    for level in ("turn", "session"):
        if level in result.overall:
            return {
                name: {figure: levels[level][figure] for figure in CHARTED_FIGURES}
                for name, levels in rows.items()
                if level in levels
            }
    return {
        name: {figure: value for figure, value in figures.items() if figure not in COUNT_FIGURES}
        for name, figures in result.categories.items()
    }
