"""What is restored counts again from when it held and on, and nothing says any more that it was replaced."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import lamina
from lamina import Atom, FixedClock, Memory, Status


def day_of_april(number: int) -> datetime:
    return datetime(2026, 4, number, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(day_of_april(1))


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, background=False) as opened_memory:
        yield opened_memory


def remember_replaced(memory: Memory, clock: FixedClock) -> tuple[Atom, Atom]:
    old = memory.remember("Ann keeps bees in Braga", subject="Ann", attribute="hives", value="Braga").atom
    clock.at = day_of_april(3)
    new = memory.remember("Ann keeps bees in Viseu", subject="Ann", attribute="hives", value="Viseu").atom
    assert memory.get(old.id).status is Status.SUPERSEDED
    return old, new


def test_a_restored_statement_is_recalled_once_its_successor_is_gone(memory: Memory, clock: FixedClock) -> None:
    old, new = remember_replaced(memory, clock)
    memory.forget(new.id, "never so")
    memory.update_status(old.id, "active", "it still is")
    back = memory.get(old.id)
    assert (back.status, back.valid_until, back.superseded_by) == (Status.ACTIVE, None, ())
    assert memory.get(new.id).supersedes == ()
    assert [hit.text for hit in memory.recall("where does Ann keep bees?").hits] == [old.content]


def test_it_is_valid_for_its_own_time_while_another_has_its_claim(memory: Memory, clock: FixedClock) -> None:
    old, new = remember_replaced(memory, clock)
    memory.update_status(old.id, "active", "so I want it")
    back = memory.get(old.id)
    assert (back.status, back.valid_until, back.superseded_by) == (Status.ACTIVE, day_of_april(3), (new.id,))


def test_an_explicit_end_is_kept(memory: Memory, clock: FixedClock) -> None:
    old = memory.remember("the sale is on", valid_until=day_of_april(20)).atom
    clock.at = day_of_april(4)
    memory.update_status(old.id, "superseded", "closed early")
    assert memory.get(old.id).valid_until == day_of_april(4)
    memory.update_status(old.id, "active", "open again")
    assert memory.get(old.id).valid_until == day_of_april(20)


def test_a_statement_explicitly_superseded_was_valid_until_then(memory: Memory, clock: FixedClock) -> None:
    old = memory.remember("the ferry runs hourly").atom
    clock.at = day_of_april(4)
    memory.update_status(old.id, "superseded", "it does not")
    assert memory.get(old.id).valid_until == day_of_april(4)
    assert [hit.text for hit in memory.recall("ferry", as_of=day_of_april(2)).hits] == [old.content]
    assert memory.recall("ferry", as_of=day_of_april(5)).hits == ()


def test_an_active_status_in_the_file_restores_it_in_the_same_way(memory: Memory, clock: FixedClock) -> None:
    old, new = remember_replaced(memory, clock)
    memory.forget(new.id, "never so")
    file = memory.root / str(memory.path_of(old.id))
    file.write_text(file.read_text().replace("status: superseded", "status: active"))
    memory.upkeep.sync()
    back = memory.get(old.id)
    assert (back.status, back.valid_until, back.superseded_by) == (Status.ACTIVE, None, ())


def test_a_restore_is_one_commit_and_undone_as_one(memory: Memory, clock: FixedClock) -> None:
    old, new = remember_replaced(memory, clock)
    memory.forget(new.id, "never so")
    before = [memory.get(item.id) for item in (old, new)]
    memory.update_status(old.id, "active", "it still is")
    memory.undo(memory.journal()[-1].id)
    assert [memory.get(item.id) for item in (old, new)] == before
