"""The clock jumps back and forth: order, words and answers stay, and nothing is archived because of a jump alone."""

from __future__ import annotations

import os
import random
import time
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from mixed_writes import write_something
from torture_suite import Batch, Suite, Tally, expect_no_failure
from vault_checks import Ack, ack_of, all_atoms, missing_acks, open_vault, wrong_files

from lamina.clock import FixedClock
from lamina.errors import Refused
from lamina.lifecycle.ageing_decision import MAX_CHANGE_DIVISOR, SMALL_CHANGE
from lamina.memory import Memory

JUMPS_EACH = 25
JUMPS = (
    *(timedelta(seconds=seconds) for seconds in (0, 0.001, 1, 59, 3600)),
    *(timedelta(days=days) for days in (1, 28, 29, 365, 400)),
)
START = datetime(2028, 2, 28, 23, 59, tzinfo=UTC)
"""Shortly before a leap day."""
STATEMENTS = 50


def jump_clocks(batch: Batch) -> Tally:
    """Write, ask, dream and save files between jumps of the clock, in vaults of some jumps each."""
    tally, rng = Tally(), batch.random()
    for first in range(0, batch.count, JUMPS_EACH):
        _jump_in_one_vault(tally, rng, batch.folder / f"vault-{first}", min(JUMPS_EACH, batch.count - first))
    return tally


SUITE = Suite("clock", "jumps of the clock", 20_000, 100, jump_clocks)


def test_jumps_of_the_clock_change_no_order_and_lose_nothing(pool: Executor) -> None:
    expect_no_failure(SUITE, 25, pool)


def _jump_in_one_vault(tally: Tally, rng: random.Random, root: Path, count: int) -> None:
    clock, known, acks = FixedClock(START), list[str](), list[Ack]()
    memory = open_vault(root, clock=clock)
    memory.remember_many([{"content": f"A passing remark, number {n}."} for n in range(STATEMENTS)])
    for number in range(count):
        clock.at += rng.choice((1, -1)) * rng.choice(JUMPS)
        texts = _write(memory, rng, f"{number}", known, acks)
        if rng.random() < 0.3:
            texts += _save_with_any_time(memory, rng, f"{number}")
        if rng.random() < 0.2:
            texts += _dream(memory)
        if rng.random() < 0.2:
            before = [ack_of(atom) for atom in all_atoms(memory)]
            memory.close()
            memory = open_vault(root, clock=clock)
            texts += [] if [ack_of(atom) for atom in all_atoms(memory)] == before else ["opened again, it differs"]
        tally.fail(*(f"jump {number} to {clock.at}: {text}" for text in texts))
        tally.runs += 1
    tally.fail(*missing_acks(memory, acks), *wrong_files(memory), *_wrong_order(memory))
    tally.fail(*memory.upkeep.doctor(deep=True).faults)
    memory.close()


def _write(memory: Memory, rng: random.Random, name: str, known: list[str], acks: list[Ack]) -> list[str]:
    words = f"The lighthouse {name} is painted."
    atom = memory.remember(words).atom
    acks.append(ack_of(atom))
    try:
        acks += [ack_of(item) for item in write_something(memory, rng, name, known).atoms]
    except Refused:
        pass
    hits = memory.recall(f"lighthouse {name}").hits
    if memory.get(atom.id).status.value == "active" and not any(hit.atom.id == atom.id for hit in hits):
        return [f"not found: {words}"]
    return []


def _save_with_any_time(memory: Memory, rng: random.Random, name: str) -> list[str]:
    """A person saves a file with a time far from that of the disk, or the same time and size as before."""
    atom = memory.remember(f"A statement with a file, {name}, aaaa.").atom
    path = memory.path_of(atom.id)
    assert path is not None
    file = memory.root / path
    memory.upkeep.sync()
    before = file.stat()
    file.write_text(file.read_text().replace("aaaa", "bbbb"))
    moment = rng.choice((before.st_mtime_ns, 0, time.time_ns() + 10**18, time.time_ns() - 10**12))
    os.utime(file, ns=(moment, moment))
    content = memory.get(atom.id).content
    return [] if content.endswith("bbbb.") else [f"a save with another time is not noticed: {content}"]


def _dream(memory: Memory) -> list[str]:
    """Only what a person allows is archived in large numbers; a jump of the clock is no permission."""
    before = {atom.id: atom.status.value for atom in all_atoms(memory)}
    memory.upkeep.dream(["age"])
    now = {atom.id: atom.status.value for atom in all_atoms(memory)}
    archived = [atom for atom, status in before.items() if status != now[atom] == "archived"]
    most = max(SMALL_CHANGE, len(before) // MAX_CHANGE_DIVISOR)
    return [f"a dream archived {len(archived)} of {len(before)}"] if len(archived) > most else []


def _wrong_order(memory: Memory) -> list[str]:
    entries = memory.engine.store.journal.read(memory.scopes)
    return [f"commit {new.seq} is before {old.seq}" for old, new in pairwise(entries) if new.at < old.at]
