"""Files of the vault: the bytes of each as last read or written, the outbox, and the `Projection` port."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeAlias

from lamina.atom.atom import Atom, AtomId
from lamina.store.journal import Commit, CommitResult, Journal
from lamina.vault.file_access import Stamp


class FileState(StrEnum):
    """The type of a file of the vault: an atom's, of no atom, not readable, or deleted."""

    ATOM = "atom"
    FOREIGN = "foreign"
    BAD = "bad"
    GONE = "gone"


class FileEntry(NamedTuple):
    """A file in the ledger without its bytes: enough to see whether it changed.

    A tuple for speed: every scan of the vault creates one for each file.
    """

    path: str
    atom_id: AtomId | None
    state: FileState
    stamp: Stamp | None
    checked_ns: int


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file in the ledger with its bytes. `base`: the bytes on the disk while a write is pending."""

    entry: FileEntry
    data: bytes
    base: bytes | None
    written_hashes: tuple[str, ...]
    is_pending: bool


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A file still to be written.

    `base`: the bytes it replaces, None for a new file; `written_hashes`: the SHA-256 of every version that the engine
    wrote and that may be on the disk.
    """

    path: str
    atom_id: AtomId
    data: bytes
    base: bytes | None
    written_hashes: tuple[str, ...]
    moved_from: str | None


@dataclass(frozen=True, slots=True)
class UnwritableFile:
    """An atom that cannot be shown as a file, and why: it is too large."""

    path: str
    atom_id: AtomId
    reason: str


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """A file as a person saved it; the next version of the file is rendered from these bytes.

    `replaced_by_sha256`: the SHA-256 of the engine's bytes that are at the path already, because the person's bytes
    came out of an atomic exchange of the two files.
    """

    path: str
    data: bytes
    stamp: Stamp
    checked_ns: int
    replaced_by_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Edits by a person of the files of a commit's atoms: the files they saved, and those they deleted."""

    snapshots: Mapping[AtomId, FileSnapshot] = field(default_factory=dict)
    deleted: frozenset[AtomId] = frozenset()

    def __contains__(self, atom_id: AtomId) -> bool:
        return atom_id in self.snapshots or atom_id in self.deleted


@dataclass(frozen=True, slots=True)
class KnownFiles:
    """Files with their bytes, and the journal position of the moment at which they were read."""

    records: tuple[FileRecord, ...]
    position: int

    def at(self, path: str) -> FileRecord | None:
        """Return the file at a path."""
        return next((record for record in self.records if record.entry.path == path), None)

    def of(self, atom_id: AtomId | None) -> FileRecord | None:
        """Return the file of an atom."""
        return next((record for record in self.records if record.entry.atom_id == atom_id), None)

    @property
    def paths(self) -> dict[AtomId, str]:
        """Return the paths of the atoms' files that were not deleted."""
        entries = [record.entry for record in self.records if record.entry.state is not FileState.GONE]
        return {entry.atom_id: entry.path for entry in entries if entry.atom_id is not None}

    @property
    def by_path(self) -> dict[str, FileRecord]:
        """Return the files by their paths."""
        return {record.entry.path: record for record in self.records}


@dataclass(frozen=True, slots=True)
class FileList:
    """All files without their bytes: the stamps of stable files, by path, and the entries of all others."""

    stable: dict[str, tuple[int, ...]]
    entries: list[FileEntry]


@dataclass(frozen=True, slots=True)
class FileWritten:
    """These bytes are on the disk now. If a later commit needs other bytes, the file stays pending."""

    path: str
    data: bytes
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file was read and contains these bytes; no commit came of it."""

    path: str
    data: bytes
    stamp: Stamp
    atom_id: AtomId | None
    state: FileState


@dataclass(frozen=True, slots=True)
class FileUnchanged:
    """A file was checked again and still has the bytes of the ledger."""

    path: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class FileMoved:
    """A person moved a file; its bytes are the same.

    Without a stamp, another file is at the old path, and the entry stays at a placeholder until its file is found.
    """

    path: str
    new_path: str
    stamp: Stamp | None


@dataclass(frozen=True, slots=True)
class FileDeleted:
    """A file was deleted. An atom's last bytes are kept; the entry of any other file is removed."""

    path: str


@dataclass(frozen=True, slots=True)
class WriteWithdrawn:
    """A write is cancelled for now: the file contains a person's bytes that still have to be read."""

    pending: PendingFile


@dataclass(frozen=True, slots=True)
class BytesSwappedOut:
    """Bytes came out of an exchange of files and were processed; they are remembered for a while."""

    data: bytes


@dataclass(frozen=True, slots=True)
class SwapsForgotten:
    """Bytes that were swapped out before this moment are no longer needed."""

    before_ns: int


FileEvent: TypeAlias = (
    FileWritten | FileRead | FileUnchanged | FileMoved | FileDeleted | WriteWithdrawn | BytesSwappedOut | SwapsForgotten
)
"""What happened to files, apart from commits."""


class Projection(Protocol):
    """The files that show the atoms: what is on the disk, and what is still to be written there.

    It follows the journal: `catch_up` queues the files of what was committed since the last call. A backend without
    files (capability `files`) has a `NullProjection`. It is not history: it can be read again from the disk.
    """

    def catch_up(self, *, with_signals: bool = False) -> list[UnwritableFile]:
        """Queue the files of the atoms that changed since the last call; cheap if there are none.

        With signals, also files whose counters of use changed. Returns the atoms that cannot be shown as files. Nothing
        happens in a transaction that may be rolled back.
        """

    def commit_edits(self, commit: Commit, files: FileChanges) -> CommitResult:
        """Append a commit that was read from files, and store in the same step what those files contain.

        If no atom differs, only the files are stored. Raises what `Journal.append` raises.
        """

    def record(self, events: Iterable[FileEvent], checked_ns: int) -> None:
        """Store what happened to files, in one step; `checked_ns`: the time of the disk at which that was seen."""

    def read(self, *, paths: Iterable[str] = (), ids: Iterable[AtomId] = ()) -> KnownFiles:
        """Return those of the files at these paths and of these atoms that are known, deleted ones too.

        An entry without a stamp is still to be written.
        """

    def list_files(self, min_age_ns: int | None = None, *, folder: str = "") -> FileList:
        """Return every known file below a folder; a file is stable if it was checked at least so long after its last
        change."""

    def pending_files(self, limit: int | None = None, *, unconfirmed: bool = False) -> list[PendingFile]:
        """Return files still to be written, oldest first.

        If `unconfirmed`, those written, or to be written, before the last boot that may not have reached the disk.
        """

    def paths_of(self, ids: Iterable[AtomId]) -> dict[AtomId, str]:
        """Return the paths of the atoms' files, also of those that are not queued yet; no path of a deleted file."""

    def find_atom(self, name: str) -> Atom | None:
        """Return the atom with this id, with this file name, or with this id in another system.

        Its scope does not matter: the engine itself reads files. None if there are several.
        """

    def find_swapped_out(self, sha256: str) -> bytes | None:
        """Return processed bytes that an exchange of files swapped out recently; None if unknown."""

    def swapped_out_hashes(self) -> frozenset[str]:
        """Return the SHA-256 of all such bytes."""

    def summary(self, path_filter: Callable[[str], bool] | None = None) -> dict[str, int]:
        """Return counts: files known, still to be written, unreadable, problems; for all paths or some."""


class NullProjection:
    """The projection of a backend without files: commits have no files, and none is known."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def catch_up(self, *, with_signals: bool = False) -> list[UnwritableFile]:
        return []

    def commit_edits(self, commit: Commit, files: FileChanges) -> CommitResult:
        return self._journal.append(commit)

    def record(self, events: Iterable[FileEvent], checked_ns: int) -> None:
        return None

    def read(self, *, paths: Iterable[str] = (), ids: Iterable[AtomId] = ()) -> KnownFiles:
        return KnownFiles((), self._journal.position())

    def list_files(self, min_age_ns: int | None = None, *, folder: str = "") -> FileList:
        return FileList({}, [])

    def pending_files(self, limit: int | None = None, *, unconfirmed: bool = False) -> list[PendingFile]:
        return []

    def paths_of(self, ids: Iterable[AtomId]) -> dict[AtomId, str]:
        return {}

    def find_atom(self, name: str) -> Atom | None:
        return None

    def find_swapped_out(self, sha256: str) -> bytes | None:
        return None

    def swapped_out_hashes(self) -> frozenset[str]:
        return frozenset()

    def summary(self, path_filter: Callable[[str], bool] | None = None) -> dict[str, int]:
        return dict.fromkeys(("files", "foreign", "unreadable", "to_write", "problems"), 0)
