"""`lamina token`: manages the access tokens of clients and their rights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import AsJson, Scope, Shared, Vault, command, ending
from lamina.cli.output import Block, Facts, Grid, Json, Line, Output, View
from lamina.cli.session import Session
from lamina.cli.told import date
from lamina.errors import InvalidInput
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.access import Token, Tokens

PANEL = "Serve"

app = typer.Typer(
    name="token",
    invoke_without_command=True,
    epilog="Example: lamina token  ·  lamina token create ci --right read --days 30  ·  lamina token revoke ci",
)

Name = Annotated[str, typer.Argument(help="The name of the token: one for each agent or person.", show_default=False)]


@app.callback()
def of_tokens(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Manage the access tokens for `lamina serve`; each has a scope and a right."""
    ctx.obj = shared = Shared(vault, scope, json).over(ctx.obj or Shared())
    if ctx.invoked_subcommand is None:
        with ending(Output(as_json=shared.as_json), "token"), shared.session() as session:
            session.output.show(list_(session))


@command(
    app, "create", panel=PANEL, example="lamina token create notes-agent --right write --scope org:local:agent:notes"
)
def create(
    session: Session,
    name: Name,
    right: Annotated[str, typer.Option(help="read, write or admin; each includes those before it.")] = "write",
    origin: Annotated[
        str, typer.Option("--as", help="The origin of what it writes: agent, or human for yourself.")
    ] = "agent",
    days: Annotated[float | None, typer.Option(help="Days after which it expires.")] = None,
) -> View:
    """Create a token and print it once; only its hash is stored."""
    from lamina.access import Right
    from lamina.atom.trust import Origin

    try:
        parsed_right, parsed_origin = Right(right), Origin(origin)
    except ValueError as error:
        raise InvalidInput(f"{error}; --right is one of {', '.join(Right)}, --as is agent or human") from error
    token, secret = _tokens(session).create(name, session.memory.scope, parsed_right, parsed_origin, days)
    pairs = (("token", secret), *_facts(token))
    note = Line(
        "copy it now: it is not shown again. Send it as `Authorization: Bearer …`, or log in with it.", "yellow"
    )
    return View({"token": secret, **_data(token)}, (Facts(pairs), note))


@command(app, "list", panel=PANEL, example="lamina token list --json")
def list_(session: Session) -> View:
    """List the tokens of this vault; their secrets are not stored."""
    tokens = _tokens(session).list()
    rows = tuple(tuple(value for _, value in _facts(token)) for token in tokens)
    blocks: list[Block] = [
        Grid(("id", "name", "scope", "right", "as", "created", "until"), rows) if rows else Line("no tokens")
    ]
    return View({"tokens": [_data(token) for token in tokens]}, tuple(blocks))


@command(app, "revoke", panel=PANEL, example="lamina token revoke notes-agent")
def revoke(session: Session, name: Name) -> View:
    """Revoke a token and every browser session that logged in with it, immediately."""
    token = _tokens(session).revoke(name)
    return View(_data(token), (Line(f"revoked: {token.name}", "bold"),))


def _tokens(session: Session) -> Tokens:
    from lamina.access import Tokens

    return Tokens(session.memory.state, session.memory.now)


def _facts(token: Token) -> tuple[tuple[str, str], ...]:
    until = date(token.expires_at) or "revoked"
    return (
        ("id", token.id),
        ("name", token.name),
        ("scope", token.scope),
        ("right", token.right.value),
        ("as", token.origin.value),
        ("made", date(token.made_at)),
        ("until", until),
    )


def _data(token: Token) -> Json:
    return {
        "id": token.id,
        "name": token.name,
        "scope": token.scope,
        "right": token.right.value,
        "as": token.origin.value,
        "made_at": format_time(token.made_at),
        "expires_at": format_time(token.expires_at) if token.expires_at else None,
    }
