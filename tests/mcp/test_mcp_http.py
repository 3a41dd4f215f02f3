"""MCP over HTTP: each request has the right, scope and rate limit of its caller.

Covers `lamina.mcp.subscriptions`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2
import mcp.types as types
import pytest
from mcp.server.subscriptions import ResourceUpdated
from mcp_client import ERAS, Agent
from mcp_http_server import NO_RATE_LIMIT, LiveMcpServer, run_mcp_server

from lamina.access import RateLimits, Right
from lamina.atom.provenance import Origin
from lamina.mcp.http_transport import McpApp

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveMcpServer]:
    with run_mcp_server(tmp_path_factory.mktemp("mcp") / "vault") as running:
        yield running


@pytest.mark.parametrize("era", ERAS)
def test_a_token_allows_every_kind_of_tool(server: LiveMcpServer, era: str) -> None:
    token = server.token(f"writer-{era}")

    async def work(agent: Agent) -> None:
        one = await agent.remember(f"The harbour opened in {era[:4]}.")
        assert (await agent.call("recall", question="when did the harbour open?"))["known"]
        assert (await agent.call("get", id=one))["principal"] == f"writer-{era}"
        assert (await agent.call("status"))["atoms"] >= 1
        assert await agent.read("memory://journal")

    server.run_agent(token, work, era)


@pytest.mark.parametrize("era", ERAS)
def test_the_read_right_allows_the_read_tools(server: LiveMcpServer, era: str) -> None:
    token = server.token(f"reader-{era}", Right.READ)
    writes = {
        "capture": {"words": "x"},
        "remember": {"content": "x"},
        "feedback": {"recall_id": "x"},
        "revise": {"id": "aaaaaaaa", "content": "x", "reason": "x"},
        "forget": {"id": "aaaaaaaa", "reason": "x"},
        "relate": {"a": "aaaaaaaa", "relation": "supports", "b": "bbbbbbbb"},
        "review": {"action": "confirm", "id": "aaaaaaaa"},
    }

    async def work(agent: Agent) -> None:
        assert len((await agent.client.list_tools()).tools) == 10
        for name, initial in writes.items():
            assert "right to write" in await agent.fails(name, **initial)
        await agent.call("recall", question="harbour")
        await agent.call("review")
        await agent.call("status")
        assert "no atom" in await agent.fails("get", id="aaaaaaaa")

    server.run_agent(token, work, era)


def test_a_persons_token_decides_reviews_and_an_agents_does_not(server: LiveMcpServer) -> None:
    agents, persons = server.token("machine"), server.token("ann", origin=Origin.HUMAN)

    async def propose(agent: Agent) -> str:
        receipt = await agent.remember("The ferry leaves at dawn.", origin="web")
        assert "person" in await agent.fails("review", action="confirm", id=receipt)
        return receipt

    pending = server.run_agent(agents, propose)

    async def decide(agent: Agent) -> None:
        await agent.call("review", action="confirm", id=pending)
        assert (await agent.call("get", id=pending))["status"] == "active"

    server.run_agent(persons, decide)


def test_scopes_see_nothing_of_each_other(server: LiveMcpServer) -> None:
    here, there = server.token("here", scope="org:here"), server.token("there", scope="org:there")

    async def write(agent: Agent) -> str:
        return await agent.remember("The vault code is kept by Ann.")

    one = server.run_agent(here, write)

    async def look(agent: Agent) -> None:
        assert not (await agent.call("recall", question="who keeps the vault code?"))["hits"]
        assert "NotFound" in await agent.fails("get", id=one)
        assert (await agent.call("status"))["atoms"] == 0
        assert one not in await agent.read("memory://journal")
        assert "InvalidScope" in await agent.fails("recall", question="vault code", scopes=["org:here"])
        with pytest.raises(Exception, match="NotFound"):
            await agent.read(f"memory://atom/{one}")

    server.run_agent(there, look)


def test_writes_are_rate_limited(tmp_path: Path) -> None:
    with run_mcp_server(tmp_path / "vault", budgets=RateLimits(NO_RATE_LIMIT, 2)) as server:

        async def work(agent: Agent) -> None:
            await agent.remember("One.")
            await agent.remember("Two.")
            assert "try again in" in await agent.fails("remember", content="Three.")
            await agent.call("recall", question="how many?")

        server.run_agent(server.token("busy"), work)


def test_without_a_token_nothing_is_answered(server: LiveMcpServer) -> None:
    for token in ("", "Bearer lam_wrong"):
        reply = httpx2.post(server.url, json=LIST, headers={**HEADERS, "Authorization": token} if token else HEADERS)
        assert reply.status_code == 401
        assert "tools" not in reply.text


def test_a_revoked_token_is_refused(server: LiveMcpServer) -> None:
    token = server.token("guest")
    headers = {**HEADERS, "Authorization": f"Bearer {token}"}
    assert httpx2.post(server.url, json=LIST, headers=headers).status_code == 200
    server.house.tokens.revoke("guest")
    assert httpx2.post(server.url, json=LIST, headers=headers).status_code == 401


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_a_request_of_another_site_is_not_answered(server: LiveMcpServer, header: dict[str, str]) -> None:
    token = server.token(f"page-{next(iter(header)).lower()}")
    headers = {**HEADERS, "Authorization": f"Bearer {token}", **header}
    assert httpx2.post(server.url, json=LIST, headers=headers).status_code == 403


def test_there_are_no_sessions_to_open_or_close(server: LiveMcpServer) -> None:
    headers = {**HEADERS, "Authorization": f"Bearer {server.token('other')}"}
    for method in ("GET", "DELETE"):
        reply = httpx2.request(method, server.url, headers=headers)
        assert reply.status_code == 405
        assert reply.headers["allow"] == "POST"


def test_without_the_security_middleware_the_app_answers_no_one(server: LiveMcpServer) -> None:
    async def result() -> httpx2.Response:
        app = McpApp(server.house)
        transport = httpx2.ASGITransport(app=app)
        async with app.running(), httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/mcp", json=LIST, headers=HEADERS)

    reply = anyio.run(result)
    assert reply.status_code == 401
    assert json.loads(reply.text)["type"] == "urn:lamina:error:NoCaller"


def test_subscribers_are_notified_of_changes_they_may_read(server: LiveMcpServer) -> None:
    mine, other = server.token("listener", scope="org:mine"), server.token("stranger", scope="org:other")

    async def listened() -> list[str]:
        async with server.agent(mine) as agent, server.agent(other) as stranger, server.agent(mine) as writer:
            one = await writer.remember("The well is deep.")
            uris = ["memory://journal", "memory://inbox", f"memory://atom/{one}"]
            received: list[str] = []
            async with agent.client.listen(resource_subscriptions=uris) as events:
                await stranger.remember("The well of the others is shallow.", origin="web")
                await writer.call("revise", id=one, content="The well is very deep.", reason="measured")
                async for event in events:
                    assert isinstance(event, ResourceUpdated)
                    received.append(event.uri)
                    if event.uri.startswith("memory://atom/"):
                        return received
            return received

    result = anyio.run(listened)
    assert result[0] == "memory://journal"
    assert result[-1].startswith("memory://atom/")
    assert "memory://inbox" not in result, "what another scope holds was told"


def test_subscribers_are_disconnected_once_their_token_is_revoked(server: LiveMcpServer) -> None:
    token = server.token("leaving")

    async def listened() -> int:
        wanted = ["memory://journal"]
        async with server.agent(token) as agent, agent.client.listen(resource_subscriptions=wanted) as events:
            server.house.tokens.revoke("leaving")
            return len([event async for event in events])

    assert anyio.run(listened) == 0


def test_a_missing_resource_is_answered_with_the_existing_ones(server: LiveMcpServer) -> None:
    async def work(agent: Agent) -> None:
        for uri in ("memory://atom/../../etc/passwd", "memory://elsewhere", "file:///etc/passwd"):
            with pytest.raises(Exception, match="unknown resource") as caught:
                await agent.read(uri)
            assert getattr(caught.value, "code", None) == types.INVALID_PARAMS

    server.run_agent(server.token("curious"), work)
