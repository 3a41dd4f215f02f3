"""The connection to a host over stdin and stdout, one message a line.

The SDK ignores a line that it cannot parse, and drops running requests when stdin ends. Here a bad line gets an error
response, and running requests are finished first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import mcp.types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

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
