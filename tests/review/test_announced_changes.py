"""When the day of an announced value comes, the one it takes the place of says that it is over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import lamina
from lamina import Atom, FixedClock, Memory, Status
from lamina.review.announced_changes import settle


def day_of_march(number: int) -> datetime:
    return datetime(2026, 3, number, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(day_of_march(1))


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, background=False) as opened_memory:
        yield opened_memory


def remember_city(memory: Memory, city: str, valid_from: datetime | None = None) -> Atom:
    receipt = memory.remember(
        f"Ann lives in {city}", subject="Ann", attribute="city", value=city, valid_from=valid_from
    )
    return receipt.atom


def recalled_texts(memory: Memory) -> list[str]:
    return [hit.text for hit in memory.recall("where does Ann live?").hits]


def test_an_announced_value_takes_effect_on_its_day(memory: Memory, clock: FixedClock) -> None:
    old, new = remember_city(memory, "Porto"), remember_city(memory, "Faro", day_of_march(10))
    old = memory.get(old.id)
    assert (old.status, old.valid_until, old.superseded_by) == (Status.ACTIVE, day_of_march(10), (new.id,))
    assert recalled_texts(memory) == ["Ann lives in Porto"]
    clock.at = day_of_march(10)
    assert recalled_texts(memory) == ["Ann lives in Faro"], "validity decides before anybody settles anything"
    memory.upkeep.sync()
    assert memory.get(old.id).status is Status.SUPERSEDED
    assert recalled_texts(memory) == ["Ann lives in Faro"]
    assert "superseded" in (memory.root / str(memory.path_of(old.id))).read_text()
    assert memory.get(old.id, as_of=day_of_march(5)).content == "Ann lives in Porto"


def test_settling_is_one_commit_by_lamina_and_idempotent(memory: Memory, clock: FixedClock) -> None:
    remember_city(memory, "Porto"), remember_city(memory, "Faro", day_of_march(10))
    before = memory.journal()
    memory.upkeep.sync()
    assert memory.journal() == before
    clock.at = day_of_march(11)
    memory.upkeep.sync()
    (entry,) = memory.journal(len(before))
    assert (entry.verb, entry.actor, len(entry.changes)) == ("settle", "lamina", 1)
    memory.upkeep.sync()
    assert settle(memory.engine.store, memory.scope, clock.at) == []
    assert memory.journal(len(before)) == [entry]


def test_a_bare_undo_does_not_undo_the_settling(memory: Memory, clock: FixedClock) -> None:
    remember_city(memory, "Porto"), remember_city(memory, "Faro", day_of_march(10))
    tea = memory.remember("tea is in the tin").atom
    clock.at = day_of_march(11)
    memory.upkeep.sync()
    memory.undo()
    assert memory.get(tea.id).status is Status.TOMBSTONED


def test_it_can_be_undone_by_id_and_stays_undone(memory: Memory, clock: FixedClock) -> None:
    old = remember_city(memory, "Porto")
    remember_city(memory, "Faro", day_of_march(10))
    clock.at = day_of_march(11)
    memory.upkeep.sync()
    memory.undo(memory.journal()[-1].id)
    memory.upkeep.sync()
    assert memory.get(old.id).status is Status.ACTIVE


def test_a_restored_statement_is_left_alone(memory: Memory, clock: FixedClock) -> None:
    old = remember_city(memory, "Porto")
    clock.at = day_of_march(5)
    remember_city(memory, "Faro")
    memory.update_status(old.id, "active", "so I want it")
    clock.at = day_of_march(20)
    memory.upkeep.sync()
    assert memory.get(old.id).status is Status.ACTIVE


def test_an_end_without_a_successor_is_ignored(memory: Memory, clock: FixedClock) -> None:
    over = memory.remember("the sale is on", valid_until="2026-03-05").atom
    clock.at = day_of_march(20)
    memory.upkeep.sync()
    assert memory.get(over.id).status is Status.ACTIVE


def test_a_chain_of_announcements_is_settled_step_by_step(memory: Memory, clock: FixedClock) -> None:
    atoms = [
        remember_city(memory, "Porto"),
        remember_city(memory, "Faro", day_of_march(10)),
        remember_city(memory, "Braga", day_of_march(20)),
    ]
    result = []
    for now in (day_of_march(9), day_of_march(10), day_of_march(20)):
        clock.at = now
        memory.upkeep.sync()
        result.append([memory.get(atom.id).status.value for atom in atoms])
    assert result == [
        ["active", "active", "active"],
        ["superseded", "active", "active"],
        ["superseded", "superseded", "active"],
    ]


def test_only_the_requested_scope_is_settled(tmp_path: Path, clock: FixedClock) -> None:
    with lamina.open(tmp_path, "org:acme", clock=clock, watch=False, background=False) as theirs:
        old = remember_city(theirs, "Porto")
        remember_city(theirs, "Faro", day_of_march(10))
        clock.at = day_of_march(11)
        with lamina.open(tmp_path, clock=clock, watch=False, background=False) as ours:
            ours.upkeep.sync()
        assert theirs.get(old.id).status is Status.ACTIVE
        theirs.upkeep.sync()
        assert theirs.get(old.id).status is Status.SUPERSEDED
