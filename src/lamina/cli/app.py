"""The command line application: all commands and command groups."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import Annotated

import typer

from lamina.cli import (
    checkout_commands,
    dream,
    erase,
    import_,
    init,
    install,
    models,
    proposals_and_quarantine,
    read,
    review,
    serve,
    token,
    try_,
    upkeep,
    working_memory,
    write,
)
from lamina.cli.command import JsonOption, ScopeOption, SharedOptions, VaultOption, run_command

EPILOG = (
    "Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 refused. "
    "Results go to stdout, notes and errors to stderr. NO_COLOR is respected."
)

app = typer.Typer(
    name="lamina", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich", epilog=EPILOG
)
for commands in (
    init.app,
    checkout_commands.tour_app,
    try_.app,
    write.app,
    erase.app,
    import_.app,
    proposals_and_quarantine.app,
    read.app,
    upkeep.app,
    dream.app,
    serve.app,
    install.app,
    checkout_commands.bench_app,
):
    app.registered_commands += commands.registered_commands
proposal_groups = (
    proposals_and_quarantine.profile,
    proposals_and_quarantine.semantic,
    proposals_and_quarantine.procedural,
)
for group in (models.app, token.app, working_memory.run, working_memory.block, review.review, *proposal_groups):
    app.add_typer(group)


@app.callback(invoke_without_command=True)
def lamina(
    ctx: typer.Context,
    vault: VaultOption = None,
    scope: ScopeOption = None,
    json: JsonOption = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Long-term memory in markdown files you own. Without a command, show the status and what to do next."""
    ctx.obj = shared = SharedOptions(vault, scope, json)
    if ctx.invoked_subcommand is not None:
        return
    if version:
        from lamina import __version__

        sys.stdout.write(__version__ + "\n")
        return
    from lamina.cli.start_screen import build_status_card

    run_command(shared, "", build_status_card, {})


def run() -> None:
    """Run the command line; text that the terminal cannot display is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError):
                stream.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    app()
