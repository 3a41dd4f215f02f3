"""What all commands share: the options `--vault`, `--scope` and `--json`, opening the vault, and exit codes."""

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
        help="The vault. Default: LAMINA_VAULT, else the nearest vault in a parent folder, else ~/lamina.",
        show_default=False,
    ),
]
Scope = Annotated[
    str | None,
    typer.Option("--scope", metavar="SCOPE", help="Whose memory: org:NAME or org:NAME:agent:NAME.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document to stdout; errors as JSON to stderr.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, without changing anything.")]

F = TypeVar("F", bound=Callable[..., View | None])


@dataclass(frozen=True, slots=True)
class Shared:
    """The options that every command accepts, before or after its name."""

    vault: Path | None = None
    scope: str | None = None
    as_json: bool = False

    def over(self, before: Shared) -> Shared:
        """Return these options, with missing ones taken from those before the command name."""
        return Shared(self.vault or before.vault, self.scope or before.scope, self.as_json or before.as_json)

    def session(self, *, dry_run: bool = False, may_make: bool = False) -> Session:
        """Return a session on the chosen vault."""
        choice = choose(self.vault, os.environ, Path.cwd(), Path.home())
        output = Output(as_json=self.as_json)
        return Session(choice, output, scope=self.scope, dry_run=dry_run, may_make=may_make)


def command(
    app: typer.Typer, name: str, *, panel: str, example: str, changes: bool = False, may_make: bool = False
) -> Callable[[F], F]:
    """Register a function `(session, …) -> CommandResult` as a command; the function itself stays callable."""

    def register(function: F) -> F:
        def run(ctx: typer.Context, **arguments: Any) -> None:
            shared = Shared(arguments.pop("vault"), arguments.pop("scope"), arguments.pop("json")).over(
                ctx.obj or Shared()
            )
            dry_run = arguments.pop("dry_run", False)
            with ending(Output(as_json=shared.as_json), name):
                with shared.session(dry_run=dry_run, may_make=may_make) as session:
                    view = function(session, **arguments)
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
    """Turn expected errors into a message, a hint and an exit code; other errors keep their traceback."""
    try:
        yield
    except BrokenPipeError:
        # The reader of the pipe is gone; the flush at the interpreter's exit must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(exits.READER_GONE) from None
    except KeyboardInterrupt:
        raise typer.Exit(exits.INTERRUPTED) from None
    except (LaminaError, OSError) as error:
        output.error(type(error).__name__, str(error), exits.hint_of(error, name))
        raise typer.Exit(exits.code_of(error)) from None


def _dress(run: Callable[..., None], function: Callable[..., View | None], *, changes: bool) -> None:
    """Give the wrapper the parameters of the function and the shared options, for Typer."""
    hints = get_type_hints(function, include_extras=True)
    command_parameters = [
        parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in list(inspect.signature(function).parameters.values())[1:]
    ]
    shared_options = [("vault", Vault, None), ("scope", Scope, None), ("json", AsJson, False)]
    if changes:
        shared_options.insert(0, ("dry_run", DryRun, False))
    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *command_parameters,
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for name, kind, default in shared_options
        ),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
