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

from lamina.logs import start_logging
from lamina.mcp.host_connection import HostConnection, IncomingMessage
from lamina.mcp.lazy_vault import LazyVault, VaultOptions
from lamina.mcp.server import make_server

SHUTDOWN_SECONDS = 5.0
"""Seconds for running calls and the vault to finish after a signal."""


def serve(options: VaultOptions) -> None:
    """Serve one host until it closes stdin, stops reading stdout, or a signal arrives."""
    start_logging(sys.stderr, level=logging.WARNING)
    opening = LazyVault(options)
    try:
        anyio.run(_serve_host, opening)
    except* BrokenPipeError:
        pass  # the host is gone; its requests are done and no one reads the responses
    finally:
        opening.close()


async def _serve_host(vault: LazyVault) -> None:
    server = make_server(vault.memory_for, on_tools_listed=vault.open_soon, read_only=vault.is_read_only)
    async with stdio_server() as (from_host, to_host), anyio.create_task_group() as tasks:
        connection = HostConnection(from_host, to_host)
        server_input, incoming = anyio.create_memory_object_stream[IncomingMessage]()
        outgoing, server_output = anyio.create_memory_object_stream[SessionMessage]()
        tasks.start_soon(connection.forward_to_server, server_input)
        tasks.start_soon(_exit_on_signal, connection, vault)
        async with anyio.create_task_group() as responses:
            responses.start_soon(connection.forward_to_host, server_output)
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _exit_on_signal(connection: HostConnection, vault: LazyVault) -> None:
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            with anyio.move_on_after(SHUTDOWN_SECONDS):
                await connection.wait_until_answered()
                await anyio.to_thread.run_sync(vault.close, abandon_on_cancel=True)
            sys.stderr.flush()
            os._exit(0)  # a thread is blocked reading stdin, which only the host can end
