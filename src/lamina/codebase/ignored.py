"""Match the simple cases of .gitignore, name by name, so that no pattern is slow."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

_FILE = ".gitignore"
_LARGEST = 64 * 1024
_MOST_RULES = 1000
_MOST_STARS = 8
_ANY = "**"


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a .gitignore: names from a folder downwards; `is_negated` includes again what
    earlier lines exclude.
    """

    names: tuple[str, ...]
    folders_only: bool
    keeps: bool

    def matches(self, names: tuple[str, ...], is_folder: bool) -> bool:
        return (is_folder or not self.folders_only) and _match(self.names, names)


@dataclass(frozen=True, slots=True)
class Ignored:
    """The rules that apply in a folder: its own, and those of the folders around it."""

    levels: tuple[tuple[str, tuple[Rule, ...]], ...] = ()

    def inside(self, root: Path, folder: str) -> Ignored:
        """Return the rules that apply in a folder of the root; `folder` is `""` for the root itself."""
        rules = _rules(root / folder / _FILE)
        return Ignored((*self.levels, (f"{folder}/" if folder else "", rules))) if rules else self

    def covers(self, path: str, is_folder: bool) -> bool:
        """Return whether a path under the root is ignored; the last line that matches decides."""
        is_left_out = False
        for folder, rules in self.levels:
            names = tuple(path.removeprefix(folder).split("/"))
            for rule in rules:
                if rule.keeps is is_left_out and rule.matches(names, is_folder):
                    is_left_out = not rule.keeps
        return is_left_out


def is_ignored(root: Path, path: str) -> bool:
    """Return whether a project ignores a path, or a folder that contains it."""
    names, ignored = path.split("/"), Ignored().inside(root, "")
    for depth in range(1, len(names) + 1):
        prefix = "/".join(names[:depth])
        if ignored.covers(prefix, depth < len(names)):
            return True
        if _is_link(root / prefix):
            return False
        ignored = ignored.inside(root, prefix)
    return False


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except (OSError, ValueError):
        return False  # no file can have such a name


def _rules(file: Path) -> tuple[Rule, ...]:
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST:
            return ()
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return ()
    return tuple(rule for line in lines[:_MOST_RULES] if (rule := _rule(line.rstrip())) is not None)


def _rule(line: str) -> Rule | None:
    if not line or line.startswith("#") or "\\" in line:
        return None
    keeps, pattern = line.startswith("!"), line.removeprefix("!")
    folders_only, pattern = pattern.endswith("/"), pattern.rstrip("/")
    is_fixed = "/" in pattern
    names = tuple(os.path.normpath(pattern).strip("/").split("/"))
    if not pattern or ".." in names or pattern.count("*") > _MOST_STARS:
        return None
    return Rule(names if is_fixed else (_ANY, *names), folders_only, keeps)


def _match(pattern: tuple[str, ...], names: tuple[str, ...]) -> bool:
    if not pattern:
        return not names
    if pattern[0] == _ANY:
        rest = pattern[1:]
        if not rest:
            return bool(names)
        starts = range(len(names)) if _ANY in rest else range(max(0, len(names) - len(rest)), len(names))
        return any(_match(rest, names[at:]) for at in starts)
    return bool(names) and fnmatchcase(names[0], pattern[0]) and _match(pattern[1:], names[1:])
