"""Projection: the outbox is written to files, and a person who saves at the same moment loses nothing."""

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
    """What happened to the outbox: files written, swapped-out bytes of a person, files that were missing.

    `blocked`: something that is not a plain file is in the way; `occupied`: a file that lamina did not write is.
    """

    written: list[str] = field(default_factory=list)
    human: list[tuple[Pending, Swapped]] = field(default_factory=list)
    missing: list[Pending] = field(default_factory=list)
    occupied: list[Pending] = field(default_factory=list)
    blocked: list[tuple[Pending, str]] = field(default_factory=list)


def publish(disk: Disk, ledger: Ledger) -> Published:
    """Write every pending file. The caller has the vault's lock and processes what people saved meanwhile."""
    result = Published()
    while batch := _waiting(ledger, result):
        stamps: list[tuple[str, Stamp, bytes]] = []
        swapped_out: list[bytes] = []
        for file in batch:
            try:
                outcome = write_one(disk, file)
            except (UnusableFile, FileExistsError, IsADirectoryError, NotADirectoryError) as error:
                result.blocked.append((file, str(error)))
                continue
            if outcome is Obstacle.OCCUPIED:
                result.occupied.append(file)
            elif outcome is Obstacle.MISSING:
                result.missing.append(file)
            elif isinstance(outcome, Swapped):
                if is_ours(outcome.data, file):
                    swapped_out.append(outcome.data)
                    stamps.append((file.path, outcome.stamp, file.data))
                else:
                    result.human.append((file, outcome))
            else:
                stamps.append((file.path, outcome, file.data))
        result.written += [path for path, *_ in stamps]
        ledger.wrote(stamps, disk_time_ns(), swapped_out)
    return result


def _waiting(ledger: Ledger, done: Published) -> list[Pending]:
    """Return the next files to write, without those that could not be written before."""
    skipped = {file.path for file in (*done.missing, *done.occupied)}
    skipped |= {file.path for file, _ in (*done.human, *done.blocked)}
    return [pending for pending in ledger.pending(AT_ONCE + len(skipped)) if pending.path not in skipped]


def write_one(disk: Disk, file: Pending) -> Stamp | Swapped | Obstacle:
    """Write one file, or return what is in the way."""
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
    """Return whether the new file is there already, or what a crash left of it."""
    return is_ours(data, file) or file.data.startswith(data) or b"\0" in data


def is_ours(data: bytes, file: Pending) -> bool:
    """Return whether lamina wrote these bytes."""
    return data in (file.data, file.base) or sha256(data) in file.ours


def sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes as hexadecimal text."""
    return hashlib.sha256(data).hexdigest()
