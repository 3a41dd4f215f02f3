"""Two axes of time against a list of versions: what is true at a moment as it was known at a position."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from histories import Row, Tally, coalesced, histories, overlapping, true_at

from lamina import FixedClock, Memory, Status
from lamina.errors import InvalidInput

COUNT, SEED = 2_000, 20261116
DAY = timedelta(days=1)
FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC)


def day(number: int, hour: int = 0) -> datetime:
    return datetime(2026, 3, number, hour, tzinfo=UTC)


@pytest.fixture(scope="module")
def tally(tmp_path_factory: pytest.TempPathFactory) -> Tally:
    return histories(COUNT, SEED, tmp_path_factory.mktemp("histories"))


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(FIRST)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory(tmp_path / "vault", clock=clock, watch=False, background=False) as opened:
        yield opened


def city(memory: Memory, value: str, who: str = "Ann", **fields: Any) -> str:
    """Say where somebody lives; the id of the statement."""
    said = memory.remember(f"{who} lives in {value}", subject=who, attribute="city", value=value, **fields)
    return str(said.atom.id)


def cities(memory: Memory, moment: datetime, who: str = "Ann", known_at: datetime | None = None) -> list[str | None]:
    return [atom.value for atom in memory.list(subject=who, as_of=moment, known_at=known_at)]


def test_two_thousand_histories_answer_as_the_list_of_versions_does(tally: Tally) -> None:
    assert (tally.histories, tally.faults) == (COUNT, [])
    assert {"new", "supersedes", "superseded", "duplicate", "challenged", "settled", "undone"} <= tally.outcomes.keys()


def test_no_claim_has_two_values_at_one_moment(tally: Tally) -> None:
    assert tally.doubled == []


def test_the_list_of_versions_notices_what_it_is_there_to_notice() -> None:
    def row(start: int, until: int | None, status: str = "active", **fields: int) -> Row:
        end = None if until is None else day(until)
        return Row("c", f"a{start}", "t", status, day(start), day(start), end, fields.get("since", 1))

    assert overlapping([row(1, 5), row(4, None)], 1) and overlapping([row(1, None), row(9, 10)], 1)
    assert not overlapping([row(1, 5), row(5, None)], 1) and not overlapping([row(1, None), row(4, 6, "superseded")], 1)
    assert not overlapping([row(1, 5), row(4, None, since=2)], 1)
    versions = [row(1, 5, "superseded"), row(5, None)]
    assert [len(true_at(versions, day(n), 1)) for n in (1, 4, 5, 9)] == [1, 1, 1, 1]
    assert not true_at(versions, day(1) - DAY, 1) and not true_at(versions, day(4), 0)
    assert not true_at([row(1, None, "superseded"), row(1, None, "invalidated")], day(4), 1)


def test_versions_that_say_the_same_can_be_made_one() -> None:
    one = Row("c", "a", "t", "active", None, day(1), None, 1, 4)
    other = Row("c", "a", "t", "active", None, day(1), None, 4, 9)
    assert coalesced([one, other]) == [Row("c", "a", "t", "active", None, day(1), None, 1, 9)]
    changed = Row("c", "a", "t", "superseded", None, day(1), day(3), 9)
    assert coalesced([one, other, changed])[-1] == changed


def test_facts_that_do_not_touch_give_the_same_whatever_the_order_they_come_in(memory: Memory) -> None:
    facts = [("Porto", day(1), day(3)), ("Faro", day(3), day(8)), ("Braga", day(20), None)]
    told = []
    for n, order in enumerate(permutations(facts)):
        for value, start, end in order:
            city(memory, value, f"person {n}", valid_from=start, valid_until=end)
        told.append([cities(memory, day(each), f"person {n}") for each in (1, 2, 3, 7, 8, 19, 20, 25)])
    assert told == [[["Porto"], ["Porto"], ["Faro"], ["Faro"], [], [], ["Braga"], ["Braga"]]] * 6


def test_where_one_stretch_ends_and_the_next_begins_there_is_one_answer(memory: Memory) -> None:
    city(memory, "Porto", valid_from=day(1), valid_until=day(5))
    city(memory, "Faro", valid_from=day(5), valid_until=day(9))
    tick = timedelta(milliseconds=1)
    assert cities(memory, day(5) - tick) == ["Porto"]
    assert cities(memory, day(5)) == ["Faro"]
    assert cities(memory, day(9)) == []


def test_an_empty_stretch_is_refused_and_a_bare_date_is_a_whole_day(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        city(memory, "Porto", valid_from=day(5), valid_until=day(5))
    city(memory, "Porto", valid_from="2026-03-05", valid_until="2026-03-06")
    assert [cities(memory, day(5)), cities(memory, day(6, 23)), cities(memory, day(7))] == [["Porto"], ["Porto"], []]


def test_a_late_fact_fits_in_before_the_current_one(memory: Memory, clock: FixedClock) -> None:
    city(memory, "Faro")
    clock.at = day(9)
    late = city(memory, "Porto", valid_from=day(1) - 20 * DAY)
    assert memory.get(late).status is Status.SUPERSEDED
    assert [cities(memory, day(1) - 10 * DAY), cities(memory, day(2)), cities(memory, day(9))] == [
        ["Porto"],
        ["Faro"],
        ["Faro"],
    ]
    assert cities(memory, day(1) - 10 * DAY, known_at=day(8)) == []


def test_a_correction_reaches_back_in_the_world_and_never_in_the_journal(memory: Memory, clock: FixedClock) -> None:
    city(memory, "Porto")
    clock.at = day(9)
    city(memory, "Faro", tags=("correction",))
    assert cities(memory, day(3)) == ["Faro"]
    assert cities(memory, day(3), known_at=day(8)) == ["Porto"]
    assert cities(memory, day(3), known_at=day(9, 1)) == ["Faro"]


def test_the_clock_may_go_back_and_the_journal_does_not(memory: Memory, clock: FixedClock) -> None:
    clock.at = day(20)
    first = memory.remember("tea", subject="a").atom
    clock.at = day(2)
    second = memory.remember("coffee", subject="b").atom
    entries = memory.journal()
    assert [entry.seq for entry in entries] == [1, 2] and entries[0].at == entries[1].at == day(20)
    assert {atom.id for atom in memory.list(known_at=day(20))} == {first.id, second.id}
    assert memory.list(known_at=day(19)) == []
