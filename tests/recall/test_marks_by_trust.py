"""A guess of the less trusted neither marks nor moves what somebody more trusted said."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import Atom, FixedClock, Memory
from lamina.recall.marks import HitMark

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
EXISTING_SENTENCES, NEWER = "The library card costs 12 euros a year.", "I paid 15 euros for the library card."


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


def capture_turn(memory: Memory, clock: FixedClock, words: str) -> None:
    clock.at += timedelta(days=1)
    memory.capture([{"speaker": "Ida", "content": words}], session_id=f"{clock.at:%Y-%m-%d}", wait=True)


def existing_statement(memory: Memory) -> Atom:
    (atom,) = (item for item in memory.list(limit=None) if item.evidence and "12 euros" in item.content)
    return atom


def marks_by_text(memory: Memory) -> dict[str, tuple[str, ...]]:
    return {hit.text: tuple(hit.marks) for hit in memory.recall("what does the library card cost?").hits}


def add_contradiction(memory: Memory, clock: FixedClock) -> None:
    """Say the newer words and relate them to the known ones as a likely contradiction."""
    capture_turn(memory, clock, NEWER)
    (newer,) = (atom for atom in memory.list(limit=None) if atom.evidence and "15 euros" in atom.content)
    memory.relate(newer.id, "contradicts", existing_statement(memory).id, 0.5)


def test_a_persons_later_statement_may_mark_a_persons_earlier_one(person: Memory, clock: FixedClock) -> None:
    capture_turn(person, clock, EXISTING_SENTENCES)
    add_contradiction(person, clock)
    assert HitMark.OUTDATED in marks_by_text(person)[EXISTING_SENTENCES]
    assert list(marks_by_text(person)).index(NEWER) < list(marks_by_text(person)).index(EXISTING_SENTENCES)


def test_an_agents_statement_does_not_mark_a_persons(person: Memory, agent: Memory, clock: FixedClock) -> None:
    capture_turn(person, clock, EXISTING_SENTENCES)
    add_contradiction(agent, clock)
    assert marks_by_text(person)[EXISTING_SENTENCES] == ()
    assert next(iter(marks_by_text(person))) == EXISTING_SENTENCES


def test_an_agents_link_does_not_mark_a_persons_statement(person: Memory, agent: Memory, clock: FixedClock) -> None:
    capture_turn(person, clock, EXISTING_SENTENCES)
    clock.at += timedelta(days=1)
    atom = agent.remember("Cards of libraries are fifteen euros these days.").atom
    agent.relate(atom.id, "contradicts", existing_statement(agent).id, 0.5)
    assert marks_by_text(person)[EXISTING_SENTENCES] == ()


def test_a_statement_a_person_confirmed_is_not_marked_by_an_agent(
    person: Memory, agent: Memory, clock: FixedClock
) -> None:
    capture_turn(agent, clock, EXISTING_SENTENCES)
    person.update_status(existing_statement(person).id, "challenged", "is that so?")
    (doubted,) = (atom for atom in person.list(status="challenged", limit=None) if "12 euros" in atom.content)
    person.review.confirm(doubted.id)
    add_contradiction(agent, clock)
    assert marks_by_text(person)[EXISTING_SENTENCES] == ()
