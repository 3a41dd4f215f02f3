"""MCP over standard input and output: what a host starts and talks to. Stdout is the protocol's alone."""

from __future__ import annotations

import logging
import os
import signal
import sys

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from lamina.logs import to_stream
from lamina.mcp.opening import Opening, Wanted
from lamina.mcp.server import make_server
from lamina.mcp.wire import Heard, Wire

PATIENCE = 5.0
"""Seconds that calls and the vault have to come to their end once somebody wants the process gone."""


def serve(wanted: Wanted) -> None:
    """Serve one host until it closes our input, no longer listens, or a signal ends us."""
    to_stream(sys.stderr, level=logging.WARNING)
    opening = Opening(wanted)
    try:
        anyio.run(_served, opening)
    except* BrokenPipeError:
        pass  # the host is gone; what it asked for is done, and nobody is left to be told
    finally:
        opening.close()


async def _served(opening: Opening) -> None:
    server = make_server(opening.seat, listed=opening.soon, reads_only=opening.reads_only)
    async with stdio_server() as (host_says, host_hears), anyio.create_task_group() as beside:
        wire = Wire(host_says, host_hears)
        into, incoming = anyio.create_memory_object_stream[Heard]()
        outgoing, out_of = anyio.create_memory_object_stream[SessionMessage]()
        beside.start_soon(wire.pass_in, into)
        beside.start_soon(_end_at_a_signal, wire, opening)
        async with anyio.create_task_group() as answers:
            answers.start_soon(wire.pass_out, out_of)
            await server.run(incoming, outgoing, server.create_initialization_options())
        beside.cancel_scope.cancel()


async def _end_at_a_signal(wire: Wire, opening: Opening) -> None:
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            with anyio.move_on_after(PATIENCE):
                await wire.settle()
                await anyio.to_thread.run_sync(opening.close, abandon_on_cancel=True)
            sys.stderr.flush()
            os._exit(0)  # a thread sits in a read of our input that nothing but the host can end
