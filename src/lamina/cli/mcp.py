"""`lamina mcp`: the MCP server that a host starts and uses over standard input and output."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from lamina.cli.command import command
from lamina.cli.command_session import CommandSession
from lamina.cli.optional_packages import require_extra

app = typer.Typer(rich_help_panel="Agents")


@command(app, "mcp", example="lamina mcp  ·  lamina mcp --vault ~/notes --scope org:acme:agent:coder")
def mcp(
    session: CommandSession,
    origin: Annotated[
        Literal["agent", "human"],
        typer.Option(
            "--as",
            help="The origin of what the client writes: agent, or human for yourself, who may also decide reviews.",
        ),
    ] = "agent",
    read_only: Annotated[bool, typer.Option("--read-only", help="Allow only tools that change nothing.")] = False,
) -> None:
    """Serve agents over MCP on standard input and output, until the host closes them."""
    require_extra("mcp")
    from lamina.mcp.lazy_vault import VaultOptions
    from lamina.mcp.stdio_transport import serve

    serve(VaultOptions(session.choice.folder, session.scope, is_human=origin == "human", is_read_only=read_only))
