"""Projection: the outbox is written to files, and a person who saves at the same moment loses nothing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum

from lamina.clock import disk_time_ns
from lamina.store.ledger import Ledger, PendingFile
from lamina.vault.disk import Disk, Stamp, SwapResult, UnusableFile

BATCH = 500


class WriteObstacle(Enum):
    """Why a file was not written."""

    MISSING = "the file that was to be replaced is not there"
    OCCUPIED = "where a new file was to be made, somebody else's stands"


@dataclass(slots=True)
class ProjectionResult:
    """What happened to the outbox: files written, swapped-out bytes of a person, files that were missing.

    `blocked`: something that is not a plain file is in the way; `occupied`: a file that lamina did not write is.
    """

    written: list[str] = field(default_factory=list)
    swapped_out: list[tuple[PendingFile, SwapResult]] = field(default_factory=list)
    missing: list[PendingFile] = field(default_factory=list)
    occupied: list[PendingFile] = field(default_factory=list)
    blocked: list[tuple[PendingFile, str]] = field(default_factory=list)


def write_pending_files(disk: Disk, ledger: Ledger) -> ProjectionResult:
    """Write every pending file. The caller has the vault's lock and processes what people saved meanwhile."""
    result = ProjectionResult()
    while batch := _next_batch(ledger, result):
        stamps: list[tuple[str, Stamp, bytes]] = []
        swapped_out: list[bytes] = []
        for file in batch:
            try:
                outcome = write_file(disk, file)
            except (UnusableFile, FileExistsError, IsADirectoryError, NotADirectoryError) as error:
                result.blocked.append((file, str(error)))
                continue
            if outcome is WriteObstacle.OCCUPIED:
                result.occupied.append(file)
            elif outcome is WriteObstacle.MISSING:
                result.missing.append(file)
            elif isinstance(outcome, SwapResult):
                if is_ours(outcome.data, file):
                    swapped_out.append(outcome.data)
                    stamps.append((file.path, outcome.stamp, file.data))
                else:
                    result.swapped_out.append((file, outcome))
            else:
                stamps.append((file.path, outcome, file.data))
        result.written += [path for path, *_ in stamps]
        ledger.mark_written(stamps, disk_time_ns(), swapped_out)
    return result


def _next_batch(ledger: Ledger, result: ProjectionResult) -> list[PendingFile]:
    """Return the next files to write, without those that could not be written before."""
    skipped = {file.path for file in (*result.missing, *result.occupied)}
    skipped |= {file.path for file, _ in (*result.swapped_out, *result.blocked)}
    return [pending for pending in ledger.pending_files(BATCH + len(skipped)) if pending.path not in skipped]


def write_file(disk: Disk, file: PendingFile) -> Stamp | SwapResult | WriteObstacle:
    """Write one file, or return what is in the way."""
    if file.moved_from and disk.stamp(file.path) is None and disk.stamp(file.moved_from):
        disk.move(file.moved_from, file.path)
        disk.remove_empty_dirs(file.moved_from)
    if file.base is None:
        try:
            return disk.create(file.path, file.data)
        except FileExistsError:
            if not _is_partial_write(disk.read(file.path)[0], file):
                return WriteObstacle.OCCUPIED
    try:
        return disk.exchange(file.path, file.data)
    except FileNotFoundError:
        return WriteObstacle.MISSING


def _is_partial_write(data: bytes, file: PendingFile) -> bool:
    """Return whether the new file is there already, or what a crash left of it."""
    return is_ours(data, file) or file.data.startswith(data) or b"\0" in data


def is_ours(data: bytes, file: PendingFile) -> bool:
    """Return whether lamina wrote these bytes."""
    return data in (file.data, file.base) or sha256(data) in file.written_hashes


def sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes as hexadecimal text."""
    return hashlib.sha256(data).hexdigest()
