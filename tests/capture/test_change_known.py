"""What was decided counts at once, before anything is committed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from changing import START, Days

from lamina import Status
from lamina.atom.atom import Atom, Evidence
from lamina.capture.change.working_set import WorkingSet


@pytest.fixture
def days(tmp_path: Path) -> Iterator[Days]:
    made = Days(tmp_path)
    with made.memory:
        yield made


@pytest.fixture
def berth(days: Days) -> Atom:
    days.says("My boat is moored at Larvik.")
    (found,) = days.that_say("Larvik")
    return found


def known_of(days: Days) -> WorkingSet:
    return WorkingSet(days.memory._store, days.memory.scope, days.clock.now())


def test_a_sentence_holds_until_all_that_rests_on_it_has_ended(days: Days, berth: Atom) -> None:
    known, place = known_of(days), berth.evidence[0]
    assert known.is_sentence_current(place)
    known.record_change(berth.with_(status=Status.SUPERSEDED))
    assert not known.is_sentence_current(place)
    known.record_change(berth.with_(id="another", status=Status.ACTIVE))
    assert known.is_sentence_current(place)


def test_what_is_laid_aside_and_over_holds_nothing(days: Days, berth: Atom) -> None:
    known = known_of(days)
    known.record_change(berth.with_(status=Status.ARCHIVED))
    assert known.is_sentence_current(berth.evidence[0])
    known.record_change(berth.with_(status=Status.ARCHIVED, valid_until=START))
    assert not known.is_sentence_current(berth.evidence[0])


def test_a_sentence_nobody_made_anything_of_holds(days: Days, berth: Atom) -> None:
    assert known_of(days).is_sentence_current(Evidence(berth.evidence[0].segment, 7, 0, 5))


def test_what_an_atom_was_is_remembered_beside_what_it_shall_be(days: Days, berth: Atom) -> None:
    known = known_of(days)
    stored = known.get(berth.id)
    assert stored is not None
    known.record_change(stored.with_(status=Status.SUPERSEDED))
    known.record_change(stored.with_(id="made-here"))
    assert known.changed[berth.id].status is Status.SUPERSEDED
    assert known.stored_version(berth.id) == berth
    assert known.stored_version(known.changed["made-here"].id) is None  # type: ignore[index]
