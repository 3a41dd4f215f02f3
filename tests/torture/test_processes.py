"""Many processes on one vault: every acknowledged write is there exactly once, nobody waits long, nobody fails."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import Any

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
    unexpected_files,
    wrong_files,
)

import lamina
from lamina.atom.atom import Atom
from lamina.errors import Refused
from lamina.memory import Memory

WRITERS, READERS = 10, 5
LONGEST_WAIT = 5.0
LONGEST_BLOCK = 2.0
CONTESTED = "the contested claim"


def test_ten_writers_and_five_readers_share_a_vault(tmp_path: Path) -> None:
    seed = fresh_seed()
    expect_none(processes(100, seed, tmp_path), seed, at_least=900)


def test_a_killed_holder_of_a_lock_or_a_transaction_blocks_no_one(tmp_path: Path) -> None:
    seed = fresh_seed()
    expect_none(separate_process(holders, 20, seed, tmp_path), seed, at_least=20)


def processes(count: int, seed: int, folder: Path) -> Tally:
    """Ten writers of `count` commits each and five readers, all let loose at once on a vault that is not there yet."""
    tally, root = Tally("processes"), folder / "vault"
    context = multiprocessing.get_context("spawn")
    start, stop = context.Barrier(WRITERS + READERS + 1), context.Event()
    writers = [context.Process(target=_write, args=(root, count, seed + n, n, start)) for n in range(WRITERS)]
    readers = [context.Process(target=_read, args=(root, seed - n - 1, n, start, stop)) for n in range(READERS)]
    for process in (*writers, *readers):
        process.start()
    start.wait(300)
    began = time.monotonic()
    for number, process in enumerate(writers):
        process.join(120 + count)
        show("processes: writers", number + 1, WRITERS)
    took = time.monotonic() - began
    stop.set()
    for process in readers:
        process.join(60)
    for process in (*writers, *readers):
        if process.exitcode != 0:
            tally.fail(f"{process.name} ended with {process.exitcode}")
            process.kill()
    result = [json.loads(path.read_text()) for path in sorted(folder.glob("vault-*.json"))]
    _judge(tally, root, result)
    tally.notes |= {"commits a second": tally.runs / took}
    return tally


def _judge(tally: Tally, root: Path, fields: list[dict[str, Any]]) -> None:
    acks: list[Ack] = [(str(a), int(b), str(c), str(d)) for text in fields for a, b, c, d in text["acks"]]
    commits = [str(commit) for text in fields for commit in text["commits"]]
    tally.runs = len(acks)
    tally.fail(*(str(error) for text in fields for error in text["errors"]))
    tally.notes["longest wait of a writer"] = max(text["longest"] for text in fields if text["writes"])
    tally.notes["longest wait of a reader"] = max(text["longest"] for text in fields if not text["writes"])
    tally.notes["reads"] = sum(text["done"] for text in fields if not text["writes"])
    if tally.notes["longest wait of a writer"] >= LONGEST_WAIT:
        tally.fail("a writer waited too long")
    with lamina.open(root, watch=False) as memory:
        tally.fail(*missing_acks(memory, acks))
        tally.fail(*wrong_files(memory), *unexpected_files(memory), *memory.upkeep.doctor(deep=True).faults)
        entries = journal(memory)
        if [seq for seq, _, _ in entries] != list(range(1, len(entries) + 1)):
            tally.fail("the journal has gaps or duplicates")
        if len({commit for _, commit, _ in entries}) != len(entries) or set(commits) - {entry[1] for entry in entries}:
            tally.fail("commits are missing or doubled")
        contents = Counter(atom.content for atom in all_atoms(memory) if atom.content.startswith("Fact "))
        tally.fail(*(f"{times} times: {content}" for content, times in contents.items() if times > 1))
        tally.fail(*_rivals(memory))


def _rivals(memory: Memory) -> list[str]:
    active = memory.list(subject=CONTESTED, limit=None)
    return [f"{len(active)} active values of one claim"] if len(active) > 1 else []


def _write(root: Path, count: int, seed: int, number: int, start: Barrier) -> None:
    rng, longest = random.Random(seed), 0.0
    acks: list[Ack] = []
    commits: list[str] = []
    errors: list[str] = []
    fields: list[str] = []
    start.wait(300)
    with lamina.open(root, watch=False) as memory:
        for step in range(count):
            began = time.monotonic()
            try:
                atoms, commit = _write_one(memory, rng, f"{number}-{step}", fields)
                acks += [ack_of(atom) for atom in atoms]
                commits += [commit] if commit else []
            except Refused:
                pass
            except Exception as error:
                errors.append(f"writer {number}: {type(error).__name__}: {error}")
            longest = max(longest, time.monotonic() - began)
    _report(
        root, f"writer-{number}", acks=acks, commits=commits, errors=errors, longest=longest, writes=True, done=count
    )


def _write_one(memory: Memory, rng: random.Random, name: str, texts: list[str]) -> tuple[list[Atom], str | None]:
    dice = rng.random()
    if dice < 0.55 or not texts:
        receipt = memory.remember(f"Fact {name} is told.")
        texts.append(receipt.atom.id)
    elif dice < 0.70:
        receipt = memory.remember(f"The value is {name}.", kind="preference", subject=CONTESTED, attribute="value")
    elif dice < 0.80:
        receipt = memory.capture([{"speaker": "A", "content": f"Turn {name}."}], session_id="everybody")
    elif dice < 0.95:
        return [memory.revise(rng.choice(texts), f"Revised {name}.", reason="torture")], None
    else:
        return [memory.pin(rng.choice(texts))], None
    return [outcome.atom for outcome in receipt.outcomes], receipt.commit


def _read(root: Path, seed: int, number: int, start: Barrier, stop: Event) -> None:
    rng, longest, result = random.Random(seed), 0.0, 0
    errors: list[str] = []
    start.wait(300)
    with lamina.open(root, watch=False) as memory:
        while not stop.is_set():
            began = time.monotonic()
            try:
                memory.recall(f"which fact is {rng.randrange(10)}-{rng.randrange(50)} or the value")
                some = memory.list(limit=20)
                if some:
                    memory.get(rng.choice(some).id)
                errors += _rivals(memory)
            except Exception as error:
                errors.append(f"reader {number}: {type(error).__name__}: {error}")
            result += 1
            longest = max(longest, time.monotonic() - began)
    _report(
        root, f"reader-{number}", acks=[], commits=[], errors=errors[:20], longest=longest, writes=False, done=result
    )


def _report(root: Path, name: str, **options: Any) -> None:
    root.with_name(f"vault-{name}.json").write_text(json.dumps(options))


def holders(count: int, seed: int, folder: Path) -> Tally:
    """Kill a process while it holds the vault's lock or a write transaction, `count` times; then write."""
    tally, root, longest = Tally("killed holders"), folder / "vault", 0.0
    with lamina.open(root, watch=False) as memory:
        memory.remember("Before everything.")
    for number in range(count):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            _hold(root, number, writer)
        os.close(writer)
        if os.read(reader, 4) != b"held":
            tally.fail(f"kill {number}: the holder failed")
        os.kill(child, signal.SIGKILL)
        began = time.monotonic()
        os.waitpid(child, 0)
        os.close(reader)
        with lamina.open(root, watch=False) as memory:
            memory.remember(f"After kill {number}.")
            waited = time.monotonic() - began
            tally.fail(*unexpected_files(memory), *wrong_files(memory))
            if len(memory.list(limit=None)) != number + 2:
                tally.fail(f"kill {number}: atoms are missing or half-written ones are there")
        longest = max(longest, waited)
        if waited > LONGEST_BLOCK:
            tally.fail(f"kill {number}: blocked for {waited:.1f} s")
        tally.runs += 1
        show("killed holders", number + 1, count)
    tally.notes["longest block"] = longest
    return tally


def _hold(root: Path, number: int, pipe: int) -> None:
    try:
        with lamina.open(root, watch=False) as memory:
            if number % 2:
                with memory.engine.disk.lock("vault", 5):
                    os.write(pipe, b"held")
                    time.sleep(600)
            else:
                database = memory.engine.store.history.db
                with database.write_transaction(durable=True):
                    database.run("DELETE FROM commits")
                    os.write(pipe, b"held")
                    time.sleep(600)
    finally:
        os._exit(1)
