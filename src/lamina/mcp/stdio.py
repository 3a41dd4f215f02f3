"""MCP over standard input and output: what a host starts and talks to. Stdout is the protocol's alone."""

from __future__ import annotations

import logging
import sys

import anyio
from mcp.server.stdio import stdio_server

from lamina.logs import to_stream
from lamina.mcp.opening import Opening, Wanted
from lamina.mcp.server import make_server


def serve(wanted: Wanted) -> None:
    """Serve one host until it closes our input."""
    to_stream(sys.stderr, level=logging.WARNING)
    opening = Opening(wanted)
    try:
        anyio.run(_served, opening)
    finally:
        opening.close()


async def _served(opening: Opening) -> None:
    server = make_server(opening.seat, listed=opening.soon)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
