"""Valid time and transaction time agree with a list of versions.

Covers `lamina.store.sqlite.index_rows`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from random_histories import Row, Tally, coalesced, histories, overlapping, true_at

import lamina
from lamina import FixedClock, Memory, Status
from lamina.errors import InvalidInput
from lamina.store.journal import TICK

COUNT, SEED = 2_000, 20261116
DAY = timedelta(days=1)
FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC)


def day_of_march(number: int, hour: int = 0) -> datetime:
    return datetime(2026, 3, number, hour, tzinfo=UTC)


@pytest.fixture(scope="module")
def tally(tmp_path_factory: pytest.TempPathFactory) -> Tally:
    return histories(COUNT, SEED, tmp_path_factory.mktemp("histories"))


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(FIRST)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, background=False) as opened_memory:
        yield opened_memory


def remember_city(memory: Memory, value: str, who: str = "Ann", **fields: Any) -> str:
    """Say where somebody lives; the id of the statement."""
    receipt = memory.remember(f"{who} lives in {value}", subject=who, attribute="city", value=value, **fields)
    return str(receipt.atom.id)


def known_cities(
    memory: Memory, moment: datetime, who: str = "Ann", known_at: datetime | None = None
) -> list[str | None]:
    return [atom.value for atom in memory.list(subject=who, as_of=moment, known_at=known_at)]


def test_two_thousand_histories_agree_with_the_list_of_versions(tally: Tally) -> None:
    assert (tally.histories, tally.faults) == (COUNT, [])
    assert {"new", "supersedes", "superseded", "duplicate", "challenged", "settled", "undone"} <= tally.outcomes.keys()


def test_no_claim_has_two_values_at_one_moment(tally: Tally) -> None:
    assert tally.doubled == []


def test_the_list_of_versions_detects_violations() -> None:
    def row(start: int, until: int | None, status: str = "active", **fields: int) -> Row:
        end = None if until is None else day_of_march(until)
        return Row("c", f"a{start}", "t", status, day_of_march(start), day_of_march(start), end, fields.get("since", 1))

    assert overlapping([row(1, 5), row(4, None)], 1) and overlapping([row(1, None), row(9, 10)], 1)
    assert not overlapping([row(1, 5), row(5, None)], 1) and not overlapping([row(1, None), row(4, 6, "superseded")], 1)
    assert not overlapping([row(1, 5), row(4, None, since=2)], 1)
    versions = [row(1, 5, "superseded"), row(5, None)]
    assert [len(true_at(versions, day_of_march(n), 1)) for n in (1, 4, 5, 9)] == [1, 1, 1, 1]
    assert not true_at(versions, day_of_march(1) - DAY, 1) and not true_at(versions, day_of_march(4), 0)
    assert not true_at([row(1, None, "superseded"), row(1, None, "invalidated")], day_of_march(4), 1)


def test_equal_adjacent_versions_can_be_coalesced() -> None:
    one = Row("c", "a", "t", "active", None, day_of_march(1), None, 1, 4)
    other = Row("c", "a", "t", "active", None, day_of_march(1), None, 4, 9)
    assert coalesced([one, other]) == [Row("c", "a", "t", "active", None, day_of_march(1), None, 1, 9)]
    changed = Row("c", "a", "t", "superseded", None, day_of_march(1), day_of_march(3), 9)
    assert coalesced([one, other, changed])[-1] == changed


def test_disjoint_facts_commute(memory: Memory) -> None:
    facts = [
        ("Porto", day_of_march(1), day_of_march(3)),
        ("Faro", day_of_march(3), day_of_march(8)),
        ("Braga", day_of_march(20), None),
    ]
    result = []
    for n, order in enumerate(permutations(facts)):
        for value, start, end in order:
            remember_city(memory, value, f"person {n}", valid_from=start, valid_until=end)
        result.append(
            [known_cities(memory, day_of_march(number), f"person {n}") for number in (1, 2, 3, 7, 8, 19, 20, 25)]
        )
    assert result == [[["Porto"], ["Porto"], ["Faro"], ["Faro"], [], [], ["Braga"], ["Braga"]]] * 6


def test_adjacent_intervals_give_one_answer_at_their_border(memory: Memory) -> None:
    remember_city(memory, "Porto", valid_from=day_of_march(1), valid_until=day_of_march(5))
    remember_city(memory, "Faro", valid_from=day_of_march(5), valid_until=day_of_march(9))
    tick = timedelta(milliseconds=1)
    assert known_cities(memory, day_of_march(5) - tick) == ["Porto"]
    assert known_cities(memory, day_of_march(5)) == ["Faro"]
    assert known_cities(memory, day_of_march(9)) == []


def test_an_empty_interval_is_refused_and_a_bare_date_is_a_whole_day(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        remember_city(memory, "Porto", valid_from=day_of_march(5), valid_until=day_of_march(5))
    remember_city(memory, "Porto", valid_from="2026-03-05", valid_until="2026-03-06")
    assert [
        known_cities(memory, day_of_march(5)),
        known_cities(memory, day_of_march(6, 23)),
        known_cities(memory, day_of_march(7)),
    ] == [["Porto"], ["Porto"], []]


def test_a_late_fact_is_inserted_before_the_current_one(memory: Memory, clock: FixedClock) -> None:
    remember_city(memory, "Faro")
    clock.at = day_of_march(9)
    late = remember_city(memory, "Porto", valid_from=day_of_march(1) - 20 * DAY)
    assert memory.get(late).status is Status.SUPERSEDED
    assert [
        known_cities(memory, day_of_march(1) - 10 * DAY),
        known_cities(memory, day_of_march(2)),
        known_cities(memory, day_of_march(9)),
    ] == [["Porto"], ["Faro"], ["Faro"]]
    assert known_cities(memory, day_of_march(1) - 10 * DAY, known_at=day_of_march(8)) == []


def test_a_correction_changes_valid_time_and_never_the_journal(memory: Memory, clock: FixedClock) -> None:
    remember_city(memory, "Porto")
    clock.at = day_of_march(9)
    remember_city(memory, "Faro", tags=("correction",))
    assert known_cities(memory, day_of_march(3)) == ["Faro"]
    assert known_cities(memory, day_of_march(3), known_at=day_of_march(8)) == ["Porto"]
    assert known_cities(memory, day_of_march(3), known_at=day_of_march(9, 1)) == ["Faro"]


def test_the_clock_may_go_back_but_the_journal_does_not(memory: Memory, clock: FixedClock) -> None:
    clock.at = day_of_march(20)
    first = memory.remember("tea", subject="a").atom
    clock.at = day_of_march(2)
    second = memory.remember("coffee", subject="b").atom
    entries = memory.journal()
    assert [(entry.seq, entry.at) for entry in entries] == [(1, day_of_march(20)), (2, day_of_march(20) + TICK)]
    assert [atom.id for atom in memory.list(known_at=day_of_march(20))] == [first.id]
    assert {atom.id for atom in memory.list(known_at=day_of_march(20) + TICK)} == {first.id, second.id}
    assert memory.list(known_at=day_of_march(19)) == []
