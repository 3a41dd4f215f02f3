"""List the files of a folder in order, up to a limit and never outside it, without what it ignores.

Of .gitignore the simple cases are matched, name by name, so that no pattern is slow.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from pathlib import Path

from lamina.importers.documents.parsed_document import UnreadableDocument
from lamina.importers.documents.regular_file import is_regular_file, read_regular_file

_GITIGNORE = ".gitignore"
_MAX_FILE_BYTES = 64 * 1024
_MAX_RULES = 1000
_MAX_STARS = 8
_ANY_FOLDERS = "**"


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line of a .gitignore: a pattern for each name from a folder downwards, None for any folders.

    `is_negated` includes again what earlier lines exclude.
    """

    patterns: tuple[re.Pattern[str] | None, ...]
    folders_only: bool
    is_negated: bool

    def matches(self, names: tuple[str, ...], is_folder: bool) -> bool:
        return (is_folder or not self.folders_only) and _match(self.patterns, names)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that apply in a folder: its own, and those of the folders around it."""

    levels: tuple[tuple[str, tuple[IgnoreRule, ...]], ...] = ()

    def with_folder(self, root: Path, folder: str) -> IgnoreRules:
        """Return the rules that apply in a folder of the root; `folder` is `""` for the root itself."""
        rules = _read_rules(root / folder / _GITIGNORE)[: _MAX_RULES - sum(len(rules) for _, rules in self.levels)]
        return IgnoreRules((*self.levels, (f"{folder}/" if folder else "", rules))) if rules else self

    def is_ignored(self, path: str, is_folder: bool) -> bool:
        """Return whether a path under the root is ignored; the last line that matches decides."""
        is_left_out = False
        for folder, rules in self.levels:
            names = tuple(path.removeprefix(folder).split("/"))
            for rule in rules:
                if rule.is_negated is is_left_out and rule.matches(names, is_folder):
                    is_left_out = not rule.is_negated
        return is_left_out


def is_ignored(root: Path, path: str) -> bool:
    """Return whether a project ignores a path, or a folder that contains it."""
    names, ignored = path.split("/"), IgnoreRules().with_folder(root, "")
    for depth in range(1, len(names) + 1):
        prefix = "/".join(names[:depth])
        if ignored.is_ignored(prefix, depth < len(names)):
            return True
        if _is_link(root / prefix):
            return False
        ignored = ignored.with_folder(root, prefix)
    return False


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except (OSError, ValueError):
        return False  # no file can have such a name


def _read_rules(file: Path) -> tuple[IgnoreRule, ...]:
    try:
        if not is_regular_file(file):
            return ()
        lines = read_regular_file(file, _MAX_FILE_BYTES).decode(errors="replace").splitlines()
    except (OSError, ValueError, UnreadableDocument):
        return ()
    return tuple(rule for line in lines[:_MAX_RULES] if (rule := _parse_rule(line.rstrip())) is not None)


def _parse_rule(line: str) -> IgnoreRule | None:
    if not line or line.startswith("#") or "\\" in line:
        return None
    keeps, pattern = line.startswith("!"), line.removeprefix("!")
    folders_only, pattern = pattern.endswith("/"), pattern.rstrip("/")
    is_fixed = "/" in pattern
    names = tuple(os.path.normpath(pattern).strip("/").split("/"))
    if not pattern or ".." in names or pattern.count("*") > _MAX_STARS:
        return None
    patterns = (None if name == _ANY_FOLDERS else _compile_name(name) for name in names)
    return IgnoreRule(tuple(patterns) if is_fixed else (None, *patterns), folders_only, keeps)


@lru_cache(maxsize=4096)
def _compile_name(name: str) -> re.Pattern[str]:
    return re.compile(translate(name))


def _match(patterns: tuple[re.Pattern[str] | None, ...], names: tuple[str, ...]) -> bool:
    """Return whether names match patterns, of which None stands for any folders, at the end for one name or more.

    After a mismatch only the last None takes one name more, so that the time is at most the product of the lengths.
    """
    at, place, last_any, resume = 0, 0, -1, 0
    while place < len(names):
        if at < len(patterns) and patterns[at] is None:
            if at + 1 == len(patterns):
                return True
            last_any, resume, at = at, place, at + 1
        elif at < len(patterns) and (pattern := patterns[at]) is not None and pattern.match(names[place]):
            at, place = at + 1, place + 1
        elif last_any >= 0:
            resume += 1
            at, place = last_any + 1, resume
        else:
            return False
    return at == len(patterns)


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
