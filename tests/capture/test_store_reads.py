"""What was decided counts at once, before anything is committed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from daily_sessions import START, Days

from lamina import Status
from lamina.atom.atom import Atom, Evidence
from lamina.capture.store_reads import StoreReads, WorkingSet


@pytest.fixture
def days(tmp_path: Path) -> Iterator[Days]:
    result = Days(tmp_path)
    with result.memory:
        yield result


@pytest.fixture
def berth(days: Days) -> Atom:
    days.says("My boat is moored at Larvik.")
    (atom,) = days.that_say("Larvik")
    return atom


def working_set_of(days: Days) -> WorkingSet:
    return WorkingSet(StoreReads(days.memory.engine.store), days.memory.scope, days.clock.now())


def test_a_sentence_is_current_until_every_statement_on_it_has_ended(days: Days, berth: Atom) -> None:
    working_set, place = working_set_of(days), berth.evidence[0]
    assert working_set.is_sentence_current(place)
    working_set.record_change(berth.with_(status=Status.SUPERSEDED))
    assert not working_set.is_sentence_current(place)
    working_set.record_change(berth.with_(id="another", status=Status.ACTIVE))
    assert working_set.is_sentence_current(place)


def test_archived_and_ended_statements_support_no_sentence(days: Days, berth: Atom) -> None:
    working_set = working_set_of(days)
    working_set.record_change(berth.with_(status=Status.ARCHIVED))
    assert working_set.is_sentence_current(berth.evidence[0])
    working_set.record_change(berth.with_(status=Status.ARCHIVED, valid_until=START))
    assert not working_set.is_sentence_current(berth.evidence[0])


def test_a_sentence_without_statements_is_current(days: Days, berth: Atom) -> None:
    assert working_set_of(days).is_sentence_current(Evidence(berth.evidence[0].segment, 7, 0, 5))


def test_the_working_set_remembers_both_versions_of_an_atom(days: Days, berth: Atom) -> None:
    working_set = working_set_of(days)
    stored = working_set.get(berth.id)
    assert stored is not None
    working_set.record_change(stored.with_(status=Status.SUPERSEDED))
    working_set.record_change(stored.with_(id="made-here"))
    assert working_set.changed[berth.id].status is Status.SUPERSEDED
    assert working_set.stored_version(berth.id) == berth
    assert working_set.stored_version(working_set.changed["made-here"].id) is None  # type: ignore[index]
