"""MCP over standard input and output, for a host that starts lamina as a process. Stdout carries only the protocol."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import mcp.types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from lamina.logs import start_logging
from lamina.mcp.background_opening import LazyVault, VaultOptions
from lamina.mcp.server import make_server

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

RequestId = str | int | None
IncomingMessage = SessionMessage | Exception

_STREAMING_METHOD = "subscriptions/listen"
_NOT_JSON = "this line is not JSON, so nothing was done; send one message per line"
_NOT_A_MESSAGE = "this line is not a JSON-RPC 2.0 message, so nothing was done; send one object per line, never a batch"


class HostConnection:
    """Both directions between a host and the server. Keeps track of requests that are not yet answered."""

    def __init__(self, from_host: ReadStream[IncomingMessage], to_host: WriteStream[SessionMessage]) -> None:
        self._from_host, self._to_host = from_host, to_host
        self._unanswered: set[RequestId] = set()
        self._answered = anyio.Event()

    async def forward_to_server(self, server: MemoryObjectSendStream[IncomingMessage]) -> None:
        """Forward the host's messages to the server; end its input once everything is answered."""
        async with server:
            async for item in self._from_host:
                if isinstance(item, Exception):
                    await self._report_bad_line(item)
                else:
                    self._track_request(item.message)
                    await server.send(item)
            await self.wait_until_answered()

    async def forward_to_host(self, server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Forward what the server sends to the host, and mark requests as answered."""
        async with self._to_host:
            async for item in server:
                await self._to_host.send(item)
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._mark_answered(item.message.id)

    async def wait_until_answered(self) -> None:
        """Wait until every request is answered."""
        while self._unanswered:
            await self._answered.wait()

    def _track_request(self, message: types.JSONRPCMessage) -> None:
        match message:
            case types.JSONRPCRequest(id=id, method=method) if method != _STREAMING_METHOD:
                self._unanswered.add(id)
            case types.JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as id}):
                self._mark_answered(id)  # a cancelled request gets no response

    def _mark_answered(self, id: RequestId) -> None:
        self._unanswered.discard(id)
        self._answered.set()
        self._answered = anyio.Event()

    async def _report_bad_line(self, error: Exception) -> None:
        complaint = error_for_line(error)
        if complaint is not None:
            await self._to_host.send(SessionMessage(complaint))


def error_for_line(error: Exception) -> types.JSONRPCError | None:
    """Return the error response for a line that cannot be parsed; None if no response is expected."""
    faults = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    inputs = [fault["input"] for fault in faults]
    if inputs and isinstance(inputs[0], str) and not inputs[0].strip():
        return None
    is_json = bool(faults) and faults[0]["type"] != "json_invalid"
    message = next((item for item in inputs if isinstance(item, dict) and "jsonrpc" in item), None)
    if message is None and not is_json:
        message = _parse_leniently(inputs)
    if message is not None and not {"id", "method"} <= message.keys():
        return None  # a notification or a response
    code, text = (types.INVALID_REQUEST, _NOT_A_MESSAGE) if is_json else (types.PARSE_ERROR, _NOT_JSON)
    return types.JSONRPCError(jsonrpc="2.0", id=_request_id(message), error=types.ErrorData(code=code, message=text))


def _parse_leniently(lines: list[Any]) -> dict[str, Any] | None:
    """Parse the message more leniently than the SDK, which rejects for example half a surrogate pair."""
    try:
        message = json.loads(lines[0]) if lines else None
    except (TypeError, ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _request_id(message: dict[str, Any] | None) -> RequestId:
    request_id = message["id"] if message is not None else None
    return request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None


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
