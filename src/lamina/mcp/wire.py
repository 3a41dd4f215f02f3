"""What a host says on our standard input and hears on our standard output, one message a line.

The SDK passes over a line it cannot read, and drops what it is at work on when input ends. Whoever waits for an answer
gets one here in both cases: a complaint, and what was asked for before input ended.
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
_NO_JSON = "this line is no JSON, so nothing was done; send one message a line"
_NO_MESSAGE = "this line is no message of JSON-RPC 2.0, so nothing was done; send one object a line, never a batch"


class Wire:
    """Both directions between a host and the server. What was passed on and not yet answered is owed."""

    def __init__(self, host_says: ReadStream[Heard], host_hears: WriteStream[SessionMessage]) -> None:
        self._host_says, self._host_hears = host_says, host_hears
        self._owed: set[Id] = set()
        self._paid = anyio.Event()

    async def pass_in(self, server: MemoryObjectSendStream[Heard]) -> None:
        """Give the server what it can read; after the last of it, once nothing is owed, let its input end."""
        async with server:
            async for item in self._host_says:
                if isinstance(item, Exception):
                    await self._complain(item)
                else:
                    self._note(item.message)
                    await server.send(item)
            await self.settle()

    async def pass_out(self, server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Give the host what the server says; an answer pays what was owed."""
        async with self._host_hears:
            async for item in server:
                await self._host_hears.send(item)
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._pay(item.message.id)

    async def settle(self) -> None:
        """Wait until nothing is owed."""
        while self._owed:
            await self._paid.wait()

    def _note(self, message: types.JSONRPCMessage) -> None:
        match message:
            case types.JSONRPCRequest(id=id, method=method) if method != _ENDLESS:
                self._owed.add(id)
            case types.JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as id}):
                self._pay(id)  # what was called off is not answered

    def _pay(self, id: Id) -> None:
        self._owed.discard(id)
        self._paid.set()
        self._paid = anyio.Event()

    async def _complain(self, error: Exception) -> None:
        complaint = complaint_about(error)
        if complaint is not None:
            await self._host_hears.send(SessionMessage(complaint))


def complaint_about(error: Exception) -> types.JSONRPCError | None:
    """What to say of a line that cannot be read; None where nobody waits for an answer."""
    faults = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    said = [fault["input"] for fault in faults]
    if said and isinstance(said[0], str) and not said[0].strip():
        return None
    is_json = bool(faults) and faults[0]["type"] != "json_invalid"
    message = next((each for each in said if isinstance(each, dict) and "jsonrpc" in each), None)
    if message is None and not is_json:
        message = _read_kindly(said)
    if message is not None and not {"id", "method"} <= message.keys():
        return None  # a notification or an answer
    code, told = (types.INVALID_REQUEST, _NO_MESSAGE) if is_json else (types.PARSE_ERROR, _NO_JSON)
    return types.JSONRPCError(jsonrpc="2.0", id=_id_of(message), error=types.ErrorData(code=code, message=told))


def _read_kindly(said: list[Any]) -> dict[str, Any] | None:
    """The message as a reader has it who lets more pass than ours, such as half of a pair of surrogates."""
    try:
        found = json.loads(said[0]) if said else None
    except (TypeError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _id_of(message: dict[str, Any] | None) -> Id:
    told = message["id"] if message is not None else None
    return told if isinstance(told, str | int) and not isinstance(told, bool) else None
