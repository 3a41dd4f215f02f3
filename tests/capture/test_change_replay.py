"""An old transcript that comes again states nothing anew, whatever became of what it stated the first time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from daily_sessions import Days, results

from lamina import Status
from lamina.atom.atom import Atom
from lamina.capture.receipt import Result

BOAT = ("My boat is moored at Larvik.", "The cabin key hangs in the pantry.")


@pytest.fixture
def days(tmp_path: Path) -> Iterator[Days]:
    result = Days(tmp_path)
    with result.memory:
        yield result


def ids(atoms: list[Atom]) -> set[str]:
    return {atom.id for atom in atoms}


def test_the_same_transcript_under_another_session_id_makes_no_statement(days: Days) -> None:
    days.says(*BOAT)
    before = days.statements()
    again = days.says(*BOAT, session="export", day=1)
    assert ids(days.statements()) == ids(before)
    assert set(results(again)) <= {Result.DUPLICATE}


def test_its_statements_rest_on_both_copies(days: Days) -> None:
    days.says(*BOAT)
    (berth,) = days.that_say("Larvik")
    again = days.says(*BOAT, session="export", day=1)
    (outcome,) = (outcome for outcome in again.outcomes if outcome.atom.id == berth.id)
    assert (outcome.result, outcome.reason) == (Result.DUPLICATE, "repeated")
    assert len({evidence.segment for evidence in days.memory.get(berth.id).evidence}) == 2


def test_a_superseded_statement_is_not_extracted_from_it_again(days: Days) -> None:
    days.says(*BOAT)
    days.says("My boat is moored at Horten, no longer at Larvik.")
    (old,) = days.that_say("moored at Larvik")
    assert old.status is Status.SUPERSEDED
    days.says(*BOAT, session="export", day=1)
    assert days.memory.get(old.id).status is Status.SUPERSEDED
    assert days.that_say("moored at Larvik") == [days.memory.get(old.id)]
    assert "Horten" in days.finds("Where is my boat moored?").split("\n")[0]


def test_a_retracted_statement_is_refused_and_stays_retracted(days: Days) -> None:
    days.says("My boat is moored at Larvik.")
    (berth,) = days.that_say("Larvik")
    days.memory.forget(berth.id, "not theirs to know")
    again = days.says("My boat is moored at Larvik.", session="export", day=1)
    (outcome,) = (outcome for outcome in again.outcomes if outcome.result is not Result.KEPT)
    assert outcome.result is Result.REFUSED
    assert outcome.reason == f"{berth.id} said this and was retracted on 2026-01-06"
    assert days.memory.get(berth.id).status is Status.TOMBSTONED
    assert "Larvik" not in days.finds("Where is my boat moored?")


def test_a_new_statement_of_the_same_words_is_accepted(days: Days) -> None:
    days.says("My boat is moored at Larvik.")
    (berth,) = days.that_say("Larvik")
    days.memory.forget(berth.id, "not so")
    days.says("My boat is moored at Larvik.")
    assert [atom.status for atom in days.that_say("Larvik") if atom.id != berth.id] == [Status.ACTIVE]
    assert "Larvik" in days.finds("Where is my boat moored?")


def test_a_transcript_with_new_turns_is_read(days: Days) -> None:
    days.says(*BOAT)
    days.says(*BOAT, "My tent is packed in the attic.", session="export", day=1)
    assert days.that_say("attic")


def test_a_session_captured_again_stores_each_turn_once(days: Days) -> None:
    days.says(*BOAT, session="one")
    days.says(*BOAT, "My tent is packed in the attic.", session="one", day=1)
    words = [atom.content for atom in days.memory.list(status=None, limit=100) if atom.is_segment]
    assert sum(word.count("Larvik") for word in words) == 1
    assert sum(word.count("attic") for word in words) == 1
