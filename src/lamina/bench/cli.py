"""`lamina bench …`: translate options into measurements, and measurements into a table, a chart or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table

from lamina.bench.collection import Collection
from lamina.bench.result import Result
from lamina.bench.vaults import Progress, Vaults
from lamina.errors import InvalidInput, LaminaError

app = typer.Typer(help="Measure the shipped pipeline.", no_args_is_help=True)

Data = Annotated[Path, typer.Option("--data", metavar="FILE", help="The data set: JSON, also gzipped.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document instead of tables.")]
Chart = Annotated[
    Path | None, typer.Option("--chart", metavar="FILE", help="Also draw the figures: FILE.svg, or FILE.png.")
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="A quick look: the first N conversations or questions."),
]
Light = Annotated[bool, typer.Option("--light", help="Without the transformer: the light embedder.")]
Keep = Annotated[
    Path | None, typer.Option("--keep", metavar="FOLDER", help="Keep the vaults, to look into them afterwards.")
]

CHARTED = ("R@5", "R@10", "NDCG@10")
WIDTH = 130
SAMPLED = 200


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
    embedder: Annotated[
        str, typer.Option(help="also encode the passages with this one (light, auto, …) and time recall by meaning")
    ] = "none",
    as_json: AsJson = False,
) -> None:
    """Time writing, opening, rebuilding and recalling against bare yardsticks in the same run.

    Example: lamina bench speed --files 10000 --passages 10000 --data locomo.json.gz
    """
    from lamina.bench.speed import run

    told = Console(stderr=True)
    with _ending():
        result = run(files, passages, questions, data, seed, lambda text: told.print(f"[dim]{text}…"), embedder)
    bars = result.bars()
    if as_json:
        document = Result("speed", result.data_sha256, result.settings, bars, {}, result.figures).document()
        typer.echo(json.dumps(document, indent=1))
        return
    table = Table("measured", "figure", "bar", "holds")
    for name, value in result.figures.items():
        bar = bars.get(name, {"bar": "", "holds": None})
        table.add_row(name, f"{value:,.3f}", bar["bar"], {True: "yes", False: "NO", None: ""}[bar["holds"]])
    Console().print(table)


@app.command()
def locomo(
    data: Data,
    as_json: AsJson = False,
    chart: Chart = None,
    limit: Limit = None,
    light: Light = False,
    keep: Keep = None,
    merged: Annotated[bool, typer.Option("--merged", help="All conversations in one vault.")] = False,
) -> None:
    """LoCoMo: find the turns of a long conversation that answer.

    Example: lamina bench locomo --data locomo10.json --chart locomo.svg
    """
    from lamina.bench.collection import merged as in_one
    from lamina.bench.locomo import APART, load

    with _ending():
        collections, digest = load(data)
        collections = collections[:limit]
        if merged:
            collections = [in_one("merged", collections)]
        options = {"limit": limit, "merged": merged}
        _show(_retrieval("locomo", collections, digest, Vaults(light=light, keep=keep), options, APART), as_json, chart)


@app.command()
def longmemeval(
    data: Data,
    as_json: AsJson = False,
    chart: Chart = None,
    limit: Limit = None,
    light: Light = False,
    keep: Keep = None,
) -> None:
    """LongMemEval: find the sessions with an assistant, and the turns in them, that answer.

    Example: lamina bench longmemeval --data longmemeval_oracle.json
    """
    from lamina.bench.longmemeval import load

    with _ending():
        _show(_plain("longmemeval", load, data, limit, Vaults(light=light, keep=keep)), as_json, chart)


@app.command()
def beam(
    data: Data,
    as_json: AsJson = False,
    chart: Chart = None,
    limit: Limit = None,
    light: Light = False,
    keep: Keep = None,
) -> None:
    """BEAM: find the messages of a long chat that answer.

    Example: lamina bench beam --data beam_100k.json.gz --json
    """
    from lamina.bench.beam import load

    with _ending():
        _show(_plain("beam", load, data, limit, Vaults(light=light, keep=keep)), as_json, chart)


@app.command()
def scifact(
    data: Data,
    as_json: AsJson = False,
    chart: Chart = None,
    limit: Limit = None,
    light: Light = False,
    keep: Keep = None,
) -> None:
    """SciFact: find the abstracts that bear on a claim.

    Example: lamina bench scifact --data scifact_beir_test.json.gz
    """
    from lamina.bench.scifact import load

    with _ending():
        _show(_plain("scifact", load, data, limit, Vaults(light=light, keep=keep)), as_json, chart)


@app.command()
def factconsolidation(
    data: Data,
    as_json: AsJson = False,
    chart: Chart = None,
    limit: Limit = None,
    light: Light = False,
    keep: Keep = None,
) -> None:
    """FactConsolidation: of facts that overrule each other, find the current one.

    Example: lamina bench factconsolidation --data fact_consolidation.json.gz
    """
    from lamina.bench.factconsolidation import DEPTH, limited, load, run

    with _ending():
        lists, digest = load(data)
        vaults = Vaults(light=light, keep=keep)
        with _progress() as progress:
            grades = run(limited(lists, limit), vaults, progress)
        settings = {**vaults.settings(), "k": DEPTH, "limit": limit}
        found = Result(
            "factconsolidation", digest, settings, grades.overall(), grades.categories(), vaults.speed()
        )  # fmt: skip
        _show(found, as_json, chart)


@app.command()
def capture(
    data: Data,
    as_json: AsJson = False,
    limit: Limit = None,
    light: Light = False,
    keep: Keep = None,
    sample: Annotated[
        Path | None, typer.Option("--sample", metavar="FILE", help="Write 200 random statements here, to be judged.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 1,
) -> None:
    """Capture: what is made of conversations; takes LoCoMo, LongMemEval, BEAM and change files.

    Example: lamina bench capture --data locomo10.json --sample statements.json
    """
    from lamina.bench.capturing import load, run

    with _ending():
        scenarios, digest = load(data)
        vaults = Vaults(light=light, keep=keep)
        with _progress() as progress:
            tally = run(scenarios[:limit], vaults, progress)
        if sample is not None:
            sample.write_text(json.dumps(tally.sample(SAMPLED, seed), indent=1, ensure_ascii=False), encoding="utf-8")
        settings = {**vaults.settings(), "limit": limit}
        _show(Result("capture", digest, settings, tally.overall(), tally.categories(), vaults.speed()), as_json, None)


def _plain(
    name: str,
    load: Callable[[Path], tuple[list[Collection], str]],
    data: Path,
    limit: int | None,
    vaults: Vaults,
) -> Result:
    from lamina.bench.collection import limited

    collections, digest = load(data)
    return _retrieval(name, limited(collections, limit), digest, vaults, {"limit": limit})


def _retrieval(
    name: str,
    collections: Sequence[Collection],
    digest: str,
    vaults: Vaults,
    options: Mapping[str, Any],
    apart: Set[str] = frozenset(),
) -> Result:
    from lamina.bench.metrics import DEPTH
    from lamina.bench.retrieval import run

    with _progress() as progress:
        grades = run(collections, vaults, progress)
    settings = {**vaults.settings(), "k": DEPTH, **options}
    return Result(name, digest, settings, grades.overall(apart), grades.categories(), vaults.speed())


def _show(result: Result, as_json: bool, chart: Path | None) -> None:
    if chart is not None:
        from lamina.bench.chart import write

        write(chart, f"lamina bench {result.bench} (%)", _charted(result))
    if as_json:
        typer.echo(json.dumps(result.document(), indent=1, ensure_ascii=False))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    for table in (*_tables(result), _speed_table(result)):
        console.print(table)


def _tables(result: Result) -> Iterator[Table]:
    """A table for each level; figures without levels go in one."""
    if result.bench == "capture":
        yield _listed({**result.overall, **result.categories})
        return
    if "turn" not in result.overall and "session" not in result.overall:
        yield _figures("", {**result.overall, **result.categories})
        return
    for level, figures in result.overall.items():
        rows = {name: levels[level] for name, levels in result.categories.items() if level in levels}
        yield _figures(f"{level} level, %", {**rows, "overall": figures})


def _figures(title: str, rows: Mapping[str, Mapping[str, float]]) -> Table:
    names = list(dict.fromkeys(name for figures in rows.values() for name in figures))
    table = Table("", *names, title=title or None, title_justify="left")
    for name, figures in rows.items():
        cells = [_cell(figure, figures.get(figure)) for figure in names]
        table.add_row(name, *cells, style="bold" if name == "overall" else None)
    return table


def _listed(groups: Mapping[str, Mapping[str, float]]) -> Table:
    table = Table("", "", "")
    for group, figures in groups.items():
        for n, (name, value) in enumerate(figures.items()):
            table.add_row("" if n else group, name, f"{value:,}")
    return table


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if name == "n" else f"{value:.1f}"


def _speed_table(result: Result) -> Table:
    table = Table("cost", "")
    table.add_row("model", str(result.settings["model"]))
    for name, value in result.speed.items():
        table.add_row(name, f"{value:,}")
    return table


def _charted(result: Result) -> dict[str, dict[str, float]]:
    """The bars of the finest level there is."""
    rows = {**result.categories, "overall": result.overall}
    for level in ("turn", "session"):
        if level in result.overall:
            return {
                name: {figure: levels[level][figure] for figure in CHARTED}
                for name, levels in rows.items()
                if level in levels
            }
    return {
        name: {figure: value for figure, value in figures.items() if figure != "n"}
        for name, figures in result.categories.items()
    }


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar on stderr for each thing that is being done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, Any] = {}

        def told(text: str, done: int, total: int) -> None:
            if text not in tasks:
                tasks[text] = bars.add_task(text, total=total)
            bars.update(tasks[text], completed=done, total=total)

        yield told


@contextmanager
def _ending() -> Iterator[None]:
    """Errors become a line and an exit code; bugs keep their traceback."""
    try:
        yield
    except (LaminaError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2 if isinstance(error, InvalidInput) else 1) from None
