"""Ids sort by time and are unique."""

from __future__ import annotations

import random
import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom import AtomId
from lamina.atom.atom import IdSource, is_atom_id

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31)).map(lambda moment: moment.replace(tzinfo=UTC))


@given(st.lists(MOMENTS, min_size=1), st.integers())
def test_ids_sort_by_time(moments: list[datetime], seed: int) -> None:
    source = IdSource(random.Random(seed).randbytes)
    ids = [source.new(moment) for moment in sorted(moments)]
    assert ids == sorted(set(ids))
    assert all(is_atom_id(atom_id) for atom_id in ids)


@given(MOMENTS, MOMENTS, st.integers())
def test_ids_of_two_sources_sort_by_the_millisecond(one: datetime, other: datetime, seed: int) -> None:
    randbytes = random.Random(seed).randbytes
    if other - one >= timedelta(milliseconds=1):
        assert IdSource(randbytes).new(one) < IdSource(randbytes).new(other)


def test_ids_of_one_millisecond_are_unique_and_in_order() -> None:
    source = IdSource(random.Random(7).randbytes)
    ids = [source.new(NOON) for _ in range(2000)]
    assert ids == sorted(set(ids))


@pytest.mark.parametrize("byte", [b"\x00", b"\xff"])
def test_even_the_worst_randomness_gives_unique_ids_in_order(byte: bytes) -> None:
    source = IdSource(lambda count: byte * count)
    moments = [NOON] * 5 + [NOON + timedelta(milliseconds=1)] * 5
    ids = [source.new(moment) for moment in moments]
    assert ids == sorted(set(ids))


def test_a_clock_that_steps_back_is_accepted() -> None:
    source = IdSource(random.Random(7).randbytes)
    late, early = source.new(NOON), source.new(NOON - timedelta(hours=1))
    assert early < late


def test_a_time_before_1970_still_gives_an_id() -> None:
    assert is_atom_id(IdSource(random.Random(7).randbytes).new(datetime(1900, 1, 1, tzinfo=UTC)))


def test_threads_sharing_a_source_never_share_an_id() -> None:
    source = IdSource(lambda count: b"\x00" * count)
    result: list[list[AtomId]] = [[] for _ in range(4)]
    threads = [
        threading.Thread(target=lambda mine: mine.extend(source.new(NOON) for _ in range(3000)), args=(mine,))
        for mine in result
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({item for mine in result for item in mine}) == 12_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0" * 25,
        "0" * 27,
        "8" + "0" * 25,
        "0" * 25 + "i",
        "0" * 25 + "l",
        "0" * 25 + "o",
        "0" * 25 + "u",
        "0" * 25 + "A",
        "0" * 26 + "\n",
        "0" * 25 + "٣",
        "../" + "0" * 23,
        "0" * 25 + " ",
    ],
)
def test_malformed_ids_are_detected(text: str) -> None:
    assert not is_atom_id(text)
