"""Files of the vault: the bytes of each as last read or written, the outbox, and the `Projection` port."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from lamina.atom.atom import Atom, AtomId
from lamina.store.journal import Commit, CommitResult
from lamina.vault.folder_tree import Stamp


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
class AtomFiles:
    """The files of some atoms, and the journal position of the moment at which they were read."""

    records: Mapping[AtomId, FileRecord]
    position: int


class Projection(Protocol):
    """The files that show the atoms: what is on the disk, and what is still to be written there.

    It follows the journal: `catch_up` queues the files of what was committed since the last call. It is optional: a
    backend without files (capability `files`) has one without entries, which queues nothing. It is not history: it can
    be read again from the disk.
    """

    def catch_up(self) -> list[UnwritableFile]:
        """Queue the files of the atoms that changed since the last call; cheap if there are none.

        Returns the atoms that cannot be shown as files. Nothing happens in a transaction that may be rolled back.
        """

    def commit_edits(self, commit: Commit, files: FileChanges) -> CommitResult:
        """Append a commit that was read from files, and store in the same step what those files contain.

        If no atom differs, only the files are stored. Raises what `Journal.append` raises.
        """

    def entries(self) -> list[FileEntry]:
        """Return the entry of every known file."""

    def split_stable(self, min_age_ns: int) -> tuple[dict[str, tuple[int, ...]], list[FileEntry]]:
        """Return the stamps of stable files, by path, and the entries of all others.

        A file is stable if it was checked at least so long after its last change.
        """

    def entry(self, path: str) -> FileEntry | None:
        """Return the entry of one file. An entry without a stamp is still to be written."""

    def record(self, path: str) -> FileRecord | None:
        """Return one file with its bytes."""

    def records(self, paths: Sequence[str]) -> dict[str, FileRecord]:
        """Return those of the files that are known, with their bytes."""

    def known_ids(self, ids: Iterable[AtomId]) -> set[AtomId]:
        """Return those of the ids that have a file in the ledger."""

    def record_of(self, atom_id: AtomId) -> FileRecord | None:
        """Return the file of an atom."""

    def files_of(self, ids: Iterable[AtomId]) -> AtomFiles:
        """Return the files of these atoms, without deleted ones."""

    def head(self, atom_id: AtomId) -> Atom:
        """Return the atom of a file, whatever its scope: the engine itself reads files."""

    def find_atom_by_name(self, name: str) -> AtomId | None:
        """Return the atom with this file name, or with this id in another system."""

    def paths_of(self, ids: Iterable[AtomId]) -> dict[AtomId, str]:
        """Return the paths of the atoms' files, also of those that are not queued yet; no path of a deleted file."""

    def pending_files(self, limit: int) -> list[PendingFile]:
        """Return files still to be written, oldest first."""

    def enqueue_signals(self) -> None:
        """Queue the files whose counters of use changed since they were last written into them."""

    def mark_written(
        self, written: Iterable[tuple[str, Stamp, bytes]], checked_ns: int, swapped_out: Iterable[bytes] = ()
    ) -> None:
        """Store that these bytes are on the disk, and keep the bytes they were swapped for a while.

        If a later commit needs other bytes, the file stays pending.
        """

    def find_swapped_out(self, sha256: str) -> bytes | None:
        """Return processed bytes that an exchange of files swapped out recently; None if unknown."""

    def swapped_out_hashes(self) -> frozenset[str]:
        """Return the SHA-256 of all such bytes."""

    def forget_swapped_out(self, before_ns: int) -> None:
        """Delete the bytes that were swapped out before this moment."""

    def mark_read(
        self, path: str, data: bytes, stamp: Stamp, checked_ns: int, atom_id: AtomId | None, state: FileState
    ) -> None:
        """Store that a file was read and contains these bytes, without a commit."""

    def mark_unchanged(self, stamps: Iterable[tuple[str, Stamp]], checked_ns: int) -> None:
        """Store that these files were checked again and still have the bytes of the ledger."""

    def mark_moved(self, old_path: str, new_path: str, stamp: Stamp, checked_ns: int) -> None:
        """Store that a person moved a file; its bytes are the same."""

    def displace(self, path: str) -> str:
        """Free the path of an atom's file, because another file is there; return the placeholder path.

        The entry stays at that path until the atom's file is found again.
        """

    def mark_deleted(self, path: str) -> None:
        """Store that a file was deleted; its last bytes are kept."""

    def withdraw(self, pending: PendingFile) -> None:
        """Cancel a write for now: the file contains a person's bytes that still have to be read."""

    def forget_file(self, path: str) -> None:
        """Remove a file that was never an atom's and no longer exists."""

    def unconfirmed_files(self) -> list[PendingFile]:
        """Return files written, or to be written, before the last boot that may not have reached the disk."""

    def summary(self, path_filter: Callable[[str], bool] | None = None) -> dict[str, int]:
        """Return counts: files known, still to be written, unreadable, problems; for all paths or some."""
