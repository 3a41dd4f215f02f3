"""The command line application: all commands and command groups."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import Annotated

import typer

from lamina.cli import (
    bench,
    dream,
    erase,
    import_,
    init,
    install,
    mcp,
    models,
    proposals,
    read,
    review,
    serve,
    token,
    tour,
    try_,
    upkeep,
    working,
    write,
)
from lamina.cli.command import AsJson, Scope, Shared, Vault, ending
from lamina.cli.output import Output

EPILOG = (
    "Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 refused. "
    "Results go to stdout, notes and errors to stderr. NO_COLOR is respected."
)

app = typer.Typer(
    name="lamina", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich", epilog=EPILOG
)
for family in (init, tour, try_, write, erase, import_, proposals, read, upkeep, dream, serve, mcp, install, bench):
    app.registered_commands += family.app.registered_commands
app.add_typer(models.app, rich_help_panel="Upkeep")
app.add_typer(token.app, rich_help_panel=token.PANEL)
app.add_typer(working.run, rich_help_panel=working.PANEL)
app.add_typer(working.block, rich_help_panel=working.PANEL)
app.add_typer(review.review, rich_help_panel=review.PANEL)
for group in (proposals.profile, proposals.semantic, proposals.procedural):
    app.add_typer(group, rich_help_panel=review.PANEL)


@app.callback(invoke_without_command=True)
def lamina(
    ctx: typer.Context,
    vault: Vault = None,
    scope: Scope = None,
    json: AsJson = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Long-term memory in markdown files you own. Without a command, show the status and what to do next."""
    ctx.obj = shared = Shared(vault, scope, json)
    if ctx.invoked_subcommand is not None:
        return
    if version:
        from lamina import __version__

        sys.stdout.write(__version__ + "\n")
        return
    from lamina.cli.card import card

    with ending(Output(as_json=json), ""), shared.session() as session:
        session.output.show(card(session))


def run() -> None:
    """Run the command line; text that the terminal cannot display is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError):
                stream.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    app()
