"""`lamina install`, `lamina uninstall` and `lamina hook`: connect hosts, the programs that run agents."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli import hook_fast_start as hook
from lamina.cli.command import command
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, OutputBlock, TextLine
from lamina.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lamina.hosts.config_edit import HostFileEdit
    from lamina.hosts.config_parts import ConfigPart, ConnectionOptions
    from lamina.hosts.host_files import Host, UserEnvironment

app = typer.Typer(rich_help_panel="Serve")

HostArgument = Annotated[
    str,
    typer.Argument(metavar="HOST", help="claude-code, claude-desktop, cursor, vscode or codex.", show_default=False),
]
ProjectOption = Annotated[
    bool, typer.Option("--project", help="For the project in this folder, not for your user account.")
]


@command(app, "install", has_dry_run=True, example="lamina install claude-code  ·  lamina install cursor --write")
def install(
    session: CommandSession,
    host: HostArgument,
    write: Annotated[
        bool, typer.Option("--write", help="Write into the host's files; a backup of each is kept.")
    ] = False,
    project: ProjectOption = False,
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
) -> CommandResult:
    """Print the configuration that lets a host use this memory; with --write, add it to the host's files."""
    from lamina.hosts.config_parts import build_hook_removal, build_parts
    from lamina.hosts.host_files import Host
    from lamina.hosts.installation import add_parts

    chosen_host, project_folder = _parse_host(host), Path.cwd() if project else None
    if write:
        session.choice.require_folder()
    connection, user = _connection_options(session, http, with_token, hooks, project), _user_environment()
    config_parts = build_parts(chosen_host, connection, user, project_folder)
    if not write:
        return _render_snippets(session, chosen_host, config_parts)
    if hooks is False and chosen_host is Host.CLAUDE_CODE:
        config_parts.append(build_hook_removal(connection, user, project_folder))
    return _render_edits(session, chosen_host, add_parts(config_parts, datetime.now(UTC), write=not session.dry_run))


@command(
    app, "uninstall", has_dry_run=True, example="lamina uninstall claude-code  ·  lamina uninstall codex --project"
)
def uninstall(session: CommandSession, host: HostArgument, project: ProjectOption = False) -> CommandResult:
    """Remove from a host's files what `lamina install` added, and nothing else; the memory is not changed."""
    from lamina.hosts.config_parts import build_parts
    from lamina.hosts.installation import remove_parts

    chosen_host, project_folder = _parse_host(host), Path.cwd() if project else None
    config_parts = build_parts(
        chosen_host,
        _connection_options(session, None, False, None, project),
        _user_environment(),
        project_folder,
        include_all=True,
    )
    return _render_edits(session, chosen_host, remove_parts(config_parts, datetime.now(UTC), write=not session.dry_run))


@command(app, "hook", example="lamina hook stop < call.json")
def hook_(
    session: CommandSession,
    event: Annotated[str, typer.Argument(help="session-start, user-prompt-submit, stop, pre-compact or session-end.")],
    limit: Annotated[float, typer.Option(metavar="SECONDS", help="Time limit.", min=0.01, max=600)] = 1.5,
) -> None:
    """Handle a session event of Claude Code: read its JSON from stdin, print context, capture new turns.

    It always exits with 0, and writes one line to `hooks/hooks.log` in the vault's state folder.
    """
    if session.choice.exists:
        sys.stdout.write(hook.run(event, session.choice.folder, session.scope, limit))


def _parse_host(name: str) -> Host:
    from lamina.hosts.host_files import Host

    try:
        return Host(name)
    except ValueError as error:
        raise InvalidInput(f"unknown host {name!r}; choose one of {', '.join(Host)}") from error


def _user_environment() -> UserEnvironment:
    from lamina.hosts.host_files import UserEnvironment

    return UserEnvironment(Path.home(), os.environ, sys.platform)


def _connection_options(
    session: CommandSession, http: str | None, with_token: bool, hooks: bool | None, project: bool
) -> ConnectionOptions:
    from lamina.hosts.config_parts import ConnectionOptions
    from lamina.hosts.installation import find_program, parse_mcp_url

    vault = session.choice.folder.resolve()
    return ConnectionOptions(
        find_program(sys.executable),
        vault,
        session.scope,
        parse_mcp_url(http) if http else None,
        _read_token(http, project) if with_token else None,
        http is None if hooks is None else hooks,
    )


def _read_token(http: str | None, project: bool) -> str:
    from lamina.hosts.host_files import TOKEN_VARIABLE

    if not http or project:
        raise InvalidInput(
            "--with-token needs --http and cannot be used with --project, because project files are shared"
        )
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise InvalidInput(f"{TOKEN_VARIABLE} is empty; create a token with `lamina token create NAME` and export it")
    return token


def _render_snippets(session: CommandSession, host: Host, parts: Sequence[ConfigPart]) -> CommandResult:
    blocks: list[OutputBlock] = []
    for part in parts:
        blocks += [
            TextLine(f"{part.name}: add this to {part.file}", "bold"),
            TextLine(part.snippet.rstrip("\n")),
            TextLine(),
        ]
    write_command = session.format_command("install", host.value, "--write")
    blocks.append(TextLine(f"to write it there, with a backup, run `{write_command}` with the same options", "dim"))
    files = [{"path": str(part.file), "what": part.name, "add": part.snippet} for part in parts]
    return CommandResult(
        {"host": host.value, "vault": str(session.choice.folder), "files": files, "written": False}, tuple(blocks)
    )


def _render_edits(session: CommandSession, host: Host, edits: Sequence[HostFileEdit]) -> CommandResult:
    rows = tuple((edit.result.value, str(edit.path)) for edit in edits)
    backups = tuple(("backup", str(edit.backup)) for edit in edits if edit.backup)
    files = [
        {"path": str(edit.path), "done": edit.result.value, "backup": str(edit.backup) if edit.backup else None}
        for edit in edits
    ]
    has_changes = any(edit.result.value != "unchanged" for edit in edits) and not session.dry_run
    data = {"host": host.value, "files": files, "written": has_changes, "dry_run": session.dry_run}
    closing = (TextLine(f"restart {host.value} to apply it", "dim"),) if has_changes else ()
    return CommandResult(data, (FieldList((*rows, *backups)), *closing))
