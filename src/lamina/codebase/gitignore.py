"""Match the simple cases of .gitignore, name by name, so that no pattern is slow."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fnmatch import translate
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
    patterns = (None if name == _ANY_FOLDERS else re.compile(translate(name)) for name in names)
    return IgnoreRule(tuple(patterns) if is_fixed else (None, *patterns), folders_only, keeps)


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
