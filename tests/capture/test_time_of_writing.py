"""What states no time is newer than everything committed before it, whatever the clock says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina import Atom, FixedClock, Memory, Result, Status

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
STEPS = {
    "frozen": timedelta(0),
    "a millisecond on": timedelta(milliseconds=1),
    "a second back": timedelta(seconds=-1),
    "a year back": timedelta(days=-365),
}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, background=False) as opened_memory:
        yield opened_memory


def remember_editor(memory: Memory, value: str, **fields: Any) -> Atom:
    claim = {"kind": "preference", "subject": "user", "attribute": "editor", "value": value}
    return memory.remember(f"The user prefers {value}.", **{**claim, **fields}).atom


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_new_value_answers_whatever_the_clock_says(memory: Memory, clock: FixedClock, step: timedelta) -> None:
    for value in ("vim", "emacs", "nano"):
        newest = remember_editor(memory, value)
        clock.at += step
    values = {atom.value: atom.status for atom in memory.list(status=None, limit=None) if atom.attribute}
    assert values == {"vim": Status.SUPERSEDED, "emacs": Status.SUPERSEDED, "nano": Status.ACTIVE}
    hit = memory.recall("Which editor does the user prefer?").hits[0]
    assert (hit.atom.id, hit.flagged) == (newest.id, False)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_the_history_of_a_value_has_no_gap_and_no_overlap(memory: Memory, clock: FixedClock, step: timedelta) -> None:
    ids = []
    for value in ("vim", "emacs", "nano"):
        ids.append(remember_editor(memory, value).id)
        clock.at += step
    history = [memory.get(atom_id) for atom_id in ids]
    starts = [atom.valid_from or atom.observed_at for atom in history]
    assert starts == sorted(set(starts))
    assert [atom.valid_until for atom in history] == [*starts[1:], None]


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_value_with_an_earlier_date_of_its_own_stays_the_older_one(
    memory: Memory, clock: FixedClock, step: timedelta
) -> None:
    remember_editor(memory, "vim")
    clock.at += step
    late = memory.remember(
        "The user preferred ed.", subject="user", attribute="editor", value="ed", valid_from=NOON - timedelta(days=900)
    )
    assert late.outcomes[0].result is Result.SUPERSEDED


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_captured_turns_are_in_the_order_they_were_captured(memory: Memory, clock: FixedClock, step: timedelta) -> None:
    turns = ["My locker is number 14.", "We painted the kitchen.", "My locker is number 22 now."]
    for n, words in enumerate(turns):
        memory.capture([{"role": "user", "content": words}], session_id=f"s{n}", wait=True)
        clock.at += step
    segments = {atom.session_id: atom for atom in memory.list(kind="narrative", status=None, limit=None)}
    times = [segments[f"s{n}"].observed_at for n in range(len(turns))]
    assert times == sorted(set(times))
    hits = memory.recall("What is the number of my locker?").hits
    assert "22" in hits[0].text


def test_every_commit_is_later_than_the_one_before(memory: Memory, clock: FixedClock) -> None:
    times: list[datetime | None] = []
    for n in range(5):
        times.append(memory.remember(f"The code of door {n} is {n * 7}.").atom.recorded_at)
        clock.at -= timedelta(milliseconds=n % 2)
    assert times == sorted(set(filter(None, times)))


def test_a_value_remembered_after_the_clock_went_back_is_known_at_its_commit(memory: Memory, clock: FixedClock) -> None:
    old = remember_editor(memory, "vim")
    clock.at -= timedelta(hours=1)
    new = remember_editor(memory, "emacs")
    assert old.recorded_at is not None and new.recorded_at is not None
    question = "Which editor does the user prefer?"
    assert memory.recall(question, known_at=old.recorded_at).hits[0].atom.id == old.id
    assert memory.recall(question, known_at=new.recorded_at).hits[0].atom.id == new.id
