"""Missing files that are no deletions yet: their folder vanished, or many are missing at once.

A person unmounts a disk, moves a folder away or puts a link in its place; a sync tool starts with an empty folder. What
is held stays held until every file is back, or a person accepts the deletions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from lamina.store.admin import FileProblem, Problems
from lamina.store.projection import FileState, Projection
from lamina.vault.disk import Disk

KIND = "held-deletions"
EVERYWHERE = "."
"""The path of the problem of files that are missing in many places."""
MASS_COUNT, MASS_SHARE = 20, 0.05
_ADVICE = "nothing was forgotten. Bring them back, or run `lamina sync --accept-deletions`"

HasMarker = Callable[[], bool]
"""Returns whether the vault's marker file exists."""


class HeldDeletions:
    """Decides which missing files a person deleted, and reports those that are held."""

    def __init__(
        self, disk: Disk, ledger: Projection, problems: Problems, has_marker: HasMarker, *, needs_review: bool
    ) -> None:
        self._disk, self._ledger, self._problems, self._has_marker = disk, ledger, problems, has_marker
        self._needs_review = needs_review

    def split(self, paths: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the missing files that were deleted, and those that are held; report the held ones by folder."""
        reported = self.folders
        held: dict[str, list[str]] = {}
        plausible: list[str] = []
        emptied_folder = _emptied_folder(self._disk, paths)
        for path in paths:
            earlier = next((folder for folder in reported if folder != EVERYWHERE and path.startswith(folder)), None)
            folder = earlier or self._disk.find_vanished_folder(path)
            if folder is None and emptied_folder and path.startswith(emptied_folder):
                folder = emptied_folder
            (held.setdefault(folder, []) if folder else plausible).append(path)
        reason = self._mass_deletion_reason(len(plausible))
        if plausible and (reason or EVERYWHERE in reported):
            reason = reason or f"{len(plausible)} files are still missing of those that were missing at once"
            self._problems.report(FileProblem(EVERYWHERE, KIND, f"{reason}; {_ADVICE}"))
            held[EVERYWHERE], plausible = plausible, []
        for folder in reported - held.keys():
            self._problems.clear(folder, [KIND])
        for folder, files in held.items():
            if folder != EVERYWHERE:
                message = f"the folder is or was missing, and with it {len(files)} files that lamina knows; {_ADVICE}"
                self._problems.report(FileProblem(folder, KIND, message))
        return plausible, [path for files in held.values() for path in files]

    def accept(self) -> None:
        """Hold nothing any more: a person accepted the deletions."""
        for folder in self.folders:
            self._problems.clear(folder, [KIND])

    @property
    def folders(self) -> set[str]:
        """Return the folders of which missing files are held."""
        return {problem.path for problem in self._problems.list() if problem.kind == KIND}

    def _mass_deletion_reason(self, missing_count: int) -> str | None:
        """Return why so many deletions may be a mistake; None if they are plausible."""
        if not missing_count:
            return None
        file_count = max(1, self._ledger.summary()["files"])
        if not self._has_marker():
            return "the vault's marker .lamina/vault.toml is missing"
        if self._needs_review:
            return f"{missing_count} of {file_count} files are missing, and changes of files need review"
        if missing_count > MASS_COUNT and missing_count > MASS_SHARE * file_count:
            return f"{missing_count} of {file_count} files are missing at once"
        return None


def find_lost_folder(disk: Disk, ledger: Projection, path: str) -> str | None:
    """Return the folder of a new file that vanished with files in it: nothing may be created in its place.

    Files that had not certainly reached the disk before a restart do not count: a power loss takes their folder too.
    """
    folder = disk.find_vanished_folder(path)
    if folder is None:
        return None
    entries = ledger.list_files(folder=folder).entries
    unsure = {file.path for file in ledger.pending_files(unconfirmed=True)}
    known = [entry for entry in entries if entry.stamp is not None and entry.state is not FileState.GONE]
    was_there = any(entry.path not in unsure for entry in known)
    pending = [file for file in ledger.pending_files() if file.base is not None and file.path.startswith(folder)]
    replaces = any(file.path not in unsure for file in pending)
    return folder if was_there or replaces else None


def _emptied_folder(disk: Disk, paths: Sequence[str]) -> str | None:
    """Return a folder at the top of the vault that is empty now and had several files: it may be unmounted."""
    for folder in {path.split("/")[0] + "/" for path in paths if path.count("/") == 1}:
        with suppress(OSError):
            if sum(path.startswith(folder) for path in paths) > 1 and not any((disk.root / folder).iterdir()):
                return folder
    return None
