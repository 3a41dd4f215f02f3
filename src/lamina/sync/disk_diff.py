"""Compare the disk with the ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lamina.clock import disk_time_ns
from lamina.errors import InvalidInput
from lamina.store.base import FileSnapshot
from lamina.store.projection import FileEntry, FileRecord, FileState, Projection
from lamina.vault import layout
from lamina.vault.atom_file import ParsedFile, parse_file
from lamina.vault.disk import Disk
from lamina.vault.file_access import Stamp, UnusableFile
from lamina.vault.yaml_codec import Unreadable

RACY_NS = 20_000_000
COARSE_RACY_NS = 2_100_000_000
"""A file saved so shortly before it was checked may be saved again with the same stamp."""

BATCH = 1000
"""Files whose bytes are read from the ledger at a time."""

NO_STAMP = Stamp(-1, 0, 0, 0)
"""A stamp that no file has, so that the file is read at the next scan."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that was read because it is new or may have changed."""

    path: str
    data: bytes
    stamp: Stamp
    checked_ns: int

    def to_snapshot(self) -> FileSnapshot:
        """Return the file as a snapshot for a commit."""
        return FileSnapshot(self.path, self.data, self.stamp, self.checked_ns)


@dataclass(frozen=True, slots=True)
class DiskChanges:
    """The files that are new or may have changed, with their stamps, and those that were missing."""

    changed: dict[str, Stamp]
    missing: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing)


class DiskDiff:
    """Compares disk and ledger, by stamps first, and by bytes if the stamps are not enough."""

    def __init__(self, disk: Disk, ledger: Projection) -> None:
        self._disk, self._ledger = disk, ledger

    def read(self, path: str) -> ReadFile | UnusableFile | None:
        """Return the file as it is; None if it does not exist, the error if it cannot be used."""
        checked = disk_time_ns()
        try:
            data, stamp = self._disk.read(path)
        except FileNotFoundError:
            return None
        except UnusableFile as error:
            return error
        except InvalidInput as error:
            return UnusableFile(path, str(error))
        return ReadFile(path, data, stamp, checked)

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of the file; None if it does not exist or its name cannot be used."""
        try:
            return self._disk.stamp(path)
        except InvalidInput:
            return None

    def scan(self) -> DiskChanges:
        """Scan all files and return what differs from the ledger; imported documents are left out."""
        known_files = self._ledger.list_files(COARSE_RACY_NS)
        stable, entries = known_files.stable, {entry.path: entry for entry in known_files.entries}
        changed_files: dict[str, Stamp] = {}
        for path, stamp in self._disk.scan():
            if stable.pop(path, None) == stamp:
                continue
            entry = entries.pop(path, None)
            if (entry is None or has_changed(entry, stamp)) and not layout.is_document_path(path):
                changed_files[path] = stamp
        missing = [*stable, *(path for path, entry in entries.items() if entry.state is not FileState.GONE)]
        return DiskChanges(changed_files, tuple(path for path in missing if not layout.is_document_path(path)))

    def find_unknown_files(self) -> list[str]:
        """Return the files that the ledger does not know."""
        paths = [*self.scan().changed]
        known_paths = self._read_entries(paths)
        return [path for path in paths if path not in known_paths]

    def recheck(self, changes: DiskChanges) -> DiskChanges:
        """Return what still differs after other processes may have handled some; a newer save is read again."""
        entries = self._read_entries([*changes.changed, *changes.missing])
        return DiskChanges(
            {
                path: stamp
                for path, stamp in changes.changed.items()
                if path not in entries or has_changed(entries[path], stamp)
            },
            tuple(
                path
                for path in changes.missing
                if path in entries and entries[path].state is not FileState.GONE and self.stamp(path) is None
            ),
        )

    def _read_entries(self, paths: Sequence[str]) -> dict[str, FileEntry]:
        """Return the entries of those of the paths that the ledger knows."""
        return {
            record.entry.path: record.entry
            for start in range(0, len(paths), BATCH)
            for record in self._ledger.read(paths=paths[start : start + BATCH]).records
        }

    def find_differing(self, records: Mapping[str, FileRecord | None]) -> list[str]:
        """Return those of the files that differ from their record in the ledger; a pending one differs if a person
        wrote it."""
        return [path for path, record in records.items() if self._differs(path, record)]

    def _differs(self, path: str, record: FileRecord | None) -> bool:
        stamp = self.stamp(path)
        if record is None or record.entry.state is FileState.GONE:
            return stamp is not None
        if record.entry.stamp is None:
            return stamp is not None and not self._is_our_data(path, record)
        return stamp is None or (has_changed(record.entry, stamp) and not self._has_same_bytes(path, record))

    def _is_our_data(self, path: str, record: FileRecord) -> bool:
        """Return whether the file contains bytes that lamina wrote."""
        file = self.read(path)
        if not isinstance(file, ReadFile):
            return True
        return file.data in (record.data, record.base) or hashlib.sha256(file.data).hexdigest() in record.written_hashes

    def _has_same_bytes(self, path: str, record: FileRecord) -> bool:
        file = self.read(path)
        return isinstance(file, ReadFile) and record.entry.state is FileState.ATOM and file.data == record.data


def has_changed(entry: FileEntry, stamp: Stamp) -> bool:
    """Return whether a stamp differs, or is so recent that it cannot be trusted."""
    if entry.state is FileState.GONE:
        return True
    return entry.stamp is not None and (entry.stamp != stamp or _is_racy(stamp, entry.checked_ns))


def _is_racy(stamp: Stamp, checked_ns: int) -> bool:
    age = checked_ns - max(stamp.ctime_ns, stamp.mtime_ns)
    if age >= COARSE_RACY_NS:
        return False
    coarse = stamp.mtime_ns % 1_000_000 == 0 and stamp.ctime_ns % 1_000_000 == 0
    return coarse or age < RACY_NS


def try_parse(data: bytes | None) -> ParsedFile | None:
    """Return the parsed file; None if it cannot be read."""
    try:
        return parse_file(data) if data is not None else None
    except Unreadable:
        return None
