"""`lamina install` and `lamina uninstall`: a memory made known to the programs that host agents. And their hooks."""

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
Project = Annotated[bool, typer.Option("--project", help="For the project in this folder instead of for you.")]


@command(
    app, "install", panel=PANEL, changes=True, example="lamina install claude-code  ·  lamina install cursor --write"
)
def install(
    session: Session,
    host: HostName,
    write: Annotated[bool, typer.Option("--write", help="Write it into the host's files; a copy is kept.")] = False,
    project: Project = False,
    http: Annotated[
        str | None, typer.Option("--http", metavar="URL", help="Reach `lamina serve` there instead of starting one.")
    ] = None,
    with_token: Annotated[
        bool, typer.Option("--with-token", help="Write the token of LAMINA_TOKEN itself, in a file only you can read.")
    ] = False,
    hooks: Annotated[
        bool | None,
        typer.Option("--hooks/--no-hooks", help="Claude Code: context and capture; default without --http."),
    ] = None,
) -> View:
    """Print what a host has to be told so that its agents can use this memory, and write it where it belongs."""
    from lamina.hosts.host import Host
    from lamina.hosts.installation import put_in
    from lamina.hosts.parts import hooks_taken_out, parts

    name, where = _host(host), Path.cwd() if project else None
    if write:
        session.choice.needed()
    wanted, around = _wanted(session, http, with_token, hooks, project), _surroundings()
    told = parts(name, wanted, around, where)
    if not write:
        return _to_paste(session, name, told)
    if hooks is False and name is Host.CLAUDE_CODE:
        told.append(hooks_taken_out(wanted, around, where))
    return _done(session, name, put_in(told, datetime.now(UTC), write=not session.dry_run))


@command(
    app,
    "uninstall",
    panel=PANEL,
    changes=True,
    example="lamina uninstall claude-code  ·  lamina uninstall codex --project",
)
def uninstall(session: Session, host: HostName, project: Project = False) -> View:
    """Take out of a host's files what `lamina install` added, and nothing else; the memory itself stays as it is."""
    from lamina.hosts.installation import take_out
    from lamina.hosts.parts import parts

    name, where = _host(host), Path.cwd() if project else None
    told = parts(name, _wanted(session, None, False, None, project), _surroundings(), where, every=True)
    return _done(session, name, take_out(told, datetime.now(UTC), write=not session.dry_run))


@command(app, "hook", panel=PANEL, example="lamina hook stop < call.json")
def hook_(
    session: Session,
    event: Annotated[str, typer.Argument(help="session-start, user-prompt-submit, stop, pre-compact or session-end.")],
    limit: Annotated[float, typer.Option(metavar="SECONDS", help="When it gives up.", min=0.01, max=600)] = 1.5,
) -> None:
    """What Claude Code runs at moments of a session: its call comes in as JSON, context goes out, words are kept.

    It ends with 0 whatever happens, and leaves a line in `hooks/hooks.log` of the vault's state folder.
    """
    if session.choice.exists:
        sys.stdout.write(hook.run(event, session.choice.folder, session.scope, limit))


def _host(name: str) -> Host:
    from lamina.hosts.host import Host

    try:
        return Host(name)
    except ValueError as error:
        raise InvalidInput(f"there is no host {name!r}; choose one of {', '.join(Host)}") from error


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
            "a token is written for --http alone, and never into the files of a project: those are shared"
        )
    found = os.environ.get(TOKEN, "").strip()
    if not found:
        raise InvalidInput(f"{TOKEN} is empty; make a token with `lamina token create NAME` and export it")
    return found


def _to_paste(session: Session, host: Host, told: Sequence[Part]) -> View:
    blocks: list[Block] = []
    for part in told:
        blocks += [Line(f"{part.what}: add this to {part.file}", "bold"), Line(part.shown.rstrip("\n")), Line()]
    again = session.shell("install", host.value, "--write")
    blocks.append(Line(f"`{again}`, with the same options, writes it there and keeps a copy", "dim"))
    files = [{"path": str(part.file), "what": part.what, "add": part.shown} for part in told]
    return View(
        {"host": host.value, "vault": str(session.choice.folder), "files": files, "written": False}, tuple(blocks)
    )


def _done(session: Session, host: Host, edited: Sequence[Edited]) -> View:
    rows = tuple((each.done.value, str(each.path)) for each in edited)
    copies = tuple(("copy", str(each.backup)) for each in edited if each.backup)
    files = [
        {"path": str(each.path), "done": each.done.value, "backup": str(each.backup) if each.backup else None}
        for each in edited
    ]
    changed = any(each.done.value != "unchanged" for each in edited) and not session.dry_run
    data = {"host": host.value, "files": files, "written": changed, "dry_run": session.dry_run}
    last = (Line(f"start {host.value} again to let it know", "dim"),) if changed else ()
    return View(data, (Facts((*rows, *copies)), *last))
