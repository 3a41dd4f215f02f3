"""Commits become files: the outbox is written out, and a person who saves at the same moment loses nothing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum

from lamina.clock import disk_time_ns
from lamina.store.ledger import Ledger, Pending
from lamina.vault.files import Disk, Stamp, Swapped, UnusableFile

AT_ONCE = 500


class Obstacle(Enum):
    """Why a file was not written."""

    MISSING = "the file that was to be replaced is not there"
    OCCUPIED = "where a new file was to be made, somebody else's stands"


@dataclass(slots=True)
class Published:
    """What became of the outbox: files written, person's bytes that came out instead, files that were not there.

    `blocked`: something that is no plain file stands in the way; `occupied`: a file that is not ours does.
    """

    written: list[str] = field(default_factory=list)
    human: list[tuple[Pending, Swapped]] = field(default_factory=list)
    missing: list[Pending] = field(default_factory=list)
    occupied: list[Pending] = field(default_factory=list)
    blocked: list[tuple[Pending, str]] = field(default_factory=list)


def publish(disk: Disk, ledger: Ledger) -> Published:
    """Write every pending file. The caller holds the vault's lock and deals with what people did meanwhile."""
    done = Published()
    while batch := _waiting(ledger, done):
        stamps: list[tuple[str, Stamp, bytes]] = []
        came_out: list[bytes] = []
        for each in batch:
            try:
                outcome = write_one(disk, each)
            except (UnusableFile, FileExistsError, IsADirectoryError, NotADirectoryError) as error:
                done.blocked.append((each, str(error)))
                continue
            if outcome is Obstacle.OCCUPIED:
                done.occupied.append(each)
            elif outcome is Obstacle.MISSING:
                done.missing.append(each)
            elif isinstance(outcome, Swapped):
                if is_ours(outcome.data, each):
                    came_out.append(outcome.data)
                    stamps.append((each.path, outcome.stamp, each.data))
                else:
                    done.human.append((each, outcome))
            else:
                stamps.append((each.path, outcome, each.data))
        done.written += [path for path, *_ in stamps]
        ledger.wrote(stamps, disk_time_ns(), came_out)
    return done


def _waiting(ledger: Ledger, done: Published) -> list[Pending]:
    aside = {each.path for each in (*done.missing, *done.occupied)}
    aside |= {each.path for each, _ in (*done.human, *done.blocked)}
    return [pending for pending in ledger.pending(AT_ONCE + len(aside)) if pending.path not in aside]


def write_one(disk: Disk, file: Pending) -> Stamp | Swapped | Obstacle:
    """Write one file, or say what is in the way."""
    if file.moved_from and disk.stamp(file.path) is None and disk.stamp(file.moved_from):
        disk.move(file.moved_from, file.path)
        disk.remove_empty_dirs(file.moved_from)
    if file.base is None:
        try:
            return disk.create(file.path, file.data)
        except FileExistsError:
            if not _is_begun(disk.read(file.path)[0], file):
                return Obstacle.OCCUPIED
    try:
        return disk.exchange(file.path, file.data)
    except FileNotFoundError:
        return Obstacle.MISSING


def _is_begun(data: bytes, file: Pending) -> bool:
    """Whether a new file stands there already, or what a crash left of it."""
    return is_ours(data, file) or file.data.startswith(data) or b"\0" in data


def is_ours(data: bytes, file: Pending) -> bool:
    return data in (file.data, file.base) or sha256(data) in file.ours


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
