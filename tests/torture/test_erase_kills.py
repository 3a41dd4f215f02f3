"""A process killed while it erases: afterwards all of it is there, or none of it; everything else always is."""

from __future__ import annotations

import os
import random
import select
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import NoReturn

from torture_suite import Batch, Suite, Tally, expect_no_failure
from vault_checks import all_atoms, open_vault, torn_files, wrong_files

from canaries import Canaries, traces
from lamina.errors import Erased
from lamina.memory import Memory

LONGEST = 0.06
"""Seconds an erasure of this size takes at most on a quiet machine."""


def test_a_killed_erasure_is_complete_or_has_not_begun(pool: Executor) -> None:
    report = expect_no_failure(Suite("erase kills", "kills", 10, 10, kill_erasures), 10, pool)
    assert report["counts"]["erasures that had begun"] > 0


def kill_erasures(batch: Batch) -> Tally:
    """Kill an eraser again and again, and look at the vault after each."""
    tally, rng, canaries = Tally(), batch.random(), Canaries(batch.seed)
    root = batch.folder / "vault"
    fields: dict[str, str] = {}
    for number in range(batch.count):
        word = canaries.new()
        with open_vault(root) as memory:
            removed, others = _write_sessions(memory, word, number)
            fields |= others
            memory.export()
        _killed(root, removed, rng)
        with open_vault(root) as memory:
            tally.count("erasures that had begun", _is_erased(memory, removed))
            result = [*_verified(memory, removed, word, fields), *torn_files(root)]
        tally.fail(*(f"kill {number}: {failure}" for failure in result))
        tally.runs += 1
    return tally


def _write_sessions(memory: Memory, word: str, number: int) -> tuple[str, dict[str, str]]:
    turns = [{"speaker": "user", "content": f"It rains, {number}. The code is {word}. The dog sleeps, {number}."}]
    memory.capture(turns, session_id=f"call {number % 3}")
    atom = memory.remember(f"The code is {word}.", subject=f"Gate {number}", attribute="code", value=word).atom
    memory.revise(atom.id, f"The code is surely {word}.", reason=f"{word}!")
    stored = memory.remember(f"Something harmless, number {number}.").atom
    return atom.id, {stored.id: stored.content}


def _killed(root: Path, removed: str, rng: random.Random) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _erase(root, removed, writer)
    os.close(writer)
    select.select([reader], [], [], 30)
    time.sleep(rng.uniform(0.0, LONGEST))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)


def _erase(root: Path, removed: str, pipe: int) -> NoReturn:
    try:
        with open_vault(root) as memory:
            os.write(pipe, b"!")
            memory.erase(removed, "private", everywhere=True)
            time.sleep(30)
    finally:
        os._exit(1)


def _is_erased(memory: Memory, removed: str) -> bool:
    try:
        memory.get(removed)
    except Erased:
        return True
    return False


def _verified(memory: Memory, removed: str, word: str, kept: dict[str, str]) -> Iterator[str]:
    erased = _is_erased(memory, removed)
    remaining = traces([memory.root], [word])
    if erased and remaining:
        yield f"{word} is left in {sorted(remaining[word])}"
    words = "\n".join(atom.content for atom in all_atoms(memory))
    if not erased and words.count(word) < 2:
        yield "half of what was not erased is missing"
    fields: dict[str, str] = {atom.id: atom.content for atom in all_atoms(memory)}
    yield from (f"lost: {item}" for item, content in kept.items() if fields.get(item) != content)
    number = len(kept) - 1
    yield from (f"lost: {item}" for item in (f"It rains, {number}.", f"The dog sleeps, {number}.") if item not in words)
    yield from wrong_files(memory)
    yield from memory.upkeep.doctor(deep=True).faults
    yield from (problem.message for problem in memory.upkeep.doctor().problems)
