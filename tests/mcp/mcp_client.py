"""An agent for tests: the SDK's own client at a server of ours, in either era of the protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import mcp.types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.server import Server

T = TypeVar("T")

ERAS = ("legacy", "2026-07-28")
"""The handshake of 2025-11-25 and before, and the requests that stand alone."""


class Agent:
    """A connected client that expects success unless it says otherwise."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, name: str, **fields: Any) -> dict[str, Any]:
        """What a tool answers with, as a document."""
        result = await self.client.call_tool(name, fields)
        assert not result.is_error, text_of(result)
        data: dict[str, Any] = result.structured_content
        return data

    async def read_result(self, name: str, **fields: Any) -> str:
        """What a tool answers with, as it is read."""
        return text_of(await self.client.call_tool(name, fields))

    async def fails(self, name: str, **fields: Any) -> str:
        """What a tool says that could not do it."""
        result = await self.client.call_tool(name, fields)
        assert result.is_error, text_of(result)
        assert result.structured_content is None
        return text_of(result)

    async def remember(self, content: str, **fields: Any) -> str:
        """The id of an atom that was written."""
        written = await self.call("remember", content=content, **fields)
        return str(written["outcomes"][0]["atom"]["id"])

    async def read(self, uri: str) -> str:
        """The text of a resource."""
        (page,) = (await self.client.read_resource(uri)).contents
        assert isinstance(page, types.TextResourceContents)
        return page.text


def text_of(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def run_agent(
    server: Server[Any] | StdioServerParameters | str, work: Callable[[Agent], Awaitable[T]], era: str = ERAS[-1]
) -> T:
    """Let an agent do its work at a server."""

    async def visited() -> T:
        async with Client(server, mode=era, read_timeout_seconds=60) as client:
            return await work(Agent(client))

    return anyio.run(visited)
