"""A process killed while it erases: afterwards all of it is there, or none of it; everything else always is."""

from __future__ import annotations

import os
import random
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from harness import Tally, alone, everything, expect_none, fresh_seed, show, torn_files, wrong_files

from canaries import Canaries, traces
from lamina.errors import Erased
from lamina.memory import Memory

LONGEST = 0.25
"""Seconds an erasure of this size takes at most on a quiet machine."""


def test_an_erasure_that_is_killed_is_whole_or_has_not_begun(tmp_path: Path) -> None:
    seed = fresh_seed()
    tally = alone(kills, 24, seed, tmp_path)
    expect_none(tally, seed, at_least=20)
    assert tally.notes["begun"] > 0


def kills(count: int, seed: int, folder: Path) -> Tally:
    """Kill an eraser `count` times and look at the vault after each."""
    tally, rng, canaries = Tally("erasures killed"), random.Random(seed), Canaries(seed)
    root = folder / "vault"
    kept: dict[str, str] = {}
    begun = 0
    for number in range(count):
        word = canaries.new()
        with Memory(root, watch=False) as memory:
            gone, others = _written(memory, word, number)
            kept |= others
            memory.export()
        _killed(root, gone, rng)
        with Memory(root, watch=False) as memory:
            begun += _is_erased(memory, gone)
            found = [*_verified(memory, gone, word, kept), *torn_files(root)]
        tally.fail(*(f"kill {number}: {each}" for each in found))
        tally.runs += 1
        show("erasures killed", number + 1, count)
    tally.notes = {"begun": begun}
    return tally


def _written(memory: Memory, word: str, number: int) -> tuple[str, dict[str, str]]:
    said = [{"speaker": "user", "content": f"It rains, {number}. The code is {word}. The dog sleeps, {number}."}]
    memory.capture(said, session_id=f"call {number % 3}")
    gone = memory.remember(f"The code is {word}.", subject=f"Gate {number}", attribute="code", value=word).atom
    memory.revise(gone.id, f"The code is surely {word}.", reason=f"{word}!")
    kept = memory.remember(f"Something harmless, number {number}.").atom
    return gone.id, {kept.id: kept.content}


def _killed(root: Path, gone: str, rng: random.Random) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _erase(root, gone, writer)
    os.close(writer)
    select.select([reader], [], [], 30)
    time.sleep(rng.uniform(0.0, LONGEST))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)


def _erase(root: Path, gone: str, pipe: int) -> NoReturn:
    try:
        with Memory(root, watch=False) as memory:
            os.write(pipe, b"!")
            memory.erase(gone, "private")
            time.sleep(30)
    finally:
        os._exit(1)


def _is_erased(memory: Memory, gone: str) -> bool:
    try:
        memory.get(gone)
    except Erased:
        return True
    return False


def _verified(memory: Memory, gone: str, word: str, kept: dict[str, str]) -> Iterator[str]:
    erased = _is_erased(memory, gone)
    left = traces([memory.root], [word])
    if erased and left:
        yield f"{word} is left in {sorted(left[word])}"
    words = "\n".join(each.content for each in everything(memory))
    if not erased and words.count(word) < 2:
        yield "half of what was not erased is missing"
    told: dict[str, str] = {each.id: each.content for each in everything(memory)}
    yield from (f"lost: {each}" for each, content in kept.items() if told.get(each) != content)
    number = len(kept) - 1
    yield from (f"lost: {each}" for each in (f"It rains, {number}.", f"The dog sleeps, {number}.") if each not in words)
    yield from wrong_files(memory)
    yield from memory.doctor(deep=True).faults
    yield from (problem.message for problem in memory.doctor().problems)
