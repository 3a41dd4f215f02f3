"""The ledger of files: the bytes last read or written of each, what is still to be written, what is wrong with some."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId
from lamina.vault.files import Stamp


class FileState(StrEnum):
    """What a file of the vault is to us."""

    ATOM = "atom"
    FOREIGN = "foreign"
    BAD = "bad"
    GONE = "gone"


class FileLine(NamedTuple):
    """A file's line in the ledger without its bytes: enough to tell whether it changed. A tuple: every look at the
    vault makes one for each file."""

    path: str
    atom_id: AtomId | None
    state: FileState
    stamp: Stamp | None
    checked_ns: int


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file's line with its bytes. `base` is what stands on the disk while a write is still to go out."""

    line: FileLine
    data: bytes
    base: bytes | None
    ours: tuple[str, ...]
    pending: bool


@dataclass(frozen=True, slots=True)
class Pending:
    """A file still to be written. `base`: the bytes it replaces, None for a new file; `ours`: the SHA-256 of every
    version of ours that may stand there."""

    path: str
    atom_id: AtomId
    data: bytes
    base: bytes | None
    ours: tuple[str, ...]
    moved_from: str | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a person should know of a file or an atom; listed by `doctor`, cleared when it is mended."""

    path: str
    kind: str
    message: str
    line: int = 0
    atom_id: AtomId | None = None
    at: datetime | None = None


class Ledger(Protocol):
    """What the store knows of the vault's files. None of it is history: it can be found out again from the disk."""

    def lines(self) -> list[FileLine]:
        """Every known file."""

    def calm(self, for_ns: int) -> tuple[dict[str, tuple[int, ...]], list[FileLine]]:
        """The stamps of files that were checked so long after they had changed, by path, and every other line."""

    def line(self, path: str) -> FileLine | None:
        """One file without its bytes. A line without a stamp is still to be written."""

    def row(self, path: str) -> FileRow | None:
        """One file with its bytes."""

    def rows(self, paths: Sequence[str]) -> dict[str, FileRow]:
        """Those of the files that are known, with their bytes."""

    def owned(self, ids: Iterable[AtomId]) -> set[AtomId]:
        """Those of the ids that have a line in the ledger."""

    def row_of(self, atom_id: AtomId) -> FileRow | None:
        """The file of an atom."""

    def head(self, atom_id: AtomId) -> Atom:
        """The atom a file belongs to, whatever its scope: files are looked at on behalf of the engine itself."""

    def atom_named(self, name: str) -> AtomId | None:
        """The atom somebody means by a file's name or by the id it had elsewhere."""

    def paths_of(self, ids: Iterable[AtomId]) -> dict[AtomId, str]:
        """Where the atoms' files are."""

    def pending(self, limit: int) -> list[Pending]:
        """Files still to be written, oldest first."""

    def wrote(
        self, written: Iterable[tuple[str, Stamp, bytes]], checked_ns: int, came_out: Iterable[bytes] = ()
    ) -> None:
        """These bytes stand on the disk; what came out for them is kept for a while.

        Where a commit made meanwhile wants other bytes, the file is still to be written.
        """

    def came_out(self, sha256: str) -> bytes | None:
        """Bytes that an exchange brought out not long ago and that are dealt with."""

    def known_to_have_come_out(self) -> frozenset[str]:
        """The SHA-256 of all such bytes."""

    def forget_came_out(self, before_ns: int) -> None:
        """No copy that came out before this moment is kept any longer."""

    def saw(
        self, path: str, data: bytes, stamp: Stamp, checked_ns: int, atom_id: AtomId | None, state: FileState
    ) -> None:
        """A file was read and holds these bytes, and no commit follows from it."""

    def unchanged(self, seen: Iterable[tuple[str, Stamp]], checked_ns: int) -> None:
        """These files were looked at again and still hold the bytes the ledger has."""

    def moved(self, old: str, new: str, stamp: Stamp, checked_ns: int) -> None:
        """A person moved a file; its bytes are the same."""

    def displaced(self, path: str) -> str:
        """Another file took the place of an atom's; until its own turns up, its line stands at the path returned."""

    def gone(self, path: str) -> None:
        """A file is no longer there; its last bytes are kept."""

    def withdrawn(self, pending: Pending) -> None:
        """A write is given up for now: the file holds a person's bytes that are still to be understood."""

    def forget_file(self, path: str) -> None:
        """A file that was never an atom's is no longer there."""

    def unsure(self) -> list[Pending]:
        """Files written, or to be written, before the machine last started and not known to have reached the disk."""

    def problems(self) -> list[Problem]:
        """What is wrong, oldest first."""

    def report(self, problem: Problem) -> None:
        """Put a problem on the list; the same kind at the same path replaces the one before."""

    def clear(self, path: str, kinds: Iterable[str] | None = None) -> None:
        """The problems of a path are mended."""

    def signals(self, atom_id: AtomId) -> Signals:
        """What use has taught us of an atom."""

    def signals_of(self, ids: Iterable[AtomId]) -> dict[AtomId, Signals]:
        """The same for many; atoms that nothing is known of are left out."""

    def set_signals(self, atom_id: AtomId, signals: Signals) -> None:
        """Take over signals, such as those a file brought along."""

    def summary(self, of: Callable[[str], bool] | None = None) -> dict[str, int]:
        """Counts: files known, still to be written, bad, problems; of all paths or of some."""
