"""What chat models used, kept in a file of its own."""

from __future__ import annotations

import threading
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lamina.store.admin import DailyUsage, ModelUsage, Usage
from lamina.store.sqlite.recalls_and_usage import SqliteUsage
from lamina.testing.admin import day_total

DAY = date(2026, 11, 16)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "usage.db"


def test_counts_are_summed_by_day_and_model(db: Path) -> None:
    usage: Usage = SqliteUsage(db)
    assert usage.add(DAY, "a", ModelUsage(1, 10, 2, 0.5)) == ModelUsage(1, 10, 2, 0.5)
    assert usage.add(DAY, "b", ModelUsage(1, 5, 1, 0.25)) == ModelUsage(2, 15, 3, 0.75)
    assert usage.add(DAY, "a", ModelUsage(1, 10, 2, 0.5)) == ModelUsage(3, 25, 5, 1.25)
    assert usage.add(DAY + timedelta(days=1), "a", ModelUsage(calls=1)) == ModelUsage(calls=1)
    assert day_total(usage, DAY) == ModelUsage(3, 25, 5, 1.25)
    assert day_total(usage, DAY).tokens == 30
    assert usage.days() == [
        DailyUsage(DAY + timedelta(days=1), "a", ModelUsage(calls=1)),
        DailyUsage(DAY, "a", ModelUsage(2, 20, 4, 1.0)),
        DailyUsage(DAY, "b", ModelUsage(1, 5, 1, 0.25)),
    ]


def test_a_day_without_calls_is_empty_and_reading_makes_no_file(db: Path) -> None:
    usage = SqliteUsage(db)
    assert day_total(usage, DAY) == ModelUsage()
    assert usage.days() == []
    assert not db.exists()


def test_counts_survive_the_process_that_made_them(db: Path) -> None:
    first = SqliteUsage(db)
    first.add(DAY, "m", ModelUsage(1, 2, 3, 4.0))
    first.close()
    assert day_total(SqliteUsage(db), DAY) == ModelUsage(1, 2, 3, 4.0)


def test_a_damaged_file_is_recreated(db: Path) -> None:
    db.write_bytes(b"not a database at all, but long enough to be looked at " * 40)
    usage = SqliteUsage(db)
    assert usage.add(DAY, "m", ModelUsage(calls=1)) == ModelUsage(calls=1)


def test_threads_lose_no_count(db: Path) -> None:
    usage = SqliteUsage(db)
    all_here = threading.Barrier(6)

    def count() -> None:
        all_here.wait()
        for _ in range(20):
            usage.add(DAY, "m", ModelUsage(1, 1, 1))

    threads = [threading.Thread(target=count) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert day_total(usage, DAY) == ModelUsage(120, 120, 120)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 10**12)), max_size=8))
def test_daily_counts_sum_to_the_total(
    tmp_path_factory: pytest.TempPathFactory, increments: list[tuple[str, int, int]]
) -> None:
    usage = SqliteUsage(tmp_path_factory.mktemp("usage") / "usage.db")
    for model, calls, tokens in increments:
        usage.add(DAY, model, ModelUsage(calls, tokens, tokens))
    whole = day_total(usage, DAY)
    assert whole.calls == sum(day.usage.calls for day in usage.days()) == sum(calls for _, calls, _ in increments)
    assert whole.tokens == sum(day.usage.tokens for day in usage.days())
    usage.close()
