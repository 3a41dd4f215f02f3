"""A seat is the same store in another's hands: their scope, their name, what their word is worth."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lamina
from lamina import FixedClock, NotFound, Refused, Status
from lamina.access import Caller, Right, ServedMemory
from lamina.atom.scope import Scope
from lamina.atom.trust import Origin
from lamina.testing import NOON


def test_a_seat_writes_in_its_own_name_scope_and_trust(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False, clock=FixedClock(NOON)) as memory:
        seat = memory.for_caller("org:acme", actor="bot", principal="ci", ceiling="agent")
        atom = seat.remember("The gate code is 4.", origin="human").atom
        assert (atom.scope, atom.origin, atom.principal) == ("org:acme", Origin.AGENT, "ci")
        assert seat.journal()[-1].actor == "bot"
        with pytest.raises(NotFound):
            memory.get(atom.id)
        own = memory.remember("The gate is red.").atom
        with pytest.raises(NotFound):
            seat.get(own.id)


def test_a_seat_of_an_agent_decides_nothing_and_erases_nothing(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        held = memory.capture("The moon is a lamp.", origin="web", wait=True).atom
        seat = memory.for_caller(actor="bot", ceiling="agent")
        assert held.status is Status.CONSTRAINED
        with pytest.raises(Refused):
            seat.review.confirm(held.id)
        with pytest.raises(Refused):
            seat.erase(held.id)
        assert memory.review.confirm(held.id).atom.status is Status.ACTIVE


def test_closing_a_seat_closes_nothing_and_its_trial_is_its_own(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        seat = memory.for_caller()
        with seat.trial():
            seat.remember("Never said.")
        seat.close()
        memory.remember("Said.")
        assert [atom.content for atom in memory.list()] == ["Said."]


def test_many_seats_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:

        def write(n: int) -> str:
            seat = memory.for_caller(f"org:s{n % 3}", actor=f"a{n}", ceiling="agent")
            done = seat.remember(f"Locker {n} is number {n * 7}.").atom
            return seat.pin(done.id).id

        with ThreadPoolExecutor(8) as pool:
            ids = list(pool.map(write, range(60)))
        for scope in range(3):
            seat = memory.for_caller(f"org:s{scope}")
            found = {atom.id for atom in seat.list(limit=None)}
            assert found == {each for n, each in enumerate(ids) if n % 3 == scope}
            assert all(seat.path_of(each) for each in found)


def test_a_house_seats_each_caller_by_what_its_token_says(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        house = ServedMemory.for_memory(memory)
        person = house.memory_for(Caller("ann", Scope("org:acme"), Right.ADMIN, Origin.HUMAN))
        agent = house.memory_for(Caller("ci", Scope("org:acme"), Right.WRITE, Origin.AGENT))
        assert person.remember("Likes tea.").atom.origin is Origin.HUMAN
        assert agent.remember("Likes rye.").atom.origin is Origin.AGENT
        assert [entry.actor for entry in person.journal()] == ["human", "ci"]
        assert house.local_caller() == Caller("local", memory.scope, Right.WRITE, Origin.AGENT)
