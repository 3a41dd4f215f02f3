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
KNOWN, NEWER = "The library card costs 12 euros a year.", "I paid 15 euros for the library card."


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


def say(memory: Memory, clock: FixedClock, words: str) -> None:
    clock.at += timedelta(days=1)
    memory.capture([{"speaker": "Ida", "content": words}], session_id=f"{clock.at:%Y-%m-%d}", wait=True)


def known(memory: Memory) -> Atom:
    (found,) = (each for each in memory.list(limit=None) if each.evidence and "12 euros" in each.content)
    return found


def shown(memory: Memory) -> dict[str, tuple[str, ...]]:
    return {hit.text: tuple(hit.marks) for hit in memory.recall("what does the library card cost?").hits}


def say_against(memory: Memory, clock: FixedClock) -> None:
    """Say the newer words and relate them to the known ones as a likely contradiction."""
    say(memory, clock, NEWER)
    (newer,) = (each for each in memory.list(limit=None) if each.evidence and "15 euros" in each.content)
    memory.relate(newer.id, "contradicts", known(memory).id, 0.5)


def test_a_person_s_later_words_may_make_a_person_s_outdated(person: Memory, clock: FixedClock) -> None:
    say(person, clock, KNOWN)
    say_against(person, clock)
    assert HitMark.OUTDATED in shown(person)[KNOWN]
    assert list(shown(person)).index(NEWER) < list(shown(person)).index(KNOWN)


def test_an_agent_s_words_leave_a_person_s_as_they_are(person: Memory, agent: Memory, clock: FixedClock) -> None:
    say(person, clock, KNOWN)
    say_against(agent, clock)
    assert shown(person)[KNOWN] == ()
    assert next(iter(shown(person))) == KNOWN


def test_a_link_an_agent_makes_marks_nothing_of_a_person(person: Memory, agent: Memory, clock: FixedClock) -> None:
    say(person, clock, KNOWN)
    clock.at += timedelta(days=1)
    own = agent.remember("Cards of libraries are fifteen euros these days.").atom
    agent.relate(own.id, "contradicts", known(agent).id, 0.5)
    assert shown(person)[KNOWN] == ()


def test_what_a_person_vouched_for_is_not_marked_by_an_agent(person: Memory, agent: Memory, clock: FixedClock) -> None:
    say(agent, clock, KNOWN)
    person.update_status(known(person).id, "challenged", "is that so?")
    (doubted,) = (each for each in person.list(status="challenged", limit=None) if "12 euros" in each.content)
    person.review.confirm(doubted.id)
    say_against(agent, clock)
    assert shown(person)[KNOWN] == ()
