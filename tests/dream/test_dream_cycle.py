"""A whole dream is idempotent, can be undone completely, and loses no text.

Covers `lamina.dream.retraction_updates`.
"""

from __future__ import annotations

import hashlib
import shutil
import signal
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
from random_stores import (
    BEGINS,
    DAY,
    THINGS,
    any_atom,
    any_signals,
    files,
    fill_vault,
    open_vault,
    store_count,
    vault_snapshot,
)

from lamina import FixedClock, Memory
from lamina.atom.atom import Atom, AtomId
from lamina.atom.status import Status
from lamina.dream.dream import LEASE_SECONDS, dream
from lamina.dream.report import DreamReport
from lamina.dream.steps import STEPS
from lamina.lifecycle.ageing import decide_ageing
from lamina.lifecycle.ageing_decision import AgeingAction, StorageTier
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.retention import RetentionMode
from lamina.store.signals_and_ageing import AGEING_STATUSES
from lamina.testing.admin import hits_of
from llm_server import Scripted, completion, error, scripted

TIERS = {AgeingAction.COOL, AgeingAction.WARM}
SEEDS = range(store_count(40))
FEW_SEEDS = range(min(store_count(12), 100))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A place for one vault."""
    return tmp_path / "vault"


def fill_store(memory: Memory, clock: FixedClock, seed: int) -> Random:
    """A store filled from a seed, some time later."""
    random = Random(seed)
    fill_vault(memory, clock, random, random.randint(6, 20))
    clock.at += random.choice((0, 1, 40, 200)) * DAY
    if random.random() < 0.8:
        memory.remember(f"Somebody was here at last, {seed}.")
    memory.upkeep.sync()  # the counters of use are in the files already, so a dream does not write them
    return random


def atoms_by_id(memory: Memory) -> dict[AtomId, Atom]:
    return {atom.id: atom for atom in memory.list(status=None, limit=None)}


def store_content(memory: Memory) -> Counter[tuple[str, ...]]:
    """What the store says, without the ids and times that every dream makes its own."""
    atoms = atoms_by_id(memory)
    ends = [atom[-6:] for atom in atoms]

    def words(text: str) -> str:
        return " ".join(word for word in text.split() if not any(end in word for end in ends))

    return Counter((atom.kind, atom.status, atom.layer, atom.origin, words(atom.content)) for atom in atoms.values())


@contextmanager
def run_steps_separately(root: Path, seed: int) -> Iterator[tuple[Memory, FixedClock, Random]]:
    """A store of a seed, gone afterwards: there are many."""
    try:
        with open_vault(root) as (memory, clock):
            yield memory, clock, fill_store(memory, clock, seed)
    finally:
        shutil.rmtree(root)


def test_a_repeated_dream_changes_no_byte_and_an_undone_one_leaves_none_changed(root: Path) -> None:
    counter = Counter[str]()
    for seed in SEEDS:
        with run_steps_separately(root, seed) as (memory, _, random):
            yes, before, known_value = random.random() < 0.5, files(memory), atoms_by_id(memory)
            report = memory.upkeep.dream(yes=yes)
            assert not report.failed, f"seed {seed}: {[failure.summary for failure in report.failed]}"
            counter.update(move.action for move in report.moves)
            stands = vault_snapshot(memory)
            for steps in (None, [*STEPS]):  # left to itself, and with every step asked for by name
                again = memory.upkeep.dream(steps, yes=yes)
                assert again.moves == () and not again.failed, f"seed {seed}: {[step.summary for step in again.steps]}"
                assert vault_snapshot(memory) == stands, f"seed {seed}"
            if any(step.commit for step in report.steps):
                memory.undo(report.batch)
            born = atoms_by_id(memory).keys() - known_value.keys()
            assert {memory.get(key).status for key in born} <= {Status.TOMBSTONED}
            assert files(memory, without=born) == before, f"seed {seed}"
            assert {item: memory.get(item) for item in known_value} == known_value, f"seed {seed}"
    assert counter.keys() >= {"promote", "archive", "expire", "weaken", "add"}, counter


def test_a_pinned_atom_is_never_changed() -> None:
    moved = Counter[str]()
    for seed in range(25 * store_count(12)):
        random = Random(seed)
        now = BEGINS + random.random() * 900 * DAY
        for n in range(random.randint(1, 12)):
            atom, signals = any_atom(random, n, now), any_signals(random, now)
            decisions = decide_ageing(
                atom, signals, AgeingTime(now), random.choice(list(StorageTier)), random.choice(list(RetentionMode))
            )
            moved.update(decision.action for decision in decisions if not atom.pinned)
            assert not atom.pinned or {decision.action for decision in decisions} <= TIERS, f"seed {seed}: {atom}"
    assert moved.keys() >= {AgeingAction.PROMOTE, AgeingAction.ARCHIVE, AgeingAction.REVIVE, AgeingAction.EXPIRE}


def test_no_step_changes_a_pinned_atom_or_loses_text(root: Path) -> None:
    for seed in FEW_SEEDS:
        with run_steps_separately(root, seed) as (memory, clock, random):
            written: set[tuple[AtomId, str]] = set()
            for _ in range(3):
                pinned = {
                    id_: item
                    for id_, item in atoms_by_id(memory).items()
                    if item.pinned and item.status in AGEING_STATUSES
                }
                written |= _texts(memory)
                report = memory.upkeep.dream(yes=True)
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
        for id_ in atoms_by_id(memory)
        for version in memory.history(id_).versions
    }


def test_a_dry_run_reports_the_dream_and_changes_nothing(root: Path) -> None:
    for seed in FEW_SEEDS:
        with run_steps_separately(root, seed) as (memory, clock, _):
            before, due = vault_snapshot(memory), memory.engine.store.signals.find_due(memory.scope, clock.now())
            dry = memory.upkeep.dream(dry_run=True, yes=True)
            assert dry.dry_run and vault_snapshot(memory) == before, f"seed {seed}"
            assert memory.engine.store.signals.find_due(memory.scope, clock.now()) == due, f"seed {seed}"
            assert memory.review.count(kind="dream") == 0
            real = memory.upkeep.dream(yes=True)
            assert _moves_by_step(dry) == _moves_by_step(real), f"seed {seed}"


def _moves_by_step(report: DreamReport) -> list[tuple[str, Counter[str]]]:
    return [(step.step, Counter(move.action for move in step.moves)) for step in report.steps]


def test_a_dry_run_deletes_no_log(root: Path) -> None:
    with open_vault(root) as (memory, clock):
        memory.remember("Ann keeps bees.")
        recall_id = memory.recall("bees").id
        clock.at += 400 * DAY
        memory.upkeep.dream(["prune"], dry_run=True)
        assert hits_of(memory.engine.store.admin.recalls, recall_id, memory.scope) is not None


def test_each_step_is_one_commit_of_the_dream(root: Path) -> None:
    for seed in FEW_SEEDS:
        with run_steps_separately(root, seed) as (memory, _, _):
            report = memory.upkeep.dream(yes=True)
            entries = [entry for entry in memory.journal() if entry.batch == report.batch]
            assert [entry.id for entry in entries] == [step.commit for step in report.steps if step.commit]
            assert len({step.step for step in report.steps}) == len(report.steps) == len(STEPS)
            assert {entry.verb for entry in entries} <= {"dream"}


class Interrupted(Exception):
    """Something that has nothing to do with dreams."""


def interrupt_at(step: int) -> Callable[[int, int], None]:
    def progress(done: int, of: int) -> None:
        if done == step:
            raise Interrupted

    return progress


@pytest.mark.parametrize("step", range(1, len(STEPS)))
def test_an_interrupted_dream_has_done_whole_steps_and_the_next_does_the_rest(tmp_path: Path, step: int) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    with open_vault(whole) as (memory, clock):
        _fill_crowded(memory, clock)
    shutil.copytree(whole, broken)
    with open_vault(whole, clock.at) as (memory, _):
        report = memory.upkeep.dream(yes=True)
        steps, end = [step.step for step in report.steps if step.commit], store_content(memory)
    with open_vault(broken, clock.at) as (memory, _):
        with pytest.raises(Interrupted):
            memory.upkeep.dream(yes=True, progress=interrupt_at(step))
        first = [entry.reason.partition(":")[0] for entry in memory.journal() if entry.verb == "dream"]
        assert first == [item for item in steps if item in list(STEPS)[:step]]
        rest = [step.step for step in memory.upkeep.dream(yes=True).steps if step.commit]
        assert first + rest == steps and store_content(memory) == end


def _fill_crowded(memory: Memory, clock: FixedClock) -> None:
    """A store in which most steps find something to do."""
    fields = {"kind": "event", "importance": 0.2, "confidence": 0.6}
    hummed = [{"content": f"Bob hummed a {thing}.", **fields} for thing in THINGS[:5]]
    stored = [{"content": f"Ann keeps a {thing}.", "subject": "Ann", "entities": ["Ann"]} for thing in THINGS[5:]]
    memory.remember_many([*hummed, *stored])
    clock.at += 120 * DAY
    memory.remember("Cleo came by.")


KILLED = """
import os, signal, sys
from datetime import datetime
import lamina
from lamina.testing.admin import hits_of
clock = lamina.FixedClock(datetime.fromisoformat(sys.argv[2]))
with lamina.open(sys.argv[1], clock=clock, watch=False) as memory:
    memory.upkeep.dream(yes=True, progress=lambda done, of: os.kill(os.getpid(), signal.SIGKILL) if done == 2 else None)
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
    memory.upkeep.dream(yes=True, progress=progress)
"""


def _start_process(program: str, root: Path, clock: FixedClock) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(root), clock.at.isoformat()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_dream_killed_between_two_steps_is_finished_by_the_next(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with open_vault(whole) as (memory, clock):
        _fill_crowded(memory, clock)
    shutil.copytree(whole, killed)
    process = _start_process(KILLED, killed, clock)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    later = clock.at + timedelta(seconds=LEASE_SECONDS + 1)
    with open_vault(whole, later) as (memory, _):
        memory.upkeep.dream(yes=True)
        end = store_content(memory)
    with open_vault(killed, clock.at) as (memory, now):
        assert [entry.reason.partition(":")[0] for entry in memory.journal() if entry.verb == "dream"] == [
            "age",
            "merge",
        ]
        assert memory.upkeep.doctor(deep=True).healthy
        now.at = later
        assert memory.upkeep.dream(yes=True).asleep is None and store_content(memory) == end


def test_the_lease_of_another_dream_counts_until_it_expires(root: Path) -> None:
    with open_vault(root) as (memory, clock):
        assert memory.engine.store.queue.lease("dream", "another", LEASE_SECONDS)
        clock.at += timedelta(seconds=LEASE_SECONDS - 1)
        assert memory.upkeep.dream(["age"]).asleep is not None
        clock.at += timedelta(seconds=1)
        assert memory.upkeep.dream(["age"]).asleep is None


def test_while_one_process_dreams_another_is_refused_and_changes_nothing(root: Path) -> None:
    with open_vault(root) as (memory, clock):
        _fill_crowded(memory, clock)
        process = _start_process(HOLDING, root, clock)
        try:
            assert process.stdout is not None and process.stdout.readline() == "dreaming\n"
            position = memory.engine.store.journal.position()
            report = memory.upkeep.dream(yes=True)
            assert report.asleep and report.steps == () and memory.engine.store.journal.position() == position
        finally:
            process.communicate("go on\n")
        assert process.returncode == 0
        awake = memory.upkeep.dream(yes=True)
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
    scene = memory.engine.models.make_dream_context(memory.engine.store, memory.scope, iter(()), lambda: False)
    ids = (memory.engine.ids.new(now) for _ in iter(int, 1))
    context = replace(scene, chat=server_chat, ids=ids, insights_enabled=True)  # type: ignore[arg-type]
    return dream([context], STEPS, memory.engine.store, now, is_approved=True)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_invalid_chat_answer_changes_nothing_and_is_reported(root: Path, answer: Scripted) -> None:
    with open_vault(root) as (memory, clock), scripted(answer) as server:
        _fill_crowded(memory, clock)
        before = memory.engine.store.journal.position()
        report = _steps_with(memory, server.chat())
        _assert_only_the_chat_is_missing(memory, report, before)
        assert server.asked


def test_a_chat_timeout_changes_nothing_and_is_reported(root: Path) -> None:
    never = threading.Event()
    slow = replace(completion("{}"), before=lambda: never.wait(20))
    with open_vault(root) as (memory, clock), scripted(slow) as server:
        _fill_crowded(memory, clock)
        before = memory.engine.store.journal.position()
        try:
            report = _steps_with(memory, server.chat(timeout=0.2))
        finally:
            never.set()
        _assert_only_the_chat_is_missing(memory, report, before)


def _assert_only_the_chat_is_missing(memory: Memory, report: DreamReport, before: int) -> None:
    """Cards asked and did nothing; the steps that had nothing to ask did what they do."""
    by = {step.step: step for step in report.steps}
    failed = {failure.step for failure in report.failed}
    assert "cards" in failed and failed <= {"merge", "cards", "bridge", "probe"}
    assert all(by[failure].commit is None and "nothing was changed" in (by[failure].failed or "") for failure in failed)
    assert by["age"].commit is not None
    entries = memory.engine.store.journal.read(memory.scopes, before)
    assert [entry.id for entry in entries] == [step.commit for step in report.steps if step.commit]
    assert [page.subject for page in memory.list(kind="entity", status=None)] == ["topics"]
