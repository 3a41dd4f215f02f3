"""Which sources bear a statement out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import Atom, FixedClock, Memory

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
SAID = "My dentist is Dr Reyes."


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def person(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened:
        yield opened


@pytest.fixture
def agent(person: Memory, tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, ceiling="agent", actor="bot") as opened:
        yield opened


def say(memory: Memory, clock: FixedClock, *sessions: str) -> None:
    for session in sessions:
        clock.at += timedelta(hours=1)
        memory.capture([{"speaker": "Ann", "content": SAID}], session_id=session, wait=True)


def dentist(memory: Memory) -> Atom:
    (found,) = (each for each in memory.list(limit=None) if each.evidence)
    return found


def test_each_further_session_of_a_person_bears_it_out_once(person: Memory, clock: FixedClock) -> None:
    say(person, clock, "monday", "monday", "tuesday", "wednesday", "tuesday")
    assert person.confirmations(dentist(person).id) == 2


def test_an_agent_bears_itself_out_under_no_number_of_names(agent: Memory, clock: FixedClock) -> None:
    say(agent, clock, *(f"session {n}" for n in range(6)))
    told = dentist(agent)
    assert (len(told.evidence), agent.confirmations(told.id)) == (6, 0)


def test_an_agent_bears_out_no_person(person: Memory, agent: Memory, clock: FixedClock) -> None:
    say(person, clock, "monday")
    say(agent, clock, "tuesday", "wednesday")
    assert person.confirmations(dentist(person).id) == 0


def test_a_person_bears_out_an_agent(person: Memory, agent: Memory, clock: FixedClock) -> None:
    say(agent, clock, "monday", "tuesday")
    say(person, clock, "wednesday")
    assert person.confirmations(dentist(person).id) == 1


def test_words_that_were_taken_out_bear_out_nothing(person: Memory, clock: FixedClock) -> None:
    say(person, clock, "monday", "tuesday")
    told = dentist(person)
    assert person.confirmations(told.id) == 1
    person.forget(told.evidence[1].segment, "a mistake")
    assert person.confirmations(told.id) == 0
