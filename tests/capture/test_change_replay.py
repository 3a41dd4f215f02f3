"""An old transcript that comes again states nothing anew, whatever became of what it stated the first time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from changing import Days, results

from lamina import Status
from lamina.atom.atom import Atom
from lamina.capture.receipt import Result

BOAT = ("My boat is moored at Larvik.", "The cabin key hangs in the pantry.")


@pytest.fixture
def days(tmp_path: Path) -> Iterator[Days]:
    made = Days(tmp_path)
    with made.memory:
        yield made


def ids(atoms: list[Atom]) -> set[str]:
    return {atom.id for atom in atoms}


def test_the_same_transcript_under_another_name_makes_no_statement(days: Days) -> None:
    days.says(*BOAT)
    before = days.statements()
    again = days.says(*BOAT, session="export", day=1)
    assert ids(days.statements()) == ids(before)
    assert set(results(again)) <= {Result.DUPLICATE}


def test_what_was_made_of_it_rests_on_both(days: Days) -> None:
    days.says(*BOAT)
    (berth,) = days.that_say("Larvik")
    again = days.says(*BOAT, session="export", day=1)
    (outcome,) = (each for each in again.outcomes if each.atom.id == berth.id)
    assert (outcome.result, outcome.reason) == (Result.DUPLICATE, "repeated")
    assert len({each.segment for each in days.memory.get(berth.id).evidence}) == 2


def test_what_was_replaced_since_is_not_found_in_it(days: Days) -> None:
    days.says(*BOAT)
    days.says("My boat is moored at Horten, no longer at Larvik.")
    (old,) = days.that_say("moored at Larvik")
    assert old.status is Status.SUPERSEDED
    days.says(*BOAT, session="export", day=1)
    assert days.memory.get(old.id).status is Status.SUPERSEDED
    assert days.that_say("moored at Larvik") == [days.memory.get(old.id)]
    assert "Horten" in days.finds("Where is my boat moored?").split("\n")[0]


def test_what_was_taken_back_is_refused_and_stays_so(days: Days) -> None:
    days.says("My boat is moored at Larvik.")
    (berth,) = days.that_say("Larvik")
    days.memory.forget(berth.id, "not theirs to know")
    again = days.says("My boat is moored at Larvik.", session="export", day=1)
    (outcome,) = (each for each in again.outcomes if each.result is not Result.KEPT)
    assert outcome.result is Result.REFUSED
    assert outcome.reason == f"{berth.id} said this and was retracted on 2026-01-06"
    assert days.memory.get(berth.id).status is Status.TOMBSTONED
    assert "Larvik" not in days.finds("Where is my boat moored?")


def test_somebody_who_says_it_anew_is_heard(days: Days) -> None:
    days.says("My boat is moored at Larvik.")
    (berth,) = days.that_say("Larvik")
    days.memory.forget(berth.id, "not so")
    days.says("My boat is moored at Larvik.")
    assert [atom.status for atom in days.that_say("Larvik") if atom.id != berth.id] == [Status.ACTIVE]
    assert "Larvik" in days.finds("Where is my boat moored?")


def test_a_transcript_with_something_new_in_it_is_read(days: Days) -> None:
    days.says(*BOAT)
    days.says(*BOAT, "My tent is packed in the attic.", session="export", day=1)
    assert days.that_say("attic")


def test_a_session_that_is_captured_again_keeps_each_turn_once(days: Days) -> None:
    days.says(*BOAT, session="one")
    days.says(*BOAT, "My tent is packed in the attic.", session="one", day=1)
    words = [each.content for each in days.memory.list(status=None, limit=100) if each.is_segment]
    assert sum(word.count("Larvik") for word in words) == 1
    assert sum(word.count("attic") for word in words) == 1
