"""`lamina bench natural` and `lamina bench chains`: current values, with and without the state model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from benchmarks.bench_result import BenchResult
from benchmarks.bench_vaults import BenchVaults, ChatEndpoint, Progress, StateModel
from benchmarks.chart import Groups
from benchmarks.command_options import AsJson, Chart, Failures, Keep, Light, exit_on_error, progress_bars
from lamina.errors import InvalidInput, LaminaError

Without = Annotated[bool, typer.Option("--without-model", help="Without the state model.")]
Compare = Annotated[
    bool, typer.Option("--compare", help="Run with and without the state model; both figures side by side.")
]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="The first N of each file only.")]
WITH_MODEL, WITHOUT_MODEL = "with model", "without model"


@dataclass(frozen=True, slots=True)
class RunMeasurement:
    """The result of one run: figures overall and by category, bars of a chart, and the failed checks as text."""

    overall: Mapping[str, Any]
    categories: Mapping[str, Any]
    bars: Groups
    failures: Iterable[str]


Measure: TypeAlias = Callable[[BenchVaults, Progress], RunMeasurement]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The caller's options for a benchmark of current values."""

    light: bool
    without_model: bool
    compare: bool
    limit: int | None
    keep: Path | None
    failures: bool
    as_json: bool
    chart: Path | None
    background: bool = False
    chat: ChatEndpoint | None = None

    def vaults(self) -> dict[str, BenchVaults]:
        """Return the vaults of each run; InvalidInput if the options contradict each other."""
        if self.compare and self.without_model:
            raise InvalidInput("--compare already includes the run without the model; leave out --without-model")
        if self.compare:
            return {WITH_MODEL: self._vaults(WITH_MODEL, "auto"), WITHOUT_MODEL: self._vaults(WITHOUT_MODEL, "off")}
        if self.without_model:
            return {WITHOUT_MODEL: self._vaults("", "off")}
        return {WITH_MODEL: self._vaults("", None)}

    def _vaults(self, subfolder: str, state_model: StateModel | None) -> BenchVaults:
        keep = self.keep / subfolder.replace(" ", "-") if self.keep else None
        return BenchVaults(
            light=self.light, keep=keep, state_model=state_model, background=self.background, chat=self.chat
        )


def natural(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILES]...", help="Natural talk; by default the repository's own.")
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Only the people that nothing was tuned on, instead of the others.")
    ] = False,
    background: Annotated[
        bool, typer.Option("--background", help="Read captured words in the background, as programs do by default.")
    ] = False,
    turns: Annotated[
        int | None, typer.Option("--turns", metavar="N", min=1, help="The first N turns of each person only.")
    ] = None,
    chat: Annotated[
        str | None, typer.Option("--chat", metavar="MODEL", help="Extract with this chat model as well.")
    ] = None,
    chat_url: Annotated[
        str | None, typer.Option("--chat-url", metavar="URL", help="Address of the chat model.")
    ] = None,
    light: Light = False,
    without_model: Without = False,
    compare: Compare = False,
    limit: Limit = None,
    keep: Keep = None,
    failures: Failures = False,
    as_json: AsJson = False,
    chart: Chart = None,
) -> None:
    """Natural talk: is the current value first, is what was never said unknown, and are links right?

    Example: lamina bench natural --compare
    """
    from benchmarks.natural_benchmark import run
    from benchmarks.natural_data import default_files, load_people
    from benchmarks.natural_scores import describe_failure, percent_bars

    endpoint = ChatEndpoint(chat, chat_url) if chat else None
    options = RunOptions(light, without_model, compare, limit, keep, failures, as_json, chart, background, endpoint)
    with exit_on_error():
        if files and held_out:
            raise InvalidInput("--held-out chooses among the repository's own files; leave it out or name no files")
        if chat_url and not chat:
            raise InvalidInput("--chat-url needs --chat: the name of the model")
        people, digests = load_people(files or default_files(held_out=held_out), limit, turns)

        def measure(vaults: BenchVaults, progress: Progress) -> RunMeasurement:
            sheet = run(people, vaults, progress)
            overall = sheet.overall()
            return RunMeasurement(
                overall, sheet.people(), percent_bars(overall), map(describe_failure, sheet.failures())
            )

        _run_and_show("natural", digests, options, measure)


def chains(
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", help="STALE-chain or WikiState files.")],
    light: Light = False,
    without_model: Without = False,
    compare: Compare = False,
    limit: Limit = None,
    keep: Keep = None,
    failures: Failures = False,
    as_json: AsJson = False,
    chart: Chart = None,
) -> None:
    """Chains of change: of a value that changed several times, is the current one first, without earlier ones?

    Example: lamina bench chains stale_chain.json.gz wikistate.json.gz --compare
    """
    from benchmarks.chain_scores import describe_failure, percent_bars
    from benchmarks.change_chain_benchmark import load_chains, run

    options = RunOptions(light, without_model, compare, limit, keep, failures, as_json, chart)
    with exit_on_error():
        entries, digests = load_chains(files, limit)

        def measure(vaults: BenchVaults, progress: Progress) -> RunMeasurement:
            sheet = run(entries, vaults, progress)
            by_file = sheet.files()
            return RunMeasurement(
                sheet.overall(), by_file, percent_bars(by_file), map(describe_failure, sheet.failures())
            )

        _run_and_show("chains", digests, options, measure)


@contextmanager
def explain_missing_weights() -> Iterator[None]:
    """Turn a missing file of the state model into a LaminaError that says what to do."""
    try:
        yield
    except FileNotFoundError as error:
        path = Path(error.filename or "")
        if path.parent.name != "weights":
            raise
        raise LaminaError(
            f"the state model's file {path.name} is missing: run `make train`, or add --without-model"
        ) from error


def _run_and_show(bench: str, digests: Mapping[str, str], options: RunOptions, measure: Measure) -> None:
    from benchmarks.chart import write_chart
    from benchmarks.run_comparison import join_bars, print_json, print_tables

    runs: dict[str, BenchResult] = {}
    bars: dict[str, Groups] = {}
    for name, vaults in options.vaults().items():
        with progress_bars() as progress, explain_missing_weights():
            measured = measure(vaults, progress)
        for failure in measured.failures if options.failures else ():
            typer.echo(f"{name}: {failure}", err=options.as_json)
        settings = {**vaults.settings(), "limit": options.limit, "files": dict(digests)}
        digest = next(iter(digests.values())) if len(digests) == 1 else None
        runs[name] = BenchResult(bench, digest, settings, measured.overall, measured.categories, vaults.speed())
        bars[name] = measured.bars
    if options.chart is not None:
        write_chart(options.chart, f"lamina bench {bench} (%)", join_bars(bars))
    if options.as_json:
        print_json(runs)
    else:
        print_tables(runs)
