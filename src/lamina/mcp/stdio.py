"""MCP over standard input and output, for a host that starts lamina as a process. Stdout carries only the protocol."""

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
"""Seconds for running calls and the vault to finish after a signal."""


def serve(wanted: Wanted) -> None:
    """Serve one host until it closes stdin, stops reading stdout, or a signal arrives."""
    to_stream(sys.stderr, level=logging.WARNING)
    opening = Opening(wanted)
    try:
        anyio.run(_served, opening)
    except* BrokenPipeError:
        pass  # the host is gone; its requests are done and no one reads the responses
    finally:
        opening.close()


async def _served(opening: Opening) -> None:
    server = make_server(opening.seat, listed=opening.soon, reads_only=opening.reads_only)
    async with stdio_server() as (from_host, to_host), anyio.create_task_group() as tasks:
        connection = Wire(from_host, to_host)
        server_input, incoming = anyio.create_memory_object_stream[Heard]()
        outgoing, server_output = anyio.create_memory_object_stream[SessionMessage]()
        tasks.start_soon(connection.pass_in, server_input)
        tasks.start_soon(_end_at_a_signal, connection, opening)
        async with anyio.create_task_group() as responses:
            responses.start_soon(connection.pass_out, server_output)
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _end_at_a_signal(wire: Wire, opening: Opening) -> None:
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            with anyio.move_on_after(PATIENCE):
                await wire.settle()
                await anyio.to_thread.run_sync(opening.close, abandon_on_cancel=True)
            sys.stderr.flush()
            os._exit(0)  # a thread is blocked reading stdin, which only the host can end
