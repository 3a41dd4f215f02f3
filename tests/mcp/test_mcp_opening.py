"""A vault that is opened on the side: once, when it is needed, and as whoever started the server wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mcp_agent import Agent, visit

from lamina.mcp.client_request import ClientRequest
from lamina.mcp.lazy_vault import LazyVault, VaultOptions
from lamina.mcp.server import make_server
from lamina.memory import Memory

READ, WRITE = ClientRequest(None, "tester", False), ClientRequest(None, "tester", True)
Open = Callable[[VaultOptions], LazyVault]


@pytest.fixture
def begin() -> Iterator[Open]:
    begun: list[LazyVault] = []

    def start(wanted: VaultOptions) -> LazyVault:
        begun.append(LazyVault(wanted))
        return begun[-1]

    yield start
    for opening in begun:
        opening.close()


def test_an_agents_word_is_an_agents_unless_a_person_says_otherwise(tmp_path: Path, begin: Open) -> None:
    async def work(agent: Agent) -> None:
        held = await agent.remember("The bridge is closed.", origin="web")
        assert "person" in await agent.fails("review", action="confirm", id=held)
        await agent.remember("The bridge is long.")

    async def confirm(agent: Agent) -> None:
        (held,) = (await agent.call("review"))["items"]
        await agent.call("review", action="confirm", id=held["ids"][0])

    visit(make_server(begin(VaultOptions(tmp_path / "vault", "org:acme")).memory_for), work)
    visit(make_server(begin(VaultOptions(tmp_path / "vault", "org:acme", is_human=True)).memory_for), confirm)
    with Memory(tmp_path / "vault", "org:acme", watch=False) as memory:
        assert [(entry.actor, entry.origin) for entry in memory.journal()] == [
            ("mcp", "web"),
            ("mcp", "agent"),
            ("human", "human"),
        ]


def test_tools_are_listed_where_the_vault_cannot_be_opened_and_calls_say_why(tmp_path: Path, begin: Open) -> None:
    (tmp_path / "vault").write_text("this is a file", encoding="utf-8")
    opening = begin(VaultOptions(tmp_path / "vault"))

    async def work(agent: Agent) -> None:
        assert len((await agent.client.list_tools()).tools) == 10
        told = await agent.fails("recall", question="anything?")
        assert "cannot be opened" in told
        assert "is a file" in told
        (tmp_path / "vault").unlink()
        await agent.call("recall", question="anything?")

    visit(make_server(opening.memory_for, on_tools_listed=opening.open_soon), work)


def test_a_vault_that_the_disk_keeps_from_us_is_named(tmp_path: Path, begin: Open) -> None:
    with Memory(tmp_path / "vault", watch=False) as memory:
        state = memory.state
    (state / "history.db").write_bytes(b"no database " * 400)

    async def work(agent: Agent) -> None:
        told = await agent.fails("recall", question="anything?")
        assert told.startswith("Closed: ")
        assert str(tmp_path / "vault") in told
        assert "tell the person" in told

    visit(make_server(begin(VaultOptions(tmp_path / "vault")).memory_for), work)


def test_a_server_that_only_reads_lists_what_reads(tmp_path: Path, begin: Open) -> None:
    opening = begin(VaultOptions(tmp_path / "vault", is_read_only=True))

    async def work(agent: Agent) -> None:
        listed = [tool.name for tool in (await agent.client.list_tools()).tools]
        assert listed == ["recall", "get", "review", "status"]

    visit(make_server(opening.memory_for, read_only=opening.is_read_only), work)


def test_a_server_that_only_reads_makes_and_changes_nothing(tmp_path: Path, begin: Open) -> None:
    async def work(agent: Agent) -> None:
        assert "--read-only" in await agent.fails("remember", content="The door is open.")
        assert "lamina init" in await agent.fails("recall", question="is the door open?")

    visit(make_server(begin(VaultOptions(tmp_path / "vault", is_read_only=True)).memory_for), work)
    assert not (tmp_path / "vault").exists()


def test_a_vault_is_opened_once_however_many_ask(tmp_path: Path, begin: Open) -> None:
    opening = begin(VaultOptions(tmp_path / "vault"))
    with ThreadPoolExecutor(8) as threads:
        seats = [each.result() for each in [threads.submit(opening.memory_for, WRITE) for _ in range(8)]]
    assert len({id(seat._store) for seat in seats}) == 1


def test_a_list_lets_a_vault_be_opened_and_makes_none(tmp_path: Path, begin: Open) -> None:
    with Memory(tmp_path / "there", watch=False):
        pass
    for name in ("there", "new"):
        opening = begin(VaultOptions(tmp_path / name))
        opening.open_soon()
        opening.open_soon()
        assert (opening._timer is not None) is (name == "there")
    assert not (tmp_path / "new").exists()


def test_what_was_never_opened_is_closed_in_peace(tmp_path: Path) -> None:
    LazyVault(VaultOptions(tmp_path / "vault")).close()
    assert not (tmp_path / "vault").exists()


def test_a_seat_is_the_visitors(tmp_path: Path, begin: Open) -> None:
    seat = begin(VaultOptions(tmp_path / "vault", "org:acme")).memory_for(READ)
    seat.remember("The lock is new.")
    assert seat.scope == "org:acme"
    assert [entry.actor for entry in seat.journal()] == ["tester"]
