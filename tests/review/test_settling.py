"""When the day of an announced value comes, the one it takes the place of says that it is over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lamina import Atom, FixedClock, Memory, Status
from lamina.review.settle import settle


def day(number: int) -> datetime:
    return datetime(2026, 3, number, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(day(1))


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory(tmp_path / "vault", clock=clock, watch=False, background=False) as opened:
        yield opened


def lives(memory: Memory, city: str, valid_from: datetime | None = None) -> Atom:
    said = memory.remember(f"Ann lives in {city}", subject="Ann", attribute="city", value=city, valid_from=valid_from)
    return said.atom


def found(memory: Memory) -> list[str]:
    return [hit.text for hit in memory.recall("where does Ann live?").hits]


def test_an_announced_value_takes_over_when_its_day_comes(memory: Memory, clock: FixedClock) -> None:
    old, new = lives(memory, "Porto"), lives(memory, "Faro", day(10))
    old = memory.get(old.id)
    assert (old.status, old.valid_until, old.superseded_by) == (Status.ACTIVE, day(10), (new.id,))
    assert found(memory) == ["Ann lives in Porto"]
    clock.at = day(10)
    assert found(memory) == ["Ann lives in Faro"], "validity decides before anybody settles anything"
    memory.sync()
    assert memory.get(old.id).status is Status.SUPERSEDED
    assert found(memory) == ["Ann lives in Faro"]
    assert "superseded" in (memory.root / str(memory.path_of(old.id))).read_text()
    assert memory.get(old.id, as_of=day(5)).content == "Ann lives in Porto"


def test_it_is_one_commit_by_lamina_and_nothing_is_written_twice(memory: Memory, clock: FixedClock) -> None:
    lives(memory, "Porto"), lives(memory, "Faro", day(10))
    before = memory.journal()
    memory.sync()
    assert memory.journal() == before
    clock.at = day(11)
    memory.sync()
    (entry,) = memory.journal(len(before))
    assert (entry.verb, entry.actor, len(entry.changes)) == ("settle", "lamina", 1)
    memory.sync()
    assert settle(memory._store, memory.scope, clock.at) == []
    assert memory.journal(len(before)) == [entry]


def test_undoing_the_last_thing_does_not_mean_it(memory: Memory, clock: FixedClock) -> None:
    lives(memory, "Porto"), lives(memory, "Faro", day(10))
    tea = memory.remember("tea is in the tin").atom
    clock.at = day(11)
    memory.sync()
    memory.undo()
    assert memory.get(tea.id).status is Status.TOMBSTONED


def test_it_can_be_undone_by_its_name_and_stays_undone(memory: Memory, clock: FixedClock) -> None:
    old = lives(memory, "Porto")
    lives(memory, "Faro", day(10))
    clock.at = day(11)
    memory.sync()
    memory.undo(memory.journal()[-1].id)
    memory.sync()
    assert memory.get(old.id).status is Status.ACTIVE


def test_what_somebody_restored_is_left_alone(memory: Memory, clock: FixedClock) -> None:
    old = lives(memory, "Porto")
    clock.at = day(5)
    lives(memory, "Faro")
    memory.update_status(old.id, "active", "so I want it")
    clock.at = day(20)
    memory.sync()
    assert memory.get(old.id).status is Status.ACTIVE


def test_what_ends_without_a_successor_is_no_concern_of_it(memory: Memory, clock: FixedClock) -> None:
    over = memory.remember("the sale is on", valid_until="2026-03-05").atom
    clock.at = day(20)
    memory.sync()
    assert memory.get(over.id).status is Status.ACTIVE


def test_a_chain_of_announcements_is_settled_link_by_link(memory: Memory, clock: FixedClock) -> None:
    atoms = [lives(memory, "Porto"), lives(memory, "Faro", day(10)), lives(memory, "Braga", day(20))]
    told = []
    for now in (day(9), day(10), day(20)):
        clock.at = now
        memory.sync()
        told.append([memory.get(atom.id).status.value for atom in atoms])
    assert told == [
        ["active", "active", "active"],
        ["superseded", "active", "active"],
        ["superseded", "superseded", "active"],
    ]


def test_only_the_scope_it_is_asked_for_is_settled(tmp_path: Path, clock: FixedClock) -> None:
    with Memory(tmp_path, "org:acme", clock=clock, watch=False, background=False) as theirs:
        old = lives(theirs, "Porto")
        lives(theirs, "Faro", day(10))
        clock.at = day(11)
        with Memory(tmp_path, clock=clock, watch=False, background=False) as ours:
            ours.sync()
        assert theirs.get(old.id).status is Status.ACTIVE
        theirs.sync()
        assert theirs.get(old.id).status is Status.SUPERSEDED
