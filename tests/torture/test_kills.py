"""kill -9 at any moment of mixed writes: what was acknowledged is there, no file is torn, nothing half-made counts."""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from torture_harness import (
    Ack,
    Tally,
    ack_of,
    all_atoms,
    expect_none,
    fresh_seed,
    journal,
    missing_acks,
    separate_process,
    show,
    torn_files,
    unexpected_files,
    wrong_files,
)

import lamina
from lamina.atom.atom import Atom
from lamina.errors import NotFound, Refused
from lamina.memory import Memory

RESET_AFTER, DEEP_AFTER = 100, 50


@dataclass(slots=True)
class Round:
    """What the killed process had acknowledged."""

    acks: list[Ack] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def test_no_acknowledged_write_is_lost_and_no_file_torn_by_100_kills(tmp_path: Path) -> None:
    seed = fresh_seed()
    expect_none(separate_process(kills, 100, seed, tmp_path, lanes=2), seed, at_least=100)


def kills(count: int, seed: int, folder: Path) -> Tally:
    """Kill a writer `count` times and look at the vault after each."""
    tally, rng = Tally("kills"), random.Random(seed)
    acks: list[Ack] = []
    commits: list[str] = []
    began, acknowledged = time.monotonic(), 0
    root = folder / "vault"
    for number in range(count):
        if number % RESET_AFTER == 0:
            shutil.rmtree(root, ignore_errors=True)
            acks, commits = [], []
        since = time.time_ns()
        result = _killed_round(root, rng, number, _sample(acks, rng))
        tally.fail(*(f"kill {number}: {item}" for item in [*result.errors, *torn_files(root, since)]))
        acks += result.acks
        commits += result.commits
        acknowledged += len(result.commits)
        deep = number % DEEP_AFTER == DEEP_AFTER - 1
        tally.fail(*(f"kill {number}: {text}" for text in _verify(root, result, acks, commits, deep=deep)))
        tally.runs += 1
        show("kills", number + 1, count)
    tally.notes = {"acknowledged commits": acknowledged, "kills a second": count / (time.monotonic() - began)}
    return tally


def _verify(root: Path, done: Round, acks: list[Ack], commits: list[str], *, deep: bool) -> list[str]:
    with lamina.open(root, watch=False) as memory:
        touched = {ack[0] for ack in done.acks}
        atoms = all_atoms(memory)
        texts = missing_acks(memory, acks if deep else done.acks)
        texts += wrong_files(memory, None if deep else [atom for atom in atoms if atom.id in touched])
        texts += unexpected_files(memory)
        stored = {commit for _, commit, _ in journal(memory)}
        texts += [f"lost commit {item}" for item in (commits if deep else done.commits) if item not in stored]
        if deep:
            texts += memory.upkeep.doctor(deep=True).faults
            texts += torn_files(root)
        return texts


def _sample(acks: list[Ack], rng: random.Random) -> list[str]:
    ids = sorted({ack[0] for ack in acks[-200:]})
    return rng.sample(ids, min(len(ids), 12))


def _killed_round(root: Path, rng: random.Random, number: int, known: list[str]) -> Round:
    """Fork a writer and kill it, mostly some milliseconds after its first acknowledgement, at times while it opens."""
    reader, writer = os.pipe()
    seed = rng.random()
    during_open = rng.random() < 0.15
    child = os.fork()
    if child == 0:
        os.close(reader)
        _write_until_killed(root, random.Random(seed), number, known, writer)
    os.close(writer)
    if not during_open:
        select.select([reader], [], [], 30)
    time.sleep(rng.uniform(0.001, 0.060))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        atoms = pipe.read()
    result = Round()
    for line in atoms.splitlines(keepends=True):
        if line.endswith("\n"):
            _record(result, json.loads(line))
    if not os.WIFSIGNALED(status):
        result.errors.append(f"the writer ended by itself: {status}")
    return result


def _record(done: Round, texts: dict[str, list[list[str]]]) -> None:
    done.acks += [(str(a), int(b), str(c), str(d)) for a, b, c, d in texts.get("atoms", [])]
    done.commits += [str(item) for item in texts.get("commits", [])]
    done.errors += [str(item) for item in texts.get("errors", [])]


def _write_until_killed(root: Path, rng: random.Random, number: int, known: list[str], pipe: int) -> NoReturn:
    try:
        with lamina.open(root, watch=False) as memory:
            step = 0
            while True:
                step += 1
                try:
                    atoms, commits = write_something(memory, rng, f"{number}-{step}", known)
                except Refused:
                    continue
                fields = {"atoms": [ack_of(atom) for atom in atoms], "commits": commits}
                os.write(pipe, json.dumps(fields).encode() + b"\n")
    except BaseException as error:
        os.write(pipe, json.dumps({"errors": [f"{type(error).__name__}: {error}"]}).encode() + b"\n")
    finally:
        os._exit(1)


def write_something(memory: Memory, rng: random.Random, name: str, known: list[str]) -> tuple[list[Atom], list[str]]:
    """One write of any kind; the atoms it showed and the commits it named."""
    verb = rng.choice(_VERBS if known else _FIRST)
    match verb:
        case "remember":
            receipt = memory.remember(f"Fact {name} of the torture.", tags=["t"])
        case "supersede":
            receipt = memory.remember(f"The value is {name}.", kind="preference", subject=f"slot {rng.randrange(3)}")
        case "many":
            receipt = memory.remember_many([{"content": f"Part {i} of {name}."} for i in range(rng.randint(2, 8))])
        case "capture":
            turns = [{"speaker": who, "content": f"{name} said {who}. Remember that {name} is {who}."} for who in "AB"]
            receipt = memory.capture(turns, session_id=f"session {rng.randrange(3)}")
        case "undo":
            try:
                result = memory.undo()
            except NotFound:
                result = []  # all there is was undone before
            return [atom for item in result for atom in item.atoms], [str(item.id) for item in result if item.id]
        case _:
            return [_change(memory, rng, verb, name, known)], []
    known += [outcome.atom.id for outcome in receipt.outcomes]
    return [outcome.atom for outcome in receipt.outcomes], [receipt.commit] if receipt.commit else []


_FIRST = ("remember", "supersede", "many", "capture")
_VERBS = (*_FIRST, "capture", "supersede", "revise", "revise", "forget", "pin", "relate", "archive", "activate", "undo")


def _change(memory: Memory, rng: random.Random, verb: str, name: str, known: list[str]) -> Atom:
    one, other = rng.choice(known), rng.choice(known)
    match verb:
        case "revise":
            return memory.revise(one, f"Revised in {name}." + " More words." * rng.randrange(200), reason="torture")
        case "forget":
            return memory.forget(one, "torture")
        case "pin":
            return memory.pin(one)
        case "archive":
            return memory.update_status(one, "archived", "torture")
        case "activate":
            return memory.update_status(one, "active", "torture")
        case _:
            return memory.relate(one, "supports", other) if one != other else memory.unpin(one)
