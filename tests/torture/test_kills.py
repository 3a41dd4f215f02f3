"""kill -9 at any moment of mixed writes: what was acknowledged is there, no file is torn, nothing half-made counts.

A writer is killed after a random time, or by itself just before, within or just after a random operation on its files.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import time
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import test_erase_kills
import test_extraction_kills
from faulty_disk import Fault, FaultySyscalls, FaultyVFS
from mixed_writes import write_something
from torture_suite import Batch, Suite, Tally, expect_no_failure
from vault_checks import (
    Ack,
    ack_of,
    all_atoms,
    journal,
    missing_acks,
    open_vault,
    torn_files,
    unexpected_files,
    wrong_files,
)

from lamina.errors import Refused
from lamina.vault.disk import Disk

DEEP_AFTER = 25
LONGEST_WRITE = 0.03
MOST_OPERATIONS = 600
BACKGROUND_SHARE = 0.2


def kill_writers(batch: Batch) -> Tally:
    """Kill writers of one vault; some batches kill an erasure or an extraction instead."""
    match batch.number % 10:
        case 8:
            return test_erase_kills.kill_erasures(batch)
        case 9:
            return test_extraction_kills.kill_extractions(batch)
        case _:
            return kill_mixed_writes(batch)


SUITE = Suite("kills", "kills", 20_000, 50, kill_writers)


def test_no_acknowledged_write_is_lost_and_no_file_torn_by_kills(pool: Executor) -> None:
    suite = Suite("kills", "kills", 60, 60, kill_mixed_writes)
    expect_no_failure(suite, 60, pool)


@dataclass(slots=True)
class Round:
    """What the killed process had acknowledged."""

    acks: list[Ack] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def record(self, line: str) -> None:
        fields = json.loads(line)
        self.acks += [(str(a), int(b), str(c), str(d)) for a, b, c, d in fields.get("atoms", [])]
        self.commits += [str(commit) for commit in fields.get("commits", [])]
        self.errors += [str(error) for error in fields.get("errors", [])]


def kill_mixed_writes(batch: Batch) -> Tally:
    """Kill a writer again and again, and look at the vault after each."""
    tally, rng, root = Tally(), batch.random(), batch.folder / "vault"
    whole = Round()
    for number in range(batch.count):
        since = time.time_ns()
        result = _killed_round(root, rng, number, _sample(whole.acks, rng))
        tally.fail(*(f"kill {number}: {failure}" for failure in [*result.errors, *torn_files(root, since)]))
        whole.acks += result.acks
        whole.commits += result.commits
        deep = number % DEEP_AFTER == DEEP_AFTER - 1 or number == batch.count - 1
        tally.fail(*(f"kill {number}: {text}" for text in _verify(root, result, whole, deep=deep)))
        tally.runs += 1
        tally.count("acknowledged atoms", len(result.acks))
    return tally


def _verify(root: Path, done: Round, whole: Round, *, deep: bool) -> list[str]:
    with open_vault(root) as memory:
        touched = {ack[0] for ack in done.acks}
        atoms = all_atoms(memory)
        texts = missing_acks(memory, whole.acks if deep else done.acks)
        texts += wrong_files(memory, None if deep else [atom for atom in atoms if atom.id in touched])
        texts += unexpected_files(memory)
        stored = {commit for _, commit, _ in journal(memory)}
        commits = whole.commits if deep else done.commits
        texts += [f"lost commit {commit}" for commit in commits if commit not in stored]
        texts += memory.engine.store.history.find_broken_links()
        if deep:
            texts += memory.upkeep.doctor(deep=True).faults
            texts += torn_files(root)
        return texts


def _sample(acks: list[Ack], rng: random.Random) -> list[str]:
    ids = sorted({ack[0] for ack in acks[-200:]})
    return rng.sample(ids, min(len(ids), 12))


def _killed_round(root: Path, rng: random.Random, number: int, known: list[str]) -> Round:
    """Fork a writer and kill it: after a time, or at one of its file operations, which it does itself."""
    reader, writer = os.pipe()
    at_operation = rng.randint(1, MOST_OPERATIONS) if rng.random() < 0.5 else 0
    during_open = rng.random() < 0.15
    seed, background, wait = rng.random(), rng.random() < BACKGROUND_SHARE, rng.uniform(0, LONGEST_WRITE)
    child = os.fork()
    if child == 0:
        os.close(reader)
        options: dict[str, Any] = {"background": background}
        if at_operation:
            disk, vfs = _layers_killed_at(root, at_operation)
            options |= {"disk": disk, "vfs": vfs.vfs_name}
        _write_until_killed(root, random.Random(seed), number, known, writer, options)
    os.close(writer)
    if not at_operation:
        if not during_open:
            select.select([reader], [], [], 30)
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reader) as pipe:
        lines = pipe.read().splitlines(keepends=True)
    _, status = os.waitpid(child, 0)
    result = Round()
    for line in lines:
        if line.endswith("\n"):
            result.record(line)
    if not os.WIFSIGNALED(status):
        result.errors.append(f"the writer ended by itself: {status}")
    return result


def _layers_killed_at(root: Path, nth: int) -> tuple[Disk, FaultyVFS]:
    """File layers that kill the process at the nth operation on files and databases together."""
    root.mkdir(exist_ok=True)
    fault = Fault()
    fault.arm(nth, "KILL", persistent=False)
    return Disk(root, FaultySyscalls(fault)), FaultyVFS("killing", fault)


def _write_until_killed(
    root: Path, rng: random.Random, number: int, known: list[str], pipe: int, options: dict[str, Any]
) -> NoReturn:
    try:
        with open_vault(root, **options) as memory:
            step = 0
            while True:
                step += 1
                try:
                    written = write_something(memory, rng, f"{number}-{step}", known)
                except Refused:
                    continue
                fields = {"atoms": [ack_of(atom) for atom in written.atoms], "commits": written.commits}
                os.write(pipe, json.dumps(fields).encode() + b"\n")
    except BaseException as error:
        os.write(pipe, json.dumps({"errors": [f"{type(error).__name__}: {error}"]}).encode() + b"\n")
    finally:
        os._exit(1)
