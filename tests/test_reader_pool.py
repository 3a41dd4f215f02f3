"""Processes that answer questions beside the one that writes: the same answers, at once, whatever becomes of them."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lamina
from lamina.memory import Memory
from lamina.reader_pool import MAX_READERS, ReaderPool, reader_count, uses_network
from lamina.settings import Settings

LONG = 60.0


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        for words in ("The mill grinds on Tuesdays.", "The mill sells rye flour.", "The ferry leaves at nine."):
            memory.remember(words, subject="mill" if "mill" in words else "ferry")
        memory.pin(memory.list(subject="ferry")[0].id)
        yield memory


@pytest.fixture
def readers(memory: Memory) -> Iterator[ReaderPool]:
    readers = ReaderPool(memory, 1)
    readers.start()
    assert readers.wait(LONG)
    yield readers
    readers.close()


def child_pids() -> set[int]:
    return {process.pid for process in multiprocessing.active_children() if process.pid}


OTHERS: set[int] = set()
"""Children of this process that other tests started and still use."""


@pytest.fixture(autouse=True)
def _other_children() -> None:
    OTHERS.clear()
    OTHERS.update(child_pids())


def reader_pids() -> list[int]:
    return sorted(child_pids() - OTHERS)


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or goes now."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], LONG)[0])
    finally:
        os.close(watched)


def test_a_reader_gives_an_identical_answer(memory: Memory, readers: ReaderPool) -> None:
    near = memory.recall("when does the mill grind?", fast=True)
    memory.engine.effects.delegate_recall(None)
    here = memory.recall("when does the mill grind?", fast=True)
    assert near.id != here.id
    assert [hit.explain() for hit in near.hits] == [hit.explain() for hit in here.hits]
    assert near.context() == here.context()
    assert "ferry" in near.context()


def test_the_reader_process_answers(memory: Memory, readers: ReaderPool) -> None:
    result = readers.recall(memory.scope, "rye flour", {"k": 2})
    assert result is not None
    assert result.hits[0].text == "The mill sells rye flour."
    assert result.hits[0].atom.id in memory.feedback(result.id, cited=[result.hits[0].atom.id])


def test_every_acknowledged_write_is_in_the_next_answer(memory: Memory, readers: ReaderPool) -> None:
    for n in range(20):
        memory.remember(f"Locker {n} belongs to number {n}.", subject=f"locker {n}")
        result = readers.recall(memory.scope, f"who does locker {n} belong to?", {"k": 1})
        assert result is not None
        assert result.hits[0].text == f"Locker {n} belongs to number {n}."
    atom = memory.list(subject="locker 3")[0]
    memory.forget(atom.id, "moved out")
    remaining = readers.recall(memory.scope, "who does locker 3 belong to?", {"k": 30})
    assert remaining is not None
    assert atom.id not in [hit.atom.id for hit in remaining.hits]


def test_a_caller_queries_its_own_scope_through_a_reader(memory: Memory, readers: ReaderPool) -> None:
    other = memory.for_caller("org:other")
    other.remember("The vault of others holds pearls.", subject="pearls")
    assert [hit.text for hit in other.recall("pearls", k=1).hits] == ["The vault of others holds pearls."]
    assert all("pearls" not in hit.text for hit in memory.recall("pearls").hits)


def test_an_error_is_reported_as_without_readers(memory: Memory, readers: ReaderPool) -> None:
    with pytest.raises(lamina.InvalidInput, match="mode"):
        memory.recall("mill", mode="everything")
    assert readers.wait(LONG)


def test_a_killed_reader_is_replaced_without_a_lost_answer(memory: Memory, readers: ReaderPool) -> None:
    (before,) = reader_pids()
    os.kill(before, signal.SIGKILL)
    assert has_ended(before)
    while not {*reader_pids()} - {before}:
        assert memory.recall("rye flour", k=1).hits[0].text == "The mill sells rye flour."
    assert readers.wait(LONG)
    assert reader_pids() != [before]
    assert readers.recall(memory.scope, "rye flour", {"k": 1}) is not None


def test_a_reader_that_cannot_open_the_vault_is_left_out(
    memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "vault").chmod(0o777)
    readers = ReaderPool(memory, 1)
    readers.start()
    try:
        while "could not open the vault" not in caplog.text:
            assert readers.recall(memory.scope, "rye flour", {"k": 1}) is None
        assert memory.recall("rye flour", k=1).hits[0].text == "The mill sells rye flour."
    finally:
        readers.close()


def test_closing_stops_the_readers_and_queries_are_answered_in_process(memory: Memory, readers: ReaderPool) -> None:
    (reader,) = reader_pids()
    readers.close()
    assert has_ended(reader)
    assert memory.recall("rye flour", k=1).hits


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_readers_stop_with_their_server_however_it_ends(tmp_path: Path, how: signal.Signals) -> None:
    lamina.open(tmp_path / "vault").close()
    words = [sys.executable, "-m", "lamina", "--vault", str(tmp_path / "vault"), "serve", "--json", "--port", "0"]
    env = {**os.environ, "LAMINA_SERVE_READERS": "1"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env) as server:
        assert server.stdout is not None
        for line in server.stdout:
            if '"serving"' in line:
                break
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        all_items = [int(child) for child in children]
        server.send_signal(how)
        assert all_items
        assert all(has_ended(item) for item in all_items)
    assert server.returncode == (-how if how is signal.SIGKILL else 0)


def test_no_reader_is_started_with_remote_models() -> None:
    assert reader_count(Settings(embedder="openai:any")) == 0
    assert uses_network(Settings(chat="openai:any"))
    assert not uses_network(Settings(embedder="light"))
    assert 0 <= reader_count(Settings(embedder="light")) <= MAX_READERS
    assert reader_count(Settings(embedder="openai:any", serve_readers=2)) == 2
