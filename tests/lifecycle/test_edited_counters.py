"""Counters of use that a person edits, and those of two statements that become one.

Covers `edit_counters` and `merge_counters` of `lamina.lifecycle.signals`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import Signals
from lamina.lifecycle.signals import MAX_USE_TIMES, edit_counters, from_counters, merge_counters

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)
USED = Signals(1.3, 4, NOON, tuple(NOON - n * DAY for n in (3, 2, 1, 0)), NOON - 3 * DAY, 4, 2.0, 1.0)

TIMES = st.integers(0, 400).map(lambda hours: NOON - timedelta(hours=hours))
COUNTERS = st.builds(
    lambda times, more, quality: Signals(
        quality,
        len(times) + more if times else 0,
        max(times, default=None),
        tuple(sorted(times))[-MAX_USE_TIMES:],
        min(times, default=None),
        len({time.date() for time in times}),
    ),
    st.sets(TIMES, max_size=12),
    st.integers(0, 5),
    st.sampled_from([0.1, 0.95, 1.0, 1.4, 2.0]),
)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"quality_score": 0.2}, (0.2, 4, NOON, 4)),
        ({"recall_count": 2}, (1.3, 2, NOON, 2)),
        ({"recall_count": 0}, (1.3, 0, None, 0)),
        ({"recall_count": 50}, (1.3, 50, NOON, 4)),
        ({"last_recalled_at": NOON - 2 * DAY}, (1.3, 4, NOON - 2 * DAY, 2)),
        ({"last_recalled_at": NOON + DAY}, (1.3, 4, NOON + DAY, 4)),
        ({"last_recalled_at": None}, (1.3, 4, None, 0)),
        ({}, (1.3, 4, NOON, 4)),
    ],
)
def test_the_times_of_use_agree_with_what_a_person_set(values: dict[str, Any], expected: tuple[object, ...]) -> None:
    edited = edit_counters(USED, values)
    times = len(edited.uses)
    assert (edited.quality_score, edited.recall_count, edited.last_recalled_at, times) == expected
    assert (edited.successes, edited.failures) == (2.0, 1.0)


@given(COUNTERS, st.integers(0, 20), st.none() | TIMES)
def test_edited_counters_are_consistent(counters: Signals, count: int, last: datetime | None) -> None:
    edited = edit_counters(counters, {"recall_count": count, "last_recalled_at": last})
    assert len(edited.uses) <= min(count, MAX_USE_TIMES)
    assert edited.last_recalled_at == (last if count else None)
    assert all(use <= last for use in edited.uses if last)
    assert edited.first_used_at is None or last is None or edited.first_used_at <= last
    assert from_counters(edited).total_uses == count


@given(COUNTERS, COUNTERS)
def test_merging_is_idempotent_and_loses_no_use(one: Signals, other: Signals) -> None:
    merged = merge_counters(one, other)
    assert merge_counters(merged, other) == merged
    assert merged.recall_count == max(one.recall_count, other.recall_count)
    assert merged.quality_score == (one.quality_score if one.quality_score != 1.0 else other.quality_score)
