"""Commits become files: the outbox is written out, and a person who saves at the same moment loses nothing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from lamina.clock import disk_time_ns
from lamina.store.ledger import Ledger, Pending
from lamina.vault.files import Disk, Stamp, Swapped

AT_ONCE = 500


@dataclass(slots=True)
class Published:
    """What became of the outbox: files written, person's bytes that came out instead, files that were not there."""

    written: int = 0
    human: list[tuple[Pending, Swapped]] = field(default_factory=list)
    missing: list[Pending] = field(default_factory=list)


def publish(disk: Disk, ledger: Ledger) -> Published:
    """Write every pending file. The caller holds the vault's lock and deals with what people did meanwhile."""
    done = Published()
    while batch := _waiting(ledger, done):
        stamps: list[tuple[str, Stamp]] = []
        came_out: list[bytes] = []
        for each in batch:
            outcome = write_one(disk, each)
            if outcome is None:
                done.missing.append(each)
            elif isinstance(outcome, Swapped):
                came_out.append(outcome.data)
                if _is_ours(outcome.data, each):
                    stamps.append((each.path, outcome.stamp))
                else:
                    done.human.append((each, outcome))
            else:
                stamps.append((each.path, outcome))
        done.written += len(stamps)
        ledger.wrote(stamps, disk_time_ns(), came_out)
    return done


def _waiting(ledger: Ledger, done: Published) -> list[Pending]:
    aside = {each.path for each in done.missing} | {each.path for each, _ in done.human}
    return [each for each in ledger.pending(AT_ONCE + len(aside)) if each.path not in aside]


def write_one(disk: Disk, file: Pending) -> Stamp | Swapped | None:
    """Write one file; None if the file that was to be replaced is not there."""
    if file.moved_from and disk.stamp(file.path) is None and disk.stamp(file.moved_from):
        disk.move(file.moved_from, file.path)
        disk.remove_empty_dirs(file.moved_from)
    if file.base is None:
        try:
            return disk.create(file.path, file.data)
        except FileExistsError:
            pass
    try:
        return disk.exchange(file.path, file.data)
    except FileNotFoundError:
        return None


def _is_ours(data: bytes, file: Pending) -> bool:
    return data in (file.data, file.base) or sha256(data) in file.ours


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
