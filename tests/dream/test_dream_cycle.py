"""A whole dream: done twice it is done once, undone it never was, and nothing anybody said is lost by it."""

from __future__ import annotations

import hashlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from stores import BEGINS, DAY, THINGS, any_atom, any_signals, everything, files, fill, many, opened

from lamina import FixedClock, Memory
from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.status import Status
from lamina.dream.dream import LEASE_SECONDS, dream
from lamina.dream.report import DreamReport
from lamina.dream.steps import STEPS
from lamina.lifecycle.ageing import decide_ageing
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.decision import AgeingAction, StorageTier
from lamina.lifecycle.retention import RetentionMode
from lamina.store.ageing_state import AGEING_STATUSES
from llm_server import Scripted, completion, error, scripted

TIERS = {AgeingAction.COOL, AgeingAction.WARM}
SEEDS = range(many(40))
FEW_SEEDS = range(min(many(12), 100))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A place for one vault."""
    return tmp_path / "vault"


def grown(memory: Memory, clock: FixedClock, seed: int) -> Random:
    """A store filled from a seed, some time later."""
    random = Random(seed)
    fill(memory, clock, random, random.randint(6, 20))
    clock.at += random.choice((0, 1, 40, 200)) * DAY
    if random.random() < 0.8:
        memory.remember(f"Somebody was here at last, {seed}.")
    return random


def every(memory: Memory) -> dict[AtomId, Atom]:
    return {each.id: each for each in memory.list(status=None, limit=None)}


def told(memory: Memory) -> Counter[tuple[str, ...]]:
    """What the store says, without the ids and times that every dream makes its own."""
    atoms = every(memory)
    ends = [atom[-6:] for atom in atoms]

    def words(text: str) -> str:
        return " ".join(word for word in text.split() if not any(end in word for end in ends))

    return Counter((atom.kind, atom.status, atom.layer, atom.origin, words(atom.content)) for atom in atoms.values())


@contextmanager
def in_turn(root: Path, seed: int) -> Iterator[tuple[Memory, FixedClock, Random]]:
    """A store of a seed, gone afterwards: there are many."""
    try:
        with opened(root) as (memory, clock):
            yield memory, clock, grown(memory, clock, seed)
    finally:
        shutil.rmtree(root)


def test_dreamt_again_a_dream_changes_no_byte_and_undone_it_leaves_none_changed(root: Path) -> None:
    done = Counter[str]()
    for seed in SEEDS:
        with in_turn(root, seed) as (memory, _, random):
            yes, before, known = random.random() < 0.5, files(memory), every(memory)
            report = memory.dream(yes=yes)
            assert not report.failed, f"seed {seed}: {[each.summary for each in report.failed]}"
            done.update(move.action for move in report.moves)
            stands = everything(memory)
            for steps in (None, [*STEPS]):  # left to itself, and with every step asked for by name
                again = memory.dream(steps, yes=yes)
                assert again.moves == () and not again.failed, f"seed {seed}: {[step.summary for step in again.steps]}"
                assert everything(memory) == stands, f"seed {seed}"
            if any(step.commit for step in report.steps):
                memory.undo(report.batch)
            born = every(memory).keys() - known.keys()
            assert {memory.get(each).status for each in born} <= {Status.TOMBSTONED}
            assert files(memory, without=born) == before, f"seed {seed}"
            assert {each: memory.get(each) for each in known} == known, f"seed {seed}"
    assert done.keys() >= {"promote", "archive", "expire", "loosen", "add"}, done


def test_a_pin_is_never_moved() -> None:
    moved = Counter[str]()
    for seed in range(25 * many(12)):
        random = Random(seed)
        now = BEGINS + random.random() * 900 * DAY
        for n in range(random.randint(1, 12)):
            atom, signals = any_atom(random, n, now), any_signals(random, now)
            taken = decide_ageing(
                atom, signals, AgeingTime(now), random.choice(list(StorageTier)), random.choice(list(RetentionMode))
            )
            moved.update(each.action for each in taken if not atom.pinned)
            assert not atom.pinned or {each.action for each in taken} <= TIERS, f"seed {seed}: {atom}"
    assert moved.keys() >= {AgeingAction.PROMOTE, AgeingAction.ARCHIVE, AgeingAction.REVIVE, AgeingAction.EXPIRE}


def test_no_step_of_a_dream_moves_a_pin_and_no_text_is_ever_lost(root: Path) -> None:
    for seed in FEW_SEEDS:
        with in_turn(root, seed) as (memory, clock, random):
            written: set[tuple[AtomId, str]] = set()
            for _ in range(3):
                pinned = {
                    id_: each for id_, each in every(memory).items() if each.pinned and each.status in AGEING_STATUSES
                }
                written |= _texts(memory)
                report = memory.dream(yes=True)
                written |= _texts(memory)
                assert {id_: memory.get(id_) for id_ in pinned} == pinned, f"seed {seed}"
                if random.random() < 0.3 and any(step.commit for step in report.steps):
                    memory.undo(report.batch)
                clock.at += random.choice((1, 35, 100)) * DAY
                memory.remember(f"Somebody came by, {clock.at:%Y-%m-%d}.")
            assert written <= _texts(memory), f"seed {seed}"


def _texts(memory: Memory) -> set[tuple[AtomId, str]]:
    """Every text an atom ever had, as far as its history tells."""
    return {
        (id_, hashlib.sha256(version.atom.content.encode()).hexdigest())
        for id_ in every(memory)
        for version in memory.history(id_).versions
    }


def test_a_dry_run_tells_what_a_dream_does_and_changes_nothing(root: Path) -> None:
    for seed in FEW_SEEDS:
        with in_turn(root, seed) as (memory, clock, _):
            before, due = everything(memory), memory._store.ageing_states.find_due(memory.scope, clock.now())
            dry = memory.dream(dry_run=True, yes=True)
            assert dry.dry_run and everything(memory) == before, f"seed {seed}"
            assert memory._store.ageing_states.find_due(memory.scope, clock.now()) == due, f"seed {seed}"
            assert memory.review.count(kind="dream") == 0
            real = memory.dream(yes=True)
            assert _deeds(dry) == _deeds(real), f"seed {seed}"


def _deeds(report: DreamReport) -> list[tuple[str, Counter[str]]]:
    return [(step.step, Counter(move.action for move in step.moves)) for step in report.steps]


def test_a_dry_run_lets_go_of_no_log(root: Path) -> None:
    with opened(root) as (memory, clock):
        memory.remember("Ann keeps bees.")
        asked = memory.recall("bees").id
        clock.at += 400 * DAY
        memory.dream(["prune"], dry_run=True)
        assert memory._store.recalls.hits(asked, memory.scope) is not None


def test_each_step_is_one_commit_of_the_dream(root: Path) -> None:
    for seed in FEW_SEEDS:
        with in_turn(root, seed) as (memory, _, _):
            report = memory.dream(yes=True)
            own = [entry for entry in memory.journal() if entry.batch == report.batch]
            assert [entry.id for entry in own] == [step.commit for step in report.steps if step.commit]
            assert len({step.step for step in report.steps}) == len(report.steps) == len(STEPS)
            assert {entry.verb for entry in own} <= {"dream"}


class Broken(Exception):
    """Something that has nothing to do with dreams."""


def breaks_at(step: int) -> Callable[[int, int], None]:
    def progress(done: int, of: int) -> None:
        if done == step:
            raise Broken

    return progress


@pytest.mark.parametrize("step", range(1, len(STEPS)))
def test_a_dream_broken_off_has_done_whole_steps_and_the_next_does_the_rest(tmp_path: Path, step: int) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    with opened(whole) as (memory, clock):
        _crowded(memory, clock)
    shutil.copytree(whole, broken)
    with opened(whole, clock.at) as (memory, _):
        report = memory.dream(yes=True)
        steps, end = [each.step for each in report.steps if each.commit], told(memory)
    with opened(broken, clock.at) as (memory, _):
        with pytest.raises(Broken):
            memory.dream(yes=True, progress=breaks_at(step))
        first = [entry.reason.partition(":")[0] for entry in memory.journal() if entry.verb == "dream"]
        assert first == [each for each in steps if each in list(STEPS)[:step]]
        rest = [each.step for each in memory.dream(yes=True).steps if each.commit]
        assert first + rest == steps and told(memory) == end


def _crowded(memory: Memory, clock: FixedClock) -> None:
    """A store in which most steps find something to do."""
    fields = {"kind": "event", "importance": 0.2, "confidence": 0.6}
    hummed = [{"content": f"Bob hummed a {thing}.", **fields} for thing in THINGS[:5]]
    kept = [{"content": f"Ann keeps a {thing}.", "subject": "Ann", "entities": ["Ann"]} for thing in THINGS[5:]]
    memory.remember_many([*hummed, *kept])
    clock.at += 120 * DAY
    memory.remember("Cleo came by.")


KILLED = """
import os, signal, sys
from datetime import datetime
import lamina
clock = lamina.FixedClock(datetime.fromisoformat(sys.argv[2]))
with lamina.open(sys.argv[1], clock=clock, watch=False) as memory:
    memory.dream(yes=True, progress=lambda done, of: os.kill(os.getpid(), signal.SIGKILL) if done == 2 else None)
"""
HOLDING = """
import sys
from datetime import datetime
import lamina
clock = lamina.FixedClock(datetime.fromisoformat(sys.argv[2]))
def progress(done, of):
    if done == 1:
        print("dreaming", flush=True)
        sys.stdin.readline()
with lamina.open(sys.argv[1], clock=clock, watch=False) as memory:
    memory.dream(yes=True, progress=progress)
"""


def _elsewhere(program: str, root: Path, clock: FixedClock) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(root), clock.at.isoformat()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_dream_killed_between_two_steps_is_finished_by_the_next(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with opened(whole) as (memory, clock):
        _crowded(memory, clock)
    shutil.copytree(whole, killed)
    process = _elsewhere(KILLED, killed, clock)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    later = clock.at + timedelta(seconds=LEASE_SECONDS + 1)
    with opened(whole, later) as (memory, _):
        memory.dream(yes=True)
        end = told(memory)
    with opened(killed, clock.at) as (memory, now):
        assert [entry.reason.partition(":")[0] for entry in memory.journal() if entry.verb == "dream"] == [
            "age",
            "merge",
        ]
        assert memory.doctor(deep=True).healthy
        now.at = later
        assert memory.dream(yes=True).asleep is None and told(memory) == end


def test_what_a_dead_process_of_this_machine_held_is_taken_over_and_nobody_elses(root: Path) -> None:
    with opened(root) as (memory, _):
        dead = subprocess.Popen([sys.executable, "-c", ""])
        dead.wait()
        for holder, asleep in ((f"{socket.gethostname()}:{dead.pid}-ab", False), (f"elsewhere:{dead.pid}-ab", True)):
            assert memory._store.jobs.acquire("dream", holder, 60.0)
            assert (memory.dream(["age"]).asleep is not None) is asleep


def test_while_somebody_dreams_another_process_is_told_so_and_changes_nothing(root: Path) -> None:
    with opened(root) as (memory, clock):
        _crowded(memory, clock)
        process = _elsewhere(HOLDING, root, clock)
        try:
            assert process.stdout is not None and process.stdout.readline() == "dreaming\n"
            position = memory._store.position()
            report = memory.dream(yes=True)
            assert report.asleep and report.steps == () and memory._store.position() == position
        finally:
            process.communicate("go on\n")
        assert process.returncode == 0
        awake = memory.dream(yes=True)
        assert awake.asleep is None and awake.moves == ()


ANSWERS: dict[str, Scripted] = {
    "garbage": completion("kettle kettle kettle"),
    "another shape": completion({"kettle": [1, 2, 3]}),
    "truncated": completion('{"summary": "Ann kee', finish="length"),
    "refused": completion(None, refusal="I would rather not."),
    "empty": completion(""),
    "no json at all": Scripted("<html>busy</html>"),
    "an error": error(400, "no such model"),
}


def _steps_with(memory: Memory, server_chat: object) -> DreamReport:
    """A whole dream with somebody to ask."""
    now = memory.now()
    scene = memory._model_registry.make_dream_context(memory._store, memory.scope, iter(()), lambda: False)
    ids = (memory._ids.new(now) for _ in iter(int, 1))
    asked = replace(scene, chat=server_chat, ids=ids, insights_enabled=True)  # type: ignore[arg-type]
    return dream([asked], STEPS, memory._store, now, is_approved=True)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_chat_that_answers_nonsense_changes_nothing_and_is_told_of(root: Path, answer: Scripted) -> None:
    with opened(root) as (memory, clock), scripted(answer) as server:
        _crowded(memory, clock)
        before = memory._store.position()
        report = _steps_with(memory, server.chat())
        _only_without_the_chat(memory, report, before)
        assert server.asked


def test_a_chat_that_never_answers_changes_nothing_and_is_told_of(root: Path) -> None:
    never = threading.Event()
    slow = replace(completion("{}"), before=lambda: never.wait(20))
    with opened(root) as (memory, clock), scripted(slow) as server:
        _crowded(memory, clock)
        before = memory._store.position()
        try:
            report = _steps_with(memory, server.chat(timeout=0.2))
        finally:
            never.set()
        _only_without_the_chat(memory, report, before)


def _only_without_the_chat(memory: Memory, report: DreamReport, before: int) -> None:
    """Cards asked and did nothing; the steps that had nothing to ask did what they do."""
    by = {step.step: step for step in report.steps}
    failed = {each.step for each in report.failed}
    assert "cards" in failed and failed <= {"merge", "cards", "bridge", "probe"}
    assert all(by[each].commit is None and "nothing was changed" in (by[each].failed or "") for each in failed)
    assert by["age"].commit is not None
    entries = memory._store.read_journal(memory.scopes, before)
    assert [entry.id for entry in entries] == [step.commit for step in report.steps if step.commit]
    assert memory.list(kind="entity", status=None) == []
