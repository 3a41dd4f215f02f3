"""A seat is the same store in another's hands: their scope, their name, what their word is worth.

Covers `lamina.caller` and `lamina.engine.caller_access`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lamina
from lamina import FixedClock, NotFound, Refused, Status
from lamina.access import Principal, Right, ServedMemory
from lamina.atom.provenance import Origin, Scope
from lamina.testing import NOON


def test_a_callers_memory_writes_with_its_name_scope_and_trust(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False, clock=FixedClock(NOON)) as memory:
        caller_memory = memory.for_caller("org:acme", actor="bot", principal="ci", ceiling="agent")
        atom = caller_memory.remember("The gate code is 4.", origin="human").atom
        assert (atom.scope, atom.origin, atom.principal) == ("org:acme", Origin.AGENT, "ci")
        assert caller_memory.journal()[-1].actor == "bot"
        with pytest.raises(NotFound):
            memory.get(atom.id)
        fields = memory.remember("The gate is red.").atom
        with pytest.raises(NotFound):
            caller_memory.get(fields.id)


def test_an_agents_memory_decides_nothing_and_erases_nothing(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        atom = memory.capture("The moon is a lamp.", origin="web", wait=True).atom
        caller_memory = memory.for_caller(actor="bot", ceiling="agent")
        assert atom.status is Status.CONSTRAINED
        with pytest.raises(Refused):
            caller_memory.review.confirm(atom.id)
        with pytest.raises(Refused):
            caller_memory.erase(atom.id)
        assert memory.review.confirm(atom.id).atom.status is Status.ACTIVE


def test_closing_a_callers_memory_closes_nothing_and_its_trial_is_separate(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        caller_memory = memory.for_caller()
        with caller_memory.trial() as trial:
            trial.remember("Never said.")
        caller_memory.close()
        memory.remember("Said.")
        assert [atom.content for atom in memory.list()] == ["Said."]


def test_many_callers_write_concurrently_without_loss(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:

        def write(n: int) -> str:
            caller_memory = memory.for_caller(f"org:s{n % 3}", actor=f"a{n}", ceiling="agent")
            atom = caller_memory.remember(f"Locker {n} is number {n * 7}.").atom
            return caller_memory.pin(atom.id).id

        with ThreadPoolExecutor(8) as pool:
            ids = list(pool.map(write, range(60)))
        for scope in range(3):
            caller_memory = memory.for_caller(f"org:s{scope}")
            atom_ids = {atom.id for atom in caller_memory.list(limit=None)}
            assert atom_ids == {atom_id for n, atom_id in enumerate(ids) if n % 3 == scope}
            assert all(caller_memory.path_of(atom_id) for atom_id in atom_ids)


def test_a_served_memory_gives_each_caller_the_rights_of_its_token(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        served = ServedMemory.for_memory(memory)
        person = served.memory_for(Principal("ann", Scope("org:acme"), Right.ADMIN, Origin.HUMAN))
        agent = served.memory_for(Principal("ci", Scope("org:acme"), Right.WRITE, Origin.AGENT))
        assert person.remember("Likes tea.").atom.origin is Origin.HUMAN
        assert agent.remember("Likes rye.").atom.origin is Origin.AGENT
        assert [entry.actor for entry in person.journal()] == ["human", "ci"]
        assert served.local_caller() == Principal("local", memory.scope, Right.WRITE, Origin.AGENT)
