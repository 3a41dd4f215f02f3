"""kill -9 at any moment of a long capture: every acknowledged turn is there once, every statement made of it once."""

from __future__ import annotations

import os
import random
import select
import signal
import time
from collections import Counter
from concurrent.futures import Executor
from pathlib import Path
from typing import NoReturn

from torture_suite import Batch, Suite, Tally, expect_no_failure
from vault_checks import all_atoms

import lamina
from lamina.atom.passage import passages_of
from lamina.memory import Memory
from lamina.settings import Settings

LONGEST_RUN = 0.1
SESSION_TURNS = 20
ROUND_TURNS = 30
"""A writer that is not killed before captures this many turns and waits, so that a fast machine has as many kills."""


def test_every_turn_and_every_statement_exists_once_however_often_the_writer_is_killed(pool: Executor) -> None:
    expect_no_failure(Suite("extraction kills", "kills", 4, 4, kill_extractions), 4, pool)


def kill_extractions(batch: Batch) -> Tally:
    """Capture turns with extraction in the background, kill the writer again and again, and look at the whole."""
    tally, rng = Tally(), batch.random()
    root, acknowledged = batch.folder / "vault", 0
    for _ in range(batch.count):
        acknowledged = _killed_round(root, rng, acknowledged)
        tally.runs += 1
    with _open_memory(root, background=False) as memory:
        memory.read_waiting()
        tally.fail(*_wrong(memory, acknowledged))
    tally.count("acknowledged turns", acknowledged)
    return tally


def _wrong(memory: Memory, count: int) -> list[str]:
    atoms = all_atoms(memory)
    turns = Counter(passage.text for atom in atoms if atom.is_segment for passage in passages_of(atom))
    result = [f"turn {n} is there {turns[request_text(n)]} times" for n in range(count) if turns[request_text(n)] < 1]
    # A turn that was kept but not acknowledged is said again; what it states stays one statement.
    counter = Counter(atom.content for atom in atoms if atom.evidence)
    result += [
        f"{counter[stored_statements(n)]} statements of turn {n}"
        for n in range(count)
        if counter[stored_statements(n)] != 1
    ]
    for atom in atoms:
        if len(set(atom.evidence)) != len(atom.evidence):
            result.append(f"{atom.content}: one sentence counts twice")
    if memory.engine.store.queue.list_backlogs():
        result.append("something still waits")
    return [*result, *memory.upkeep.doctor(deep=True).faults]


def request_text(n: int) -> str:
    return f"Remember that locker {n} opens with {n * 7919 % 10_000}."


def stored_statements(n: int) -> str:
    return request_text(n).removeprefix("Remember that ")


def _open_memory(root: Path, *, background: bool) -> Memory:
    settings = Settings(embedder="none", watch=False, background=background, batch_turns=3, extractor="none")
    return lamina.open(root, settings=settings)


def _killed_round(root: Path, rng: random.Random, first: int) -> int:
    """Fork a writer that goes on with the first turn not yet acknowledged, and kill it after a while."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _capture_until_killed(root, first, writer)
    os.close(writer)
    select.select([reader], [], [], 30)
    time.sleep(rng.uniform(0.001, LONGEST_RUN))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        lines = [line for line in pipe.read().splitlines(keepends=True) if line.endswith("\n")]
    return max([first, *(int(line) + 1 for line in lines)])


def _capture_until_killed(root: Path, first: int, pipe: int) -> NoReturn:
    with _open_memory(root, background=True) as memory:
        for n in range(first, first + ROUND_TURNS):
            turn = {"speaker": "Ann", "content": request_text(n)}
            memory.capture([turn], session_id=f"s{n // SESSION_TURNS}")
            os.write(pipe, f"{n}\n".encode())
        while True:
            signal.pause()
