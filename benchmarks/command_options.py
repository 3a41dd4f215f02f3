"""Share the options of all benchmark commands: the data, the output, and what is measured with which models."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from benchmarks.bench_result import BenchResult
from benchmarks.bench_vaults import BenchVaults, Progress
from benchmarks.result_printer import print_result
from lamina.errors import InvalidInput, LaminaError

Data = Annotated[Path, typer.Option("--data", metavar="PATH", help="The data set: JSON, also gzipped.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Chart = Annotated[
    Path | None, typer.Option("--chart", metavar="FILE", help="Also draw the figures: FILE.svg, or FILE.png.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Use only the first N conversations or questions.")
]
Light = Annotated[bool, typer.Option("--light", help="Use the light embedding model, not the transformer.")]
Failures = Annotated[bool, typer.Option("--failures", help="Print every failed check with its hits.")]
Keep = Annotated[Path | None, typer.Option("--keep", metavar="FOLDER", help="Keep the vaults in this folder.")]
_SHARED: tuple[tuple[str, Any, Any], ...] = (
    ("data", Data, inspect.Parameter.empty),
    ("as_json", AsJson, False),
    ("chart", Chart, None),
    ("limit", Limit, None),
    ("light", Light, False),
    ("keep", Keep, None),
)


@dataclass(frozen=True, slots=True)
class BenchContext:
    """The options of a run, and the vaults to measure with."""

    data: Path
    as_json: bool
    limit: int | None
    vaults: BenchVaults

    def progress(self) -> AbstractContextManager[Progress]:
        """Return a context in which each task has a progress bar on stderr."""
        return progress_bars()

    def print_beside(self, text: str) -> None:
        """Print text in addition to the result: to stderr if the result is JSON on stdout."""
        typer.echo(text, err=self.as_json)

    def result(
        self, bench: str, digest: str, overall: dict[str, Any], categories: dict[str, Any], **options: object
    ) -> BenchResult:
        """Return the figures together with the settings they were measured with."""
        settings = {**self.vaults.settings(), "limit": self.limit, **options}
        return BenchResult(bench, digest, settings, overall, categories, self.vaults.speed())


F = TypeVar("F", bound=Callable[..., BenchResult])


def benchmark(app: typer.Typer) -> Callable[[F], F]:
    """Register a function `(context, …) -> BenchResult` as a command that prints what it returns."""

    def register(function: F) -> F:
        def run(**chosen: Any) -> None:
            shared = {name: chosen.pop(name) for name, _, _ in _SHARED}
            with exit_on_error():
                vaults = BenchVaults(light=shared["light"], keep=shared["keep"])
                context = BenchContext(shared["data"], shared["as_json"], shared["limit"], vaults)
                print_result(function(context, **chosen), as_json=shared["as_json"], chart=shared["chart"])

        _set_signature(run, function)
        app.command(function.__name__, help=inspect.getdoc(function))(run)
        return function

    return register


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Yield a function that draws a bar on stderr for each task it reports; silent if stderr is not a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, Any] = {}

        def report(text: str, done: int, total: int) -> None:
            if text not in tasks:
                tasks[text] = bars.add_task(text, total=total)
            bars.update(tasks[text], completed=done, total=total)

        yield report


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Turn expected errors into a message and an exit code; other errors keep their traceback."""
    try:
        yield
    except (LaminaError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2 if isinstance(error, InvalidInput) else 1) from None


def _set_signature(run: Callable[..., None], function: Callable[..., BenchResult]) -> None:
    """Give the wrapper the shared parameters and the function's own, for Typer to read."""
    hints, kind = get_type_hints(function, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    own_parameters = [
        parameter.replace(annotation=hints[parameter.name], kind=kind)
        for parameter in list(inspect.signature(function).parameters.values())[1:]
    ]
    shared = [
        inspect.Parameter(name, kind, annotation=annotation, default=default) for name, annotation, default in _SHARED
    ]
    run.__signature__ = inspect.Signature([*shared, *own_parameters])  # type: ignore[attr-defined]
    run.__annotations__ = {item.name: item.annotation for item in (*shared, *own_parameters)}
