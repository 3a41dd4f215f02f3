"""Undo: a commit's fields go back to what they were, if nobody built on them since.

Covers `lamina.engine.undoing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

import lamina
from lamina import Atom, FixedClock, LaminaError, Memory, NotFound, Status, UndoRefused

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def state(memory: Memory) -> dict[str, Atom]:
    return {atom.id: atom for atom in memory.list(status=None, limit=None)}


def last(memory: Memory) -> str:
    return memory.journal(limit=1)[0].id


def test_an_undone_statement_is_forgotten_and_its_text_kept(memory: Memory) -> None:
    receipt = memory.remember("green tea")
    (result,) = memory.undo(receipt.commit)
    atom = memory.get(receipt.atom.id)
    assert (atom.status, atom.content) == (Status.TOMBSTONED, "green tea")
    assert memory.recall("tea").hits == ()
    entry = memory.journal()[-1]
    assert (entry.verb, entry.undoes, entry.id) == ("undo", receipt.commit, result.id)
    assert entry.reason == "undo of remember: asked to remember"


@pytest.mark.parametrize("verb", ["revise", "forget", "pin", "relate", "archive", "edit", "delete"])
def test_every_verb_is_undone_to_the_state_before_it(memory: Memory, verb: str) -> None:
    atom, other = memory.remember("green tea", tags=["hot"]).atom, memory.remember("other").atom
    before = state(memory)
    path = memory.root / (memory.path_of(atom.id) or "")
    match verb:
        case "revise":
            memory.revise(atom.id, "black tea", reason="r", tags=["cold"], subject="tea")
        case "forget":
            memory.forget(atom.id, "r")
        case "pin":
            memory.pin(atom.id)
        case "relate":
            memory.relate(atom.id, "supports", other.id, 0.5)
        case "archive":
            memory.update_status(atom.id, "archived", "r")
        case "edit":
            path.write_text(path.read_text().replace("green", "red"))
        case "delete":
            path.unlink()
    memory.upkeep.sync()
    assert state(memory) != before
    memory.undo()
    assert state(memory) == before
    assert "green tea" in (memory.root / (memory.path_of(atom.id) or "")).read_text()
    assert [hit.text for hit in memory.recall("green tea").hits] == ["green tea"]


def test_undoing_a_supersession_restores_the_old_value(memory: Memory, clock: FixedClock) -> None:
    old = memory.remember("Ann lives in Oslo", subject="Ann", attribute="city").atom
    clock.at += DAY
    new = memory.remember("Ann lives in Rome", subject="Ann", attribute="city")
    memory.undo(new.commit)
    assert memory.get(old.id) == old
    assert [hit.text for hit in memory.recall("where does Ann live").hits] == ["Ann lives in Oslo"]
    assert memory.get(new.atom.id).status is Status.TOMBSTONED


def test_a_capture_is_undone_turn_by_turn(memory: Memory) -> None:
    first = memory.capture([{"speaker": "Ann", "content": "one"}], session_id="s")
    second = memory.capture([{"speaker": "Ann", "content": "Remember that two is even."}], session_id="s")
    memory.undo(second.commit)
    assert memory.get(first.atom.id) == first.atom
    assert memory.recall("two even").hits == ()


def test_an_agent_undoes_its_own_captures(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", ceiling="agent", watch=False) as memory:
        first = memory.capture([{"speaker": "Ann", "content": "one"}], session_id="s")
        second = memory.capture([{"speaker": "Ann", "content": "two"}], session_id="s")
        memory.undo(second.commit)
        assert memory.get(first.atom.id).content == first.atom.content


def test_a_commit_with_later_ones_is_refused_with_their_list_or_undone_with_them(memory: Memory) -> None:
    born = memory.remember("one")
    commits = []
    for text in ("two", "three"):
        memory.revise(born.atom.id, text, reason="r")
        commits.append(last(memory))
    memory.pin(born.atom.id)
    with pytest.raises(UndoRefused, match="use cascade") as refused:
        memory.undo(commits[0])
    assert refused.value.later == (commits[1],)
    assert memory.get(born.atom.id).content == "three"
    assert len(memory.undo(commits[0], cascade=True)) == 2
    atom = memory.get(born.atom.id)
    assert (atom.content, atom.pinned, atom.status) == ("one", True, Status.ACTIVE)


def test_undoing_a_creation_after_a_forget_or_a_supersession_is_refused(memory: Memory, clock: FixedClock) -> None:
    receipt = memory.remember("gone")
    memory.forget(receipt.atom.id, "r")
    with pytest.raises(UndoRefused):
        memory.undo(receipt.commit)
    old = memory.remember("Oslo", subject="Ann", attribute="city")
    clock.at += DAY
    new = memory.remember("Rome", subject="Ann", attribute="city")
    with pytest.raises(UndoRefused) as refused:
        memory.undo(old.commit)
    assert refused.value.later == (new.commit,)
    memory.undo(old.commit, cascade=True)
    assert {atom.status for atom in memory.list(status=None)} == {Status.TOMBSTONED}


def test_independent_changes_do_not_prevent_undo(memory: Memory) -> None:
    atom = memory.remember("one").atom
    memory.revise(atom.id, "two", reason="r")
    revision = last(memory)
    memory.pin(atom.id)
    memory.undo(revision)
    result = memory.get(atom.id)
    assert (result.content, result.pinned) == ("one", True)


def test_an_undo_can_be_undone(memory: Memory) -> None:
    receipt = memory.remember("one")
    memory.revise(receipt.atom.id, "two", reason="r")
    memory.undo()
    assert memory.get(receipt.atom.id).content == "one"
    memory.undo(last(memory))
    assert memory.get(receipt.atom.id).content == "two"


def test_repeated_bare_undo_returns_to_the_start(memory: Memory) -> None:
    for n in range(5):
        memory.remember(f"fact {n}")
    for remaining in range(4, -1, -1):
        memory.undo()
        assert len(memory.list()) == remaining
    with pytest.raises(NotFound, match="nothing to undo"):
        memory.undo()


def test_an_unknown_or_foreign_commit_is_not_found(memory: Memory) -> None:
    with lamina.open(memory.root, "org:other", watch=False) as other:
        theirs = other.remember("theirs").commit
    for commit in (theirs, "nobody", ""):
        with pytest.raises(NotFound, match="no commit"):
            memory.undo(commit)
    with lamina.open(memory.root, "org:other", watch=False) as other:
        assert len(other.list()) == 1


def test_random_histories_are_undone_through_every_intermediate_state(memory: Memory, clock: FixedClock) -> None:
    seed = 20261114
    print(f"seed {seed}")
    random = Random(seed)
    before: list[dict[str, Atom]] = []
    for n in range(40):
        clock.at += timedelta(minutes=1)
        snapshot, position = state(memory), len(memory.journal())
        do_something(memory, random, n)
        if len(memory.journal()) > position:
            before.append(snapshot)
    for snapshot in reversed(before):
        memory.undo()
        now = state(memory)
        assert {id: atom for id, atom in now.items() if id in snapshot} == snapshot
        assert all(atom.status is Status.TOMBSTONED for id, atom in now.items() if id not in snapshot)
    assert memory.upkeep.doctor(deep=True).healthy


def do_something(memory: Memory, random: Random, n: int) -> None:
    atoms = memory.list(status=None, limit=None)
    verbs: list[Any] = [
        lambda: memory.remember(f"fact {n}", subject=random.choice("ab"), attribute=random.choice(["x", "y"])),
        lambda: memory.capture([{"speaker": "Ann", "content": f"turn {n}. Remember that n is {n}."}], session_id="s"),
    ]
    if atoms:
        one, other = random.choice(atoms), random.choice(atoms)
        verbs += [
            lambda: memory.revise(one.id, f"{one.content} and {n}", reason="r"),
            lambda: memory.update_status(one.id, random.choice(list(Status)), "r"),
            lambda: memory.pin(one.id),
            lambda: memory.unpin(one.id),
            lambda: memory.relate(one.id, "supports", other.id),
        ]
    try:
        random.choice(verbs)()
    except LaminaError:
        pass
