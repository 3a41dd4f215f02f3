"""List the files of a folder in order, up to a limit, and never outside it, whatever links it contains."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lamina.codebase.gitignore import IgnoreRules
from lamina.importers.documents.parsed_document import UnreadableDocument
from lamina.importers.documents.regular_file import is_regular_file, read_regular_file

_TOOL_FOLDERS = """
    .git .hg .svn .jj .bzr CVS node_modules bower_components jspm_packages __pycache__ .venv venv virtualenv .tox .nox
    site-packages .mypy_cache .pytest_cache .ruff_cache .hypothesis .eggs .gradle .terraform .direnv .lamina __MACOSX
"""
SKIPPED_FOLDERS = frozenset(_TOOL_FOLDERS.split())
"""Folders of tools, which are never listed."""
_BUILD_FOLDERS = """
    build dist out target obj coverage htmlcov .next .nuxt .output .cache .parcel-cache tmp temp logs vendor Pods
    DerivedData _build
"""
BUILD_FOLDERS = frozenset(_BUILD_FOLDERS.split())
"""Folders of generated files: it means nothing if one is missing."""
_SKIP_MARKERS = ("pyvenv.cfg", ".lamina")
"""Names that mark a folder as a Python environment or as a lamina vault."""
_MAX_DEPTH = 40


@dataclass(frozen=True, slots=True)
class FileTree:
    """The files under a root, by relative path.

    `is_truncated`: there are more; `unreadable`: folders without permission.
    """

    root: Path
    files: tuple[str, ...]
    folders: tuple[str, ...]
    links: frozenset[str] = frozenset()
    unreadable: tuple[str, ...] = ()
    is_truncated: bool = False


@dataclass(slots=True)
class _TreeWalk:
    root: Path
    max_files: int
    project_files_only: bool
    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    links: set[str] = field(default_factory=set)
    unreadable: list[str] = field(default_factory=list)
    is_truncated: bool = False

    def run(self) -> None:
        pending = [("", IgnoreRules())]
        while pending:
            folder, parent_rules = pending.pop()
            entries = self._entries(folder)
            if folder and any(entry.name in _SKIP_MARKERS for entry in entries):
                continue
            if folder:
                self.folders.append(folder)
            ignored = parent_rules.with_folder(self.root, folder) if self.project_files_only else parent_rules
            pending += [
                (subfolder, ignored) for subfolder in reversed(list(self._visit_entries(folder, entries, ignored)))
            ]
            if self.is_truncated:
                return

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError:
            self.unreadable.append(folder)
            return []

    def _visit_entries(self, folder: str, entries: list[os.DirEntry[str]], ignored: IgnoreRules) -> Iterator[str]:
        """Record the files of a folder; yield its subfolders."""
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = _is_folder(entry)
            if self._is_skipped(entry.name, path, is_folder, ignored):
                continue
            if entry.is_symlink():
                self.links.add(path)
            if is_folder and path.count("/") < _MAX_DEPTH:
                yield path
            elif not is_folder and (_is_file(entry) or not self.project_files_only):
                if len(self.files) >= self.max_files:
                    self.is_truncated = True
                    return
                self.files.append(path)

    def _is_skipped(self, name: str, path: str, is_folder: bool, ignored: IgnoreRules) -> bool:
        if is_folder and name in SKIPPED_FOLDERS:
            return True
        hidden = name.startswith(".") or (is_folder and (name in BUILD_FOLDERS or name.endswith(".egg-info")))
        return self.project_files_only and (hidden or ignored.is_ignored(path, is_folder))


def walk_tree(root: Path, max_files: int, *, project_files_only: bool = False) -> FileTree:
    """Return the first `max_files` files under a root, folder by folder. Links are listed and never followed.

    `project_files_only` leaves out hidden, ignored and generated files, and links.
    """
    walk = _TreeWalk(root, max_files, project_files_only)
    walk.run()
    return FileTree(
        root, tuple(walk.files), tuple(walk.folders), frozenset(walk.links), tuple(walk.unreadable), walk.is_truncated
    )


def read_bytes(root: Path, path: str, max_bytes: int) -> bytes | None:
    """Return the bytes of a file of a tree; None if it is too large, not a regular file, or not readable."""
    try:
        return read_regular_file(root / path, max_bytes) if is_regular_file(root / path) else None
    except (OSError, UnreadableDocument):
        return None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir(follow_symlinks=False)
    return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_file(follow_symlinks=False)
    return False
