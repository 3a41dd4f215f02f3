"""`lamina token`: manages the access tokens of clients and their rights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command, command_group
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, Json, OutputBlock, TextGrid, TextLine
from lamina.cli.record_views import format_day
from lamina.errors import InvalidInput
from lamina.text.timestamps import format_time

if TYPE_CHECKING:
    from lamina.access import AccessToken, AccessTokenStore


def _list_tokens(session: CommandSession) -> CommandResult:
    return list_(session)


app = command_group(
    "token",
    panel="Serve",
    help="Manage the access tokens for `lamina serve`; each has a scope and a right.",
    example="lamina token  ·  lamina token create ci --right read --days 30  ·  lamina token revoke ci",
    default=_list_tokens,
)

NameArgument = Annotated[
    str, typer.Argument(help="The name of the token: one for each agent or person.", show_default=False)
]


@command(app, "create", example="lamina token create notes-agent --right write --scope org:local:agent:notes")
def create(
    session: CommandSession,
    name: NameArgument,
    right: Annotated[str, typer.Option(help="read, write or admin; each includes those before it.")] = "write",
    origin: Annotated[
        str, typer.Option("--as", help="The origin of what it writes: agent, or human for yourself.")
    ] = "agent",
    days: Annotated[float | None, typer.Option(help="Days after which it expires.")] = None,
) -> CommandResult:
    """Create a token and print it once; only its hash is stored."""
    from lamina.access import Right
    from lamina.atom.provenance import Origin

    try:
        parsed_right, parsed_origin = Right(right), Origin(origin)
    except ValueError as error:
        raise InvalidInput(f"{error}; --right is one of {', '.join(Right)}, --as is agent or human") from error
    token, secret = _token_store(session).create(name, session.memory.scope, parsed_right, parsed_origin, days)
    pairs = (("token", secret), *_token_fields(token))
    note = TextLine(
        "copy it now: it is not shown again. Send it as `Authorization: Bearer …`, or log in with it.", "yellow"
    )
    return CommandResult({"token": secret, **_token_data(token)}, (FieldList(pairs), note))


@command(app, "list", example="lamina token list --json")
def list_(session: CommandSession) -> CommandResult:
    """List the tokens of this vault; their secrets are not stored."""
    tokens = _token_store(session).list()
    rows = tuple(tuple(value for _, value in _token_fields(token)) for token in tokens)
    blocks: list[OutputBlock] = [
        TextGrid(("id", "name", "scope", "right", "as", "created", "until"), rows) if rows else TextLine("no tokens")
    ]
    return CommandResult({"tokens": [_token_data(token) for token in tokens]}, tuple(blocks))


@command(app, "revoke", example="lamina token revoke notes-agent")
def revoke(session: CommandSession, name: NameArgument) -> CommandResult:
    """Revoke a token and every browser session that logged in with it, immediately."""
    token = _token_store(session).revoke(name)
    return CommandResult(_token_data(token), (TextLine(f"revoked: {token.name}", "bold"),))


def _token_store(session: CommandSession) -> AccessTokenStore:
    from lamina.access import AccessTokenStore

    return AccessTokenStore(session.memory.engine.store.admin.access, session.memory.engine.clock.now)


def _token_fields(token: AccessToken) -> tuple[tuple[str, str], ...]:
    until = format_day(token.expires_at) or "revoked"
    return (
        ("id", token.id),
        ("name", token.name),
        ("scope", token.scope),
        ("right", token.right),
        ("as", token.origin.value),
        ("made", format_day(token.made_at)),
        ("until", until),
    )


def _token_data(token: AccessToken) -> Json:
    return {
        "id": token.id,
        "name": token.name,
        "scope": token.scope,
        "right": token.right,
        "as": token.origin.value,
        "made_at": format_time(token.made_at),
        "expires_at": format_time(token.expires_at) if token.expires_at else None,
    }
