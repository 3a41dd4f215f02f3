"""`lamina bench …`: parse options and run benchmarks. Modules are imported when a benchmark needs them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.bench_result import BenchResult
from benchmarks.command_options import AsJson, BenchContext, Chart, Failures, Light, benchmark, exit_on_error
from benchmarks.data_set import BenchCollection
from benchmarks.load_command import load
from benchmarks.ranking_metrics import DEPTH
from benchmarks.state_commands import chains, natural
from benchmarks.vector_commands import peers, scale

app = typer.Typer(help="Measure the shipped pipeline.", no_args_is_help=True)

SAMPLED = 200

for command in (scale, peers, load, natural, chains):
    app.command()(command)


@app.callback()
def bench() -> None:
    """Measure the shipped pipeline."""


@app.command()
def speed(
    files: Annotated[int, typer.Option(help="how many atoms to write, open and rebuild", min=100)] = 100_000,
    passages: Annotated[int, typer.Option(help="how many passages to recall from", min=500)] = 100_000,
    questions: Annotated[int, typer.Option(help="how many questions to ask", min=5)] = 300,
    data: Annotated[Path | None, typer.Option(help="a LoCoMo file: real questions and text of its shape")] = None,
    seed: Annotated[int, typer.Option(help="random seed")] = 1,
    embedder: Annotated[
        str, typer.Option(help="also time vector recall with this embedding model (light, auto, …)")
    ] = "none",
    as_json: AsJson = False,
) -> None:
    """Time writing, opening, rebuilding and recalling against baselines in the same run.

    Example: lamina bench speed --files 10000 --passages 10000 --data locomo.json.gz
    """
    from benchmarks.speed_benchmark import run

    console = Console(stderr=True)
    with exit_on_error():
        result = run(files, passages, questions, data, seed, lambda text: console.print(f"[dim]{text}…"), embedder)
    bars = result.bars()
    if as_json:
        document = BenchResult("speed", result.data_sha256, result.settings, bars, {}, result.figures).document()
        typer.echo(json.dumps(document, indent=1))
        return
    table = Table("measured", "figure", "bar", "holds")
    for name, value in result.figures.items():
        bar = bars.get(name, {"bar": "", "holds": None})
        table.add_row(name, f"{value:,.3f}", bar["bar"], {True: "yes", False: "NO", None: ""}[bar["holds"]])
    Console().print(table)


@app.command()
def year(
    atoms: Annotated[int, typer.Option(help="how many statements are written in the year", min=100)] = 50_000,
    days: Annotated[int, typer.Option(help="how many days the year has", min=5)] = 365,
    seed: Annotated[int, typer.Option(help="random seed")] = 1,
    as_json: AsJson = False,
) -> None:
    """Simulate a year with a dream a day, and compare with a store that never dreams.

    Example: lamina bench year --atoms 5000 --json
    """
    from benchmarks.year_benchmark import run

    console = Console(stderr=True)
    with exit_on_error():
        result = run(atoms, days, seed, lambda text: console.print(f"[dim]{text}"))
    if as_json:
        typer.echo(json.dumps(result.document(), indent=1))
        return
    table, bars = Table("measured", "figure", "bar", "holds"), result.overall["bars"]
    unseen = {name: bar["figure"] for name, bar in bars.items() if name not in result.speed}
    for name, value in {**unseen, **result.overall["figures"], **result.speed}.items():
        bar = bars.get(name, {"bar": "", "holds": None})
        table.add_row(name, f"{value:,.2f}", bar["bar"], {True: "yes", False: "NO", None: ""}[bar["holds"]])
    Console().print(table)


@app.command()
def compression(
    data: Annotated[Path | None, typer.Option(help="a LoCoMo file: real vectors of its turns and questions")] = None,
    light: Light = False,
    vectors: Annotated[int, typer.Option(help="how many of each type to generate", min=100)] = 4000,
    questions: Annotated[int, typer.Option(help="how many questions to ask", min=5)] = 300,
    seed: Annotated[int, typer.Option(help="random seed")] = 1,
    chart: Chart = None,
    as_json: AsJson = False,
) -> None:
    """Measure what vectors lose in 8, 4 and 2 bits, compared with plain min-max rounding.

    Example: lamina bench compression --data locomo10.json --chart compression.svg
    """
    from benchmarks.chart import write_chart
    from benchmarks.compression_benchmark import run

    console = Console(stderr=True)
    with exit_on_error():
        measured = run(data, light, vectors, questions, seed, lambda text: console.print(f"[dim]{text}"))
        if chart is not None:
            write_chart(chart, "lamina bench compression (mean cosine and recall@10, %)", measured.groups())
    if as_json:
        typer.echo(json.dumps(measured.result().document(), indent=1))
        return
    for table in measured.tables():
        Console().print(table)


@benchmark(app)
def locomo(
    given: BenchContext,
    merged: Annotated[bool, typer.Option("--merged", help="All conversations in one vault.")] = False,
) -> BenchResult:
    """LoCoMo: find the turns of a long conversation that answer.

    Example: lamina bench locomo --data locomo10.json --chart locomo.svg
    """
    from benchmarks.data_set import merge_collections as in_one
    from benchmarks.locomo import SEPARATE_CATEGORIES, load

    collections, digest = load(given.data)
    collections = collections[: given.limit]
    if merged:
        collections = [in_one("merged", collections)]
    return _run_retrieval("locomo", collections, digest, given, SEPARATE_CATEGORIES, merged=merged)


@benchmark(app)
def longmemeval(given: BenchContext) -> BenchResult:
    """LongMemEval: find the sessions with an assistant, and the turns in them, that answer.

    Example: lamina bench longmemeval --data longmemeval_oracle.json
    """
    from benchmarks.longmemeval import load

    return _run_plain_retrieval("longmemeval", load, given)


@benchmark(app)
def beam(given: BenchContext) -> BenchResult:
    """BEAM: find the messages of a long chat that answer.

    Example: lamina bench beam --data beam_100k.json.gz --json
    """
    from benchmarks.beam import load

    return _run_plain_retrieval("beam", load, given)


@benchmark(app)
def scifact(given: BenchContext) -> BenchResult:
    """SciFact: find the abstracts that bear on a claim.

    Example: lamina bench scifact --data scifact_beir_test.json.gz
    """
    from benchmarks.scifact import load

    return _run_plain_retrieval("scifact", load, given)


@benchmark(app)
def factconsolidation(given: BenchContext) -> BenchResult:
    """FactConsolidation: of facts that overrule each other, find the current one.

    Example: lamina bench factconsolidation --data fact_consolidation.json.gz
    """
    from benchmarks.factconsolidation import DEPTH as LOOKED_AT
    from benchmarks.factconsolidation import limit_questions, load, run

    lists, digest = load(given.data)
    with given.progress() as progress:
        grades = run(limit_questions(lists, given.limit), given.vaults, progress)
    return given.result("factconsolidation", digest, grades.overall(), grades.categories(), k=LOOKED_AT)


@benchmark(app)
def change(
    given: BenchContext,
    noise: Annotated[
        Path | None,
        typer.Option("--noise", metavar="FILE", help="First capture unrelated sessions of this LongMemEval file."),
    ] = None,
    sessions: Annotated[int, typer.Option(min=1, help="How many unrelated sessions.")] = 200,
    failures: Failures = False,
) -> BenchResult:
    """Change: does what changed stay changed? Conversations captured as they are.

    Example: lamina bench change --data change30_dev.json --failures
    """
    from benchmarks.change_benchmark import describe_failure, run, sample_unrelated_sessions
    from benchmarks.change_script import load_scripts

    scripts, digest = load_scripts(given.data)
    talk = sample_unrelated_sessions(noise, sessions) if noise else []
    with given.progress() as progress:
        sheet = run(scripts[: given.limit], talk, given.vaults, progress)
    for row in sheet.failures() if failures else ():
        given.print_beside(describe_failure(row))
    return given.result("change", digest, sheet.overall(), sheet.types(), sessions=len(talk))


@benchmark(app)
def precision(given: BenchContext, failures: Failures = False) -> BenchResult:
    """PrecisionMemBench, a folder of three files: what must be returned, and what must not.

    Example: lamina bench precision --data precisionmembench
    """
    from benchmarks.precision_benchmark import describe_failure, limit_cases, run
    from benchmarks.precision_data import load_precision_data

    beliefs, digest = load_precision_data(given.data)
    with given.progress() as progress:
        sheet = run(limit_cases(beliefs, given.limit), given.vaults, progress)
    for row in sheet.failures() if failures else ():
        given.print_beside(describe_failure(row))
    return given.result("precision", digest, sheet.overall(), sheet.categories())


@benchmark(app)
def staleness(
    given: BenchContext,
    pool: Annotated[
        bool, typer.Option("--pool", help="Evidence of all LongMemEval questions in one vault, not a vault for each.")
    ] = False,
    links: Annotated[
        Path | None, typer.Option("--links", metavar="FILE", help="Write every link between statements to this file.")
    ] = None,
) -> BenchResult:
    """Staleness: does the newest evidence rank first? LongMemEval and BEAM; links of LoCoMo, too.

    Example: lamina bench staleness --data longmemeval_oracle.json --links links.json
    """
    from benchmarks.conversation_data import load_conversations
    from benchmarks.staleness_benchmark import outdated_questions, run

    collections, digest = load_conversations(given.data, pooled=pool)
    selected = [collection for collection in collections if links or outdated_questions(collection)][: given.limit]
    with given.progress() as progress:
        sheet = run(selected, given.vaults, progress)
    if links is not None:
        links.write_text(json.dumps(sheet.links, indent=1, ensure_ascii=False), encoding="utf-8")
    return given.result("staleness", digest, sheet.overall(), sheet.categories(), k=DEPTH, pool=pool)


@benchmark(app)
def capture(
    given: BenchContext,
    sample: Annotated[
        Path | None, typer.Option("--sample", metavar="FILE", help="Write 200 random statements to this file.")
    ] = None,
    seed: Annotated[int, typer.Option(help="random seed of the sample")] = 1,
) -> BenchResult:
    """Capture: what is extracted from conversations; takes LoCoMo, LongMemEval, BEAM and change files.

    Example: lamina bench capture --data locomo10.json --sample statements.json
    """
    from benchmarks.capture_benchmark import load, run

    scenarios, digest = load(given.data)
    with given.progress() as progress:
        tally = run(scenarios[: given.limit], given.vaults, progress)
    if sample is not None:
        sample.write_text(json.dumps(tally.sample(SAMPLED, seed), indent=1, ensure_ascii=False), encoding="utf-8")
    return given.result("capture", digest, tally.overall(), tally.categories())


def _run_plain_retrieval(
    name: str, load: Callable[[Path], tuple[list[BenchCollection], str]], context: BenchContext
) -> BenchResult:
    from benchmarks.data_set import limit_collections

    collections, digest = load(context.data)
    return _run_retrieval(name, limit_collections(collections, context.limit), digest, context)


def _run_retrieval(
    name: str,
    collections: Sequence[BenchCollection],
    digest: str,
    context: BenchContext,
    apart: Set[str] = frozenset(),
    **options: object,
) -> BenchResult:
    from benchmarks.retrieval_benchmark import run

    with context.progress() as progress:
        grades = run(collections, context.vaults, progress)
    return context.result(name, digest, dict(grades.overall(apart)), dict(grades.categories()), k=DEPTH, **options)
