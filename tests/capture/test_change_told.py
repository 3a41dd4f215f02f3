"""A receipt tells what became of everything that a change touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from changing import Days

from lamina import Status
from lamina.capture.receipt import Result


@pytest.fixture
def days(tmp_path: Path) -> Iterator[Days]:
    made = Days(tmp_path)
    with made.memory:
        yield made


def test_both_ends_of_a_change_are_told_in_one_commit(days: Days) -> None:
    days.says("The choir sings in the chapel.")
    receipt = days.says("The choir moved its rehearsals from the chapel to the old mill.")
    told = {each.result: each.atom for each in receipt.outcomes}
    old, new = told[Result.SUPERSEDED], told[Result.SUPERSEDES]
    assert ("chapel" in old.content, "mill" in new.content) == (True, True)
    assert (old.superseded_by, new.supersedes) == ((new.id,), (old.id,))
    assert {days.memory.history(each.id).versions[-1].commit for each in (old, new)} == {receipt.commit}


def test_undo_of_the_commit_takes_all_of_it_back(days: Days) -> None:
    days.says("My rent is 940 euros.")
    (before,) = days.that_say("940")
    receipt = days.says("My rent is now 1010 euros.")
    assert receipt.commit is not None
    days.memory.undo(receipt.commit)
    (after,) = days.that_say("940")
    assert (after.status, after.superseded_by, after.valid_until) == (Status.ACTIVE, (), before.valid_until)


def test_what_was_laid_aside_is_over_and_stays_laid_aside(days: Days) -> None:
    days.says("My choir sings in the chapel.")
    (old,) = days.that_say("chapel")
    days.memory.update_status(old.id, "archived", "seldom asked for")
    days.says("My choir moved its rehearsals from the chapel to the old mill.")
    after = days.memory.get(old.id)
    assert after.status is Status.ARCHIVED
    assert after.valid_until == days.at(2)
    assert after.superseded_by
    assert "mill" in days.finds("Where does my choir rehearse?").split("\n")[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ida feeds goat number 3.", "Ida feeds goat number 4."),
        ("barley and oats, 3, sack", "barley and oats, 4, sack"),
    ],
)
def test_what_is_remembered_of_one_thing_does_not_end_what_is_of_another(days: Days, one: str, other: str) -> None:
    first = days.memory.remember(one).atom
    days.clock.at = days.at(1)
    days.memory.remember(other)
    assert days.memory.get(first.id).status is Status.ACTIVE


def test_what_is_remembered_ends_what_it_plainly_replaces(days: Days) -> None:
    first = days.memory.remember("The goat shed has 3 doors.").atom
    days.clock.at = days.at(1)
    days.memory.remember("The goat shed has 4 doors now.")
    assert days.memory.get(first.id).status is Status.SUPERSEDED
