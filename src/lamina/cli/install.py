"""`lamina install`, `lamina uninstall` and `lamina hook`: connect hosts, the programs that run agents."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli import hook
from lamina.cli.command import command
from lamina.cli.output import Block, Facts, Line, View
from lamina.cli.session import Session
from lamina.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lamina.hosts.edit import Edited
    from lamina.hosts.host import Host, Surroundings
    from lamina.hosts.parts import Part, Wanted

app = typer.Typer()
PANEL = "Serve"

HostName = Annotated[
    str,
    typer.Argument(metavar="HOST", help="claude-code, claude-desktop, cursor, vscode or codex.", show_default=False),
]
Project = Annotated[bool, typer.Option("--project", help="For the project in this folder, not for your user account.")]


@command(
    app, "install", panel=PANEL, changes=True, example="lamina install claude-code  ·  lamina install cursor --write"
)
def install(
    session: Session,
    host: HostName,
    write: Annotated[
        bool, typer.Option("--write", help="Write into the host's files; a backup of each is kept.")
    ] = False,
    project: Project = False,
    http: Annotated[
        str | None,
        typer.Option(
            "--http", metavar="URL", help="Connect to `lamina serve` at this address instead of starting a program."
        ),
    ] = None,
    with_token: Annotated[
        bool,
        typer.Option(
            "--with-token", help="Write the token in LAMINA_TOKEN into the file, which only you can then read."
        ),
    ] = False,
    hooks: Annotated[
        bool | None,
        typer.Option(
            "--hooks/--no-hooks", help="Claude Code: also add context and capture hooks. Default: yes without --http."
        ),
    ] = None,
) -> View:
    """Print the configuration that lets a host use this memory; with --write, add it to the host's files."""
    from lamina.hosts.host import Host
    from lamina.hosts.installation import put_in
    from lamina.hosts.parts import hooks_taken_out, parts

    chosen_host, project_folder = _host(host), Path.cwd() if project else None
    if write:
        session.choice.needed()
    connection, user = _wanted(session, http, with_token, hooks, project), _surroundings()
    config_parts = parts(chosen_host, connection, user, project_folder)
    if not write:
        return _to_paste(session, chosen_host, config_parts)
    if hooks is False and chosen_host is Host.CLAUDE_CODE:
        config_parts.append(hooks_taken_out(connection, user, project_folder))
    return _done(session, chosen_host, put_in(config_parts, datetime.now(UTC), write=not session.dry_run))


@command(
    app,
    "uninstall",
    panel=PANEL,
    changes=True,
    example="lamina uninstall claude-code  ·  lamina uninstall codex --project",
)
def uninstall(session: Session, host: HostName, project: Project = False) -> View:
    """Remove from a host's files what `lamina install` added, and nothing else; the memory is not changed."""
    from lamina.hosts.installation import take_out
    from lamina.hosts.parts import parts

    chosen_host, project_folder = _host(host), Path.cwd() if project else None
    config_parts = parts(
        chosen_host, _wanted(session, None, False, None, project), _surroundings(), project_folder, every=True
    )
    return _done(session, chosen_host, take_out(config_parts, datetime.now(UTC), write=not session.dry_run))


@command(app, "hook", panel=PANEL, example="lamina hook stop < call.json")
def hook_(
    session: Session,
    event: Annotated[str, typer.Argument(help="session-start, user-prompt-submit, stop, pre-compact or session-end.")],
    limit: Annotated[float, typer.Option(metavar="SECONDS", help="Time limit.", min=0.01, max=600)] = 1.5,
) -> None:
    """Handle a session event of Claude Code: read its JSON from stdin, print context, capture new turns.

    It always exits with 0, and writes one line to `hooks/hooks.log` in the vault's state folder.
    """
    if session.choice.exists:
        sys.stdout.write(hook.run(event, session.choice.folder, session.scope, limit))


def _host(name: str) -> Host:
    from lamina.hosts.host import Host

    try:
        return Host(name)
    except ValueError as error:
        raise InvalidInput(f"unknown host {name!r}; choose one of {', '.join(Host)}") from error


def _surroundings() -> Surroundings:
    from lamina.hosts.host import Surroundings

    return Surroundings(Path.home(), os.environ, sys.platform)


def _wanted(session: Session, http: str | None, with_token: bool, hooks: bool | None, project: bool) -> Wanted:
    from lamina.hosts.installation import address, program
    from lamina.hosts.parts import Wanted

    vault = session.choice.folder.resolve()
    return Wanted(
        program(sys.executable),
        vault,
        session.scope,
        address(http) if http else None,
        _token(http, project) if with_token else None,
        http is None if hooks is None else hooks,
    )


def _token(http: str | None, project: bool) -> str:
    from lamina.hosts.host import TOKEN

    if not http or project:
        raise InvalidInput(
            "--with-token needs --http and cannot be used with --project, because project files are shared"
        )
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise InvalidInput(f"{TOKEN} is empty; create a token with `lamina token create NAME` and export it")
    return token


def _to_paste(session: Session, host: Host, told: Sequence[Part]) -> View:
    blocks: list[Block] = []
    for part in told:
        blocks += [Line(f"{part.what}: add this to {part.file}", "bold"), Line(part.shown.rstrip("\n")), Line()]
    write_command = session.shell("install", host.value, "--write")
    blocks.append(Line(f"to write it there, with a backup, run `{write_command}` with the same options", "dim"))
    files = [{"path": str(part.file), "what": part.what, "add": part.shown} for part in told]
    return View(
        {"host": host.value, "vault": str(session.choice.folder), "files": files, "written": False}, tuple(blocks)
    )


def _done(session: Session, host: Host, edited: Sequence[Edited]) -> View:
    rows = tuple((edit.done.value, str(edit.path)) for edit in edited)
    backups = tuple(("backup", str(edit.backup)) for edit in edited if edit.backup)
    files = [
        {"path": str(edit.path), "done": edit.done.value, "backup": str(edit.backup) if edit.backup else None}
        for edit in edited
    ]
    has_changes = any(edit.done.value != "unchanged" for edit in edited) and not session.dry_run
    data = {"host": host.value, "files": files, "written": has_changes, "dry_run": session.dry_run}
    closing = (Line(f"restart {host.value} to apply it", "dim"),) if has_changes else ()
    return View(data, (Facts((*rows, *backups)), *closing))
