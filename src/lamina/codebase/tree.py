"""List the files of a folder in order, up to a limit, and never outside it, whatever links it contains."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lamina.codebase.ignored import Ignored

_MACHINES = """
    .git .hg .svn .jj .bzr CVS node_modules bower_components jspm_packages __pycache__ .venv venv virtualenv .tox .nox
    site-packages .mypy_cache .pytest_cache .ruff_cache .hypothesis .eggs .gradle .terraform .direnv .lamina __MACOSX
"""
NEVER = frozenset(_MACHINES.split())
"""Folders of tools, which are never listed."""
_MADE = """
    build dist out target obj coverage htmlcov .next .nuxt .output .cache .parcel-cache tmp temp logs vendor Pods
    DerivedData _build
"""
BUILT = frozenset(_MADE.split())
"""Folders of generated files: it means nothing if one is missing."""
_HOLDS_NONE_OF_IT = ("pyvenv.cfg", ".lamina")
"""Names that mark a folder as a Python environment or as a lamina vault."""
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Tree:
    """The files under a root, by relative path.

    `is_truncated`: there are more; `unreadable`: folders without permission.
    """

    root: Path
    files: tuple[str, ...]
    folders: tuple[str, ...]
    links: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()
    is_cut: bool = False


@dataclass(slots=True)
class _Walk:
    root: Path
    most: int
    projects: bool
    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    links: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)
    is_cut: bool = False

    def go(self) -> None:
        pending = [("", Ignored())]
        while pending:
            folder, parent_rules = pending.pop()
            entries = self._entries(folder)
            if folder and any(entry.name in _HOLDS_NONE_OF_IT for entry in entries):
                continue
            if folder:
                self.folders.append(folder)
            ignored = parent_rules.inside(self.root, folder) if self.projects else parent_rules
            pending += [(subfolder, ignored) for subfolder in reversed(list(self._look(folder, entries, ignored)))]
            if self.is_cut:
                return

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError:
            self.unread.append(folder)
            return []

    def _look(self, folder: str, entries: list[os.DirEntry[str]], ignored: Ignored) -> Iterator[str]:
        """Record the files of a folder; yield its subfolders."""
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = _is_folder(entry)
            if self._is_left_out(entry.name, path, is_folder, ignored):
                continue
            if entry.is_symlink():
                self.links.add(path)
            if is_folder and path.count("/") < _DEEPEST:
                yield path
            elif not is_folder and (_is_file(entry) or not self.projects):
                if len(self.files) >= self.most:
                    self.is_cut = True
                    return
                self.files.append(path)

    def _is_left_out(self, name: str, path: str, is_folder: bool, ignored: Ignored) -> bool:
        if is_folder and name in NEVER:
            return True
        hidden = name.startswith(".") or (is_folder and (name in BUILT or name.endswith(".egg-info")))
        return self.projects and (hidden or ignored.covers(path, is_folder))


def tree_of(root: Path, most: int, *, projects: bool = False) -> Tree:
    """Return the first `max_files` files under a root, folder by folder. Links are listed and never followed.

    `project_files_only` leaves out hidden, ignored and generated files, and links.
    """
    walk = _Walk(root, most, projects)
    walk.go()
    return Tree(root, tuple(walk.files), tuple(walk.folders), frozenset(walk.links), tuple(walk.unread), walk.is_cut)


def read_bytes(root: Path, path: str, largest: int) -> bytes | None:
    """Return the bytes of a file of a tree; None if it is too large, not a regular file, or not readable."""
    try:
        handle = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            data = file.read(largest + 1)
        except OSError:
            return None
    return data if len(data) <= largest else None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False
