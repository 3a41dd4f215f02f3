"""The disk is full in the middle of things: a clear error, reads go on, nothing is torn or lost, and it recovers.

Covers `lamina.engine.effects`.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

import pytest
from mixed_writes import write_something
from torture_suite import Batch, Suite, Tally, expect_no_failure
from vault_checks import Ack, ack_of, missing_acks, open_vault, torn_files, unexpected_files, wrong_files

from lamina.errors import Refused, StoreError
from lamina.memory import Memory

SIZE = 12 << 20
MOST_WRITES = 400


def fill_disks(batch: Batch) -> Tally:
    """Fill the disk while writing, look, make room, look again. Without the right to mount one, nothing is tried."""
    tally, rng = Tally(), batch.random()
    if not can_mount(batch.folder):
        return Tally(batch.count, counts={"skipped: a small disk can be mounted only by root": batch.count})
    with _small_disk(batch.folder / "small") as disk:
        acks: list[Ack] = []
        for number in range(batch.count):
            texts = _fill_once(disk, rng, number, acks)
            tally.fail(*(f"fill {number}: {text}" for text in texts))
            tally.runs += 1
    return tally


SUITE = Suite("full", "full disks", 1_000, 10, fill_disks)


def test_a_full_disk_loses_nothing_and_is_reported_clearly(pool: Executor, tmp_path: Path) -> None:
    if not can_mount(tmp_path):
        pytest.skip("a small disk can be mounted only by root")
    expect_no_failure(Suite("full", "full disks", 10, 5, fill_disks), 10, pool)


def _fill_once(disk: Path, rng: random.Random, number: int, acks: list[Ack]) -> list[str]:
    root, atoms = disk / "vault", list[str]()
    with open_vault(root) as memory:
        acks += [ack_of(memory.remember(f"Before fill {number}.").atom)]
        _leave_only(disk, rng.randrange(300_000))
        error = _write_until_full(memory, rng, number, atoms, acks)
        result = [] if error and "disk" in str(error) else [f"the error does not speak of the disk: {error}"]
        result += torn_files(root)
        result += _readable(memory, number)
        (disk / "filler").unlink()
        memory.upkeep.sync()
        result += missing_acks(memory, acks) + wrong_files(memory) + unexpected_files(memory)
        acks += [ack_of(memory.remember(f"After fill {number}.").atom)]
    with open_vault(root) as memory:
        result += [*missing_acks(memory, acks), *memory.upkeep.doctor(deep=True).faults]
    return result


def _write_until_full(
    memory: Memory, rng: random.Random, number: int, known: list[str], acks: list[Ack]
) -> Exception | None:
    for step in range(MOST_WRITES):
        try:
            acks += [ack_of(item) for item in write_something(memory, rng, f"{number}-{step}", known).atoms]
        except Refused:
            continue
        except StoreError as error:
            return error
        except Exception as error:
            return AssertionError(f"{type(error).__name__}: {error}")
    return AssertionError("it was never full")


def _readable(memory: Memory, number: int) -> list[str]:
    try:
        hits = memory.recall(f"Before fill {number}").hits
        listed = memory.list(limit=None)
        memory.get(listed[0].id)
    except Exception as error:
        return [f"a read failed: {type(error).__name__}: {error}"]
    return [] if hits else ["recall found nothing"]


def _leave_only(disk: Path, free: int) -> None:
    with (disk / "filler").open("wb") as filler:
        space = os.statvfs(disk)
        remaining = space.f_bavail * space.f_frsize
        filler.write(bytes(max(0, remaining - free)))


@contextmanager
def _small_disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def can_mount(folder: Path) -> bool:
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    try:
        with _small_disk(folder / "trial"):
            return True
    except subprocess.CalledProcessError:
        return False
