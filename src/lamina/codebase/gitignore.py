"""Match the simple cases of .gitignore, name by name, so that no pattern is slow."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

_GITIGNORE = ".gitignore"
_MAX_FILE_BYTES = 64 * 1024
_MAX_RULES = 1000
_MAX_STARS = 8
_ANY_FOLDERS = "**"


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line of a .gitignore: names from a folder downwards; `is_negated` includes again what
    earlier lines exclude.
    """

    names: tuple[str, ...]
    folders_only: bool
    is_negated: bool

    def matches(self, names: tuple[str, ...], is_folder: bool) -> bool:
        return (is_folder or not self.folders_only) and _match(self.names, names)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that apply in a folder: its own, and those of the folders around it."""

    levels: tuple[tuple[str, tuple[IgnoreRule, ...]], ...] = ()

    def with_folder(self, root: Path, folder: str) -> IgnoreRules:
        """Return the rules that apply in a folder of the root; `folder` is `""` for the root itself."""
        rules = _read_rules(root / folder / _GITIGNORE)
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
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _MAX_FILE_BYTES:
            return ()
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
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
    return IgnoreRule(names if is_fixed else (_ANY_FOLDERS, *names), folders_only, keeps)


def _match(pattern: tuple[str, ...], names: tuple[str, ...]) -> bool:
    if not pattern:
        return not names
    if pattern[0] == _ANY_FOLDERS:
        rest = pattern[1:]
        if not rest:
            return bool(names)
        starts = range(len(names)) if _ANY_FOLDERS in rest else range(max(0, len(names) - len(rest)), len(names))
        return any(_match(rest, names[at:]) for at in starts)
    return bool(names) and fnmatchcase(names[0], pattern[0]) and _match(pattern[1:], names[1:])
