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

Id = str | int | None
Heard = SessionMessage | Exception

_ENDLESS = "subscriptions/listen"
_NO_JSON = "this line is not JSON, so nothing was done; send one message per line"
_NO_MESSAGE = "this line is not a JSON-RPC 2.0 message, so nothing was done; send one object per line, never a batch"


class Wire:
    """Both directions between a host and the server. Keeps track of requests that are not yet answered."""

    def __init__(self, host_says: ReadStream[Heard], host_hears: WriteStream[SessionMessage]) -> None:
        self._host_says, self._host_hears = host_says, host_hears
        self._owed: set[Id] = set()
        self._paid = anyio.Event()

    async def pass_in(self, server: MemoryObjectSendStream[Heard]) -> None:
        """Forward the host's messages to the server; end its input once everything is answered."""
        async with server:
            async for item in self._host_says:
                if isinstance(item, Exception):
                    await self._complain(item)
                else:
                    self._note(item.message)
                    await server.send(item)
            await self.settle()

    async def pass_out(self, server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Forward what the server sends to the host, and mark requests as answered."""
        async with self._host_hears:
            async for item in server:
                await self._host_hears.send(item)
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._pay(item.message.id)

    async def settle(self) -> None:
        """Wait until every request is answered."""
        while self._owed:
            await self._paid.wait()

    def _note(self, message: types.JSONRPCMessage) -> None:
        match message:
            case types.JSONRPCRequest(id=id, method=method) if method != _ENDLESS:
                self._owed.add(id)
            case types.JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as id}):
                self._pay(id)  # a cancelled request gets no response

    def _pay(self, id: Id) -> None:
        self._owed.discard(id)
        self._paid.set()
        self._paid = anyio.Event()

    async def _complain(self, error: Exception) -> None:
        complaint = complaint_about(error)
        if complaint is not None:
            await self._host_hears.send(SessionMessage(complaint))


def complaint_about(error: Exception) -> types.JSONRPCError | None:
    """Return the error response for a line that cannot be parsed; None if no response is expected."""
    faults = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    inputs = [fault["input"] for fault in faults]
    if inputs and isinstance(inputs[0], str) and not inputs[0].strip():
        return None
    is_json = bool(faults) and faults[0]["type"] != "json_invalid"
    message = next((item for item in inputs if isinstance(item, dict) and "jsonrpc" in item), None)
    if message is None and not is_json:
        message = _read_kindly(inputs)
    if message is not None and not {"id", "method"} <= message.keys():
        return None  # a notification or a response
    code, text = (types.INVALID_REQUEST, _NO_MESSAGE) if is_json else (types.PARSE_ERROR, _NO_JSON)
    return types.JSONRPCError(jsonrpc="2.0", id=_id_of(message), error=types.ErrorData(code=code, message=text))


def _read_kindly(said: list[Any]) -> dict[str, Any] | None:
    """Parse the message more leniently than the SDK, which rejects for example half a surrogate pair."""
    try:
        message = json.loads(said[0]) if said else None
    except (TypeError, ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _id_of(message: dict[str, Any] | None) -> Id:
    request_id = message["id"] if message is not None else None
    return request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
