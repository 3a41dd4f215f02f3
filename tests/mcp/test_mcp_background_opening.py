"""A vault that is opened on the side: once, when it is needed, and as whoever started the server wants it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mcp_client import Agent, run_agent

import lamina
from lamina.mcp.background_opening import OPENING_THREAD, LazyVault, VaultOptions
from lamina.mcp.client_request import ClientRequest
from lamina.mcp.server import make_server

READ, WRITE = ClientRequest(None, "tester", False), ClientRequest(None, "tester", True)
OpenVault = Callable[[VaultOptions], LazyVault]


@pytest.fixture
def open_lazily() -> Iterator[OpenVault]:
    begun: list[LazyVault] = []

    def start(wanted: VaultOptions) -> LazyVault:
        begun.append(LazyVault(wanted))
        return begun[-1]

    yield start
    for opening in begun:
        opening.close()


def test_writes_have_agent_origin_unless_configured_otherwise(tmp_path: Path, open_lazily: OpenVault) -> None:
    async def work(agent: Agent) -> None:
        receipt = await agent.remember("The bridge is closed.", origin="web")
        assert "person" in await agent.fails("review", action="confirm", id=receipt)
        await agent.remember("The bridge is long.")

    async def confirm(agent: Agent) -> None:
        (item,) = (await agent.call("review"))["items"]
        await agent.call("review", action="confirm", id=item["ids"][0])

    run_agent(make_server(open_lazily(VaultOptions(tmp_path / "vault", "org:acme")).memory_for), work)
    run_agent(make_server(open_lazily(VaultOptions(tmp_path / "vault", "org:acme", is_human=True)).memory_for), confirm)
    with lamina.open(tmp_path / "vault", "org:acme", watch=False) as memory:
        assert [(entry.actor, entry.origin) for entry in memory.journal()] == [
            ("mcp", "web"),
            ("mcp", "agent"),
            ("human", "human"),
        ]


def test_tools_are_listed_where_the_vault_cannot_be_opened_and_calls_say_why(
    tmp_path: Path, open_lazily: OpenVault
) -> None:
    (tmp_path / "vault").write_text("this is a file", encoding="utf-8")
    opening = open_lazily(VaultOptions(tmp_path / "vault"))

    async def work(agent: Agent) -> None:
        assert len((await agent.client.list_tools()).tools) == 10
        text = await agent.fails("recall", question="anything?")
        assert "cannot be opened" in text
        assert "is a file" in text
        (tmp_path / "vault").unlink()
        await agent.call("recall", question="anything?")

    run_agent(make_server(opening.memory_for, on_tools_listed=opening.open_soon), work)


def test_a_vault_that_cannot_be_opened_is_named(tmp_path: Path, open_lazily: OpenVault) -> None:
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        state = memory.engine.state
    (state / "history.db").write_bytes(b"no database " * 400)

    async def work(agent: Agent) -> None:
        text = await agent.fails("recall", question="anything?")
        assert text.startswith("Closed: ")
        assert str(tmp_path / "vault") in text
        assert "tell the person" in text

    run_agent(make_server(open_lazily(VaultOptions(tmp_path / "vault")).memory_for), work)


def test_a_read_only_server_lists_the_read_tools(tmp_path: Path, open_lazily: OpenVault) -> None:
    opening = open_lazily(VaultOptions(tmp_path / "vault", is_read_only=True))

    async def work(agent: Agent) -> None:
        listed = [tool.name for tool in (await agent.client.list_tools()).tools]
        assert listed == ["recall", "get", "review", "status"]

    run_agent(make_server(opening.memory_for, read_only=opening.is_read_only), work)


def test_a_read_only_server_creates_and_changes_nothing(tmp_path: Path, open_lazily: OpenVault) -> None:
    async def work(agent: Agent) -> None:
        assert "--read-only" in await agent.fails("remember", content="The door is open.")
        assert "lamina init" in await agent.fails("recall", question="is the door open?")

    run_agent(make_server(open_lazily(VaultOptions(tmp_path / "vault", is_read_only=True)).memory_for), work)
    assert not (tmp_path / "vault").exists()


def test_a_vault_is_opened_once_for_concurrent_callers(tmp_path: Path, open_lazily: OpenVault) -> None:
    opening = open_lazily(VaultOptions(tmp_path / "vault"))
    with ThreadPoolExecutor(8) as threads:
        seats = [item.result() for item in [threads.submit(opening.memory_for, WRITE) for _ in range(8)]]
    assert len({id(caller_memory.engine.store) for caller_memory in seats}) == 1


def test_a_listing_opens_an_existing_vault_and_makes_none(tmp_path: Path, open_lazily: OpenVault) -> None:
    with lamina.open(tmp_path / "there", watch=False):
        pass
    for name in ("there", "new"):
        opening = open_lazily(VaultOptions(tmp_path / name))
        opening.open_soon()
        opening.open_soon()
        timers = [thread for thread in threading.enumerate() if thread.name == OPENING_THREAD]
        assert len(timers) == (name == "there")
        opening.close()
        for timer in timers:
            timer.join()
    assert not (tmp_path / "new").exists()


def test_closing_an_unopened_vault_is_no_error(tmp_path: Path) -> None:
    LazyVault(VaultOptions(tmp_path / "vault")).close()
    assert not (tmp_path / "vault").exists()


def test_a_served_memory_belongs_to_the_caller(tmp_path: Path, open_lazily: OpenVault) -> None:
    caller_memory = open_lazily(VaultOptions(tmp_path / "vault", "org:acme")).memory_for(READ)
    caller_memory.remember("The lock is new.")
    assert caller_memory.scope == "org:acme"
    assert [entry.actor for entry in caller_memory.journal()] == ["tester"]
