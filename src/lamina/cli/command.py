"""What every command shares: `--vault`, `--scope` and `--json` before or after its name, and one way to end."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from lamina.cli import exits
from lamina.cli.output import Output, View
from lamina.cli.session import Session
from lamina.cli.vault_choice import choose
from lamina.errors import LaminaError

Vault = Annotated[
    Path | None,
    typer.Option(
        "--vault",
        metavar="FOLDER",
        help="The vault; else LAMINA_VAULT, else the nearest one upwards, else ~/lamina.",
        show_default=False,
    ),
]
Scope = Annotated[
    str | None,
    typer.Option("--scope", metavar="SCOPE", help="Whose memory: org:NAME or org:NAME:agent:NAME.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; errors as JSON on stderr.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, change nothing.")]

F = TypeVar("F", bound=Callable[..., View | None])


@dataclass(frozen=True, slots=True)
class Shared:
    """What stood before the command's name, or after it."""

    vault: Path | None = None
    scope: str | None = None
    as_json: bool = False

    def over(self, before: Shared) -> Shared:
        """These, completed by what stood before the name."""
        return Shared(self.vault or before.vault, self.scope or before.scope, self.as_json or before.as_json)

    def session(self, *, dry_run: bool = False, may_make: bool = False) -> Session:
        choice = choose(self.vault, os.environ, Path.cwd(), Path.home())
        output = Output(as_json=self.as_json)
        return Session(choice, output, scope=self.scope, dry_run=dry_run, may_make=may_make)


def command(
    app: typer.Typer, name: str, *, panel: str, example: str, changes: bool = False, may_make: bool = False
) -> Callable[[F], F]:
    """Register a function `(session, …) -> View` as a command; the function itself stays callable as it is."""

    def register(function: F) -> F:
        def run(ctx: typer.Context, **given: Any) -> None:
            shared = Shared(given.pop("vault"), given.pop("scope"), given.pop("json")).over(ctx.obj or Shared())
            dry_run = given.pop("dry_run", False)
            with ending(Output(as_json=shared.as_json), name):
                with shared.session(dry_run=dry_run, may_make=may_make) as session:
                    view = function(session, **given)
                    if view is not None:
                        session.output.show(view)
                if view is not None and view.code:
                    raise typer.Exit(view.code)

        _dress(run, function, changes=changes)
        app.command(name, help=inspect.getdoc(function), epilog=f"Example: {example}", rich_help_panel=panel)(run)
        return function

    return register


@contextmanager
def ending(output: Output, name: str) -> Iterator[None]:
    """Errors become a line, a hint and an exit code; bugs keep their traceback."""
    try:
        yield
    except BrokenPipeError:
        # Whoever read the output has gone; the flush at the interpreter's exit must not complain of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(exits.READER_GONE) from None
    except KeyboardInterrupt:
        raise typer.Exit(exits.INTERRUPTED) from None
    except (LaminaError, OSError) as error:
        output.error(type(error).__name__, str(error), exits.hint_of(error, name))
        raise typer.Exit(exits.code_of(error)) from None


def _dress(run: Callable[..., None], function: Callable[..., View | None], *, changes: bool) -> None:
    """Give the wrapper the function's own parameters and the shared ones, for Typer to read."""
    hints = get_type_hints(function, include_extras=True)
    own = [
        parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in list(inspect.signature(function).parameters.values())[1:]
    ]
    shared = [("vault", Vault, None), ("scope", Scope, None), ("json", AsJson, False)]
    if changes:
        shared.insert(0, ("dry_run", DryRun, False))
    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *own,
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for name, kind, default in shared
        ),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
