"""Which sources bear a statement out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import Atom, FixedClock, Memory

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
SENTENCE = "My dentist is Dr Reyes."


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def person(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as memory:
        yield memory


@pytest.fixture
def agent(person: Memory, tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, ceiling="agent", actor="bot") as memory:
        yield memory


def capture_sessions(memory: Memory, clock: FixedClock, *sessions: str) -> None:
    for session in sessions:
        clock.at += timedelta(hours=1)
        memory.capture([{"speaker": "Ann", "content": SENTENCE}], session_id=session, wait=True)


def dentist(memory: Memory) -> Atom:
    (atom,) = (item for item in memory.list(limit=None) if item.evidence)
    return atom


def test_each_further_session_of_a_person_confirms_once(person: Memory, clock: FixedClock) -> None:
    capture_sessions(person, clock, "monday", "monday", "tuesday", "wednesday", "tuesday")
    assert person.confirmations(dentist(person).id) == 2


def test_an_agent_never_confirms_itself_under_any_number_of_names(agent: Memory, clock: FixedClock) -> None:
    capture_sessions(agent, clock, *(f"session {n}" for n in range(6)))
    atom = dentist(agent)
    assert (len(atom.evidence), agent.confirmations(atom.id)) == (6, 0)


def test_an_agent_does_not_confirm_a_person(person: Memory, agent: Memory, clock: FixedClock) -> None:
    capture_sessions(person, clock, "monday")
    capture_sessions(agent, clock, "tuesday", "wednesday")
    assert person.confirmations(dentist(person).id) == 0


def test_a_person_confirms_an_agent(person: Memory, agent: Memory, clock: FixedClock) -> None:
    capture_sessions(agent, clock, "monday", "tuesday")
    capture_sessions(person, clock, "wednesday")
    assert person.confirmations(dentist(person).id) == 1


def test_removed_text_confirms_nothing(person: Memory, clock: FixedClock) -> None:
    capture_sessions(person, clock, "monday", "tuesday")
    atom = dentist(person)
    assert person.confirmations(atom.id) == 1
    person.forget(atom.evidence[1].segment, "a mistake")
    assert person.confirmations(atom.id) == 0
