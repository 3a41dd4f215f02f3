"""Declare what all commands share: the options `--vault`, `--scope` and `--json`, opening the vault, and exit codes."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from lamina.cli import exit_codes
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandOutput, CommandResult
from lamina.cli.vault_choice import choose_vault
from lamina.errors import LaminaError

VaultOption = Annotated[
    Path | None,
    typer.Option(
        "--vault",
        metavar="FOLDER",
        help="The vault. Default: LAMINA_VAULT, else the nearest vault in a parent folder, else ~/lamina.",
        show_default=False,
    ),
]
ScopeOption = Annotated[
    str | None,
    typer.Option("--scope", metavar="SCOPE", help="Whose memory: org:NAME or org:NAME:agent:NAME.", show_default=False),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document to stdout; errors as JSON to stderr.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show what would change, without changing anything.")]

F = TypeVar("F", bound=Callable[..., CommandResult | None])


@dataclass(frozen=True, slots=True)
class SharedOptions:
    """The options that every command accepts, before or after its name."""

    vault: Path | None = None
    scope: str | None = None
    as_json: bool = False

    def completed_by(self, group_options: SharedOptions) -> SharedOptions:
        """Return these options, with missing ones taken from those before the command name."""
        return SharedOptions(
            self.vault or group_options.vault, self.scope or group_options.scope, self.as_json or group_options.as_json
        )

    def open_session(self, *, dry_run: bool = False, may_create: bool = False) -> CommandSession:
        """Return a session on the chosen vault."""
        choice = choose_vault(self.vault, os.environ, Path.cwd(), Path.home())
        output = CommandOutput(as_json=self.as_json)
        return CommandSession(choice, output, scope=self.scope, dry_run=dry_run, may_create=may_create)


def command(
    app: typer.Typer, name: str, *, example: str, has_dry_run: bool = False, may_create: bool = False
) -> Callable[[F], F]:
    """Register a function `(session, …) -> CommandResult` as a command; the function itself stays callable."""

    def register(function: F) -> F:
        def run(ctx: typer.Context, **arguments: Any) -> None:
            dry_run = arguments.pop("dry_run", False)
            run_command(_pop_shared(ctx, arguments), name, function, arguments, dry_run=dry_run, may_create=may_create)

        _set_signature(run, function, has_dry_run=has_dry_run)
        panel = app.info.rich_help_panel
        app.command(name, help=inspect.getdoc(function), epilog=f"Example: {example}", rich_help_panel=panel)(run)
        return function

    return register


def command_group(
    name: str, *, panel: str, help: str, example: str, default: Callable[..., CommandResult] | None = None
) -> typer.Typer:
    """Return a group of commands; without a command it runs `default`, or shows its help if there is none."""
    group = typer.Typer(
        name=name,
        help=help,
        epilog=f"Example: {example}",
        rich_help_panel=panel,
        no_args_is_help=default is None,
        invoke_without_command=default is not None,
    )

    def run(ctx: typer.Context, **arguments: Any) -> None:
        ctx.obj = _pop_shared(ctx, arguments)
        if default is not None and ctx.invoked_subcommand is None:
            run_command(ctx.obj, name, default, arguments)

    _set_signature(run, default)
    group.callback()(run)
    return group


def run_command(
    shared: SharedOptions,
    name: str,
    function: Callable[..., CommandResult | None],
    arguments: Mapping[str, Any],
    *,
    dry_run: bool = False,
    may_create: bool = False,
) -> None:
    """Call the function of a command with a session, print its result and exit with its exit code."""
    with exit_on_error(CommandOutput(as_json=shared.as_json), name):
        with shared.open_session(dry_run=dry_run, may_create=may_create) as session:
            result = function(session, **arguments)
            if result is not None:
                session.output.print_result(result)
        if result is not None and result.exit_code:
            raise typer.Exit(result.exit_code)


def _pop_shared(ctx: typer.Context, arguments: dict[str, Any]) -> SharedOptions:
    shared = SharedOptions(arguments.pop("vault"), arguments.pop("scope"), arguments.pop("json"))
    return shared.completed_by(ctx.obj or SharedOptions())


@contextmanager
def exit_on_error(output: CommandOutput, name: str) -> Iterator[None]:
    """Turn expected errors into a message, a hint and an exit code; other errors keep their traceback."""
    try:
        yield
    except BrokenPipeError:
        # The reader of the pipe is gone; the flush at the interpreter's exit must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(exit_codes.BROKEN_PIPE) from None
    except KeyboardInterrupt:
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    except (LaminaError, OSError) as error:
        output.print_error(type(error).__name__, str(error), exit_codes.hint_for(error, name))
        raise typer.Exit(exit_codes.exit_code_for(error)) from None


def _set_signature(
    run: Callable[..., None], function: Callable[..., CommandResult | None] | None, *, has_dry_run: bool = False
) -> None:
    """Give the wrapper the parameters of the function and the shared options, for Typer."""
    added: list[tuple[str, Any, Any]] = [("dry_run", DryRunOption, False)] if has_dry_run else []
    added += [("vault", VaultOption, None), ("scope", ScopeOption, None), ("json", JsonOption, False)]
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("ctx", kind, annotation=typer.Context),
        *(_command_parameters(function) if function else ()),
        *(inspect.Parameter(name, kind, annotation=hint, default=default) for name, hint, default in added),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


def _command_parameters(function: Callable[..., CommandResult | None]) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command after the session; `**options` are the keys of their typed dictionary."""
    hints, kind = get_type_hints(function, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    for parameter in [*inspect.signature(function).parameters.values()][1:]:
        if parameter.kind is not parameter.VAR_KEYWORD:
            yield parameter.replace(annotation=hints[parameter.name], kind=kind)
            continue
        (options,) = get_args(hints[parameter.name])
        for name, hint in get_type_hints(options, include_extras=True).items():
            default = False if get_args(hint)[0] is bool else None
            yield inspect.Parameter(name, kind, annotation=hint, default=default)
