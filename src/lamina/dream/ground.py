"""All code folders of a scope: whether what a statement refers to exists, is missing, or is unknown."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from lamina.dream.claims_of_code import Named, Sort
from lamina.dream.lists import Listed
from lamina.dream.root import MOST_FILES, Root, package_key, path_key


class Sight(StrEnum):
    """Whether a thing exists; `UNKNOWN` if its absence would prove nothing."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "unknown"


class Ground:
    """All declared folders of a scope. A thing is missing if none has it and all of them could be read."""

    def __init__(self, roots: Sequence[Path], most: int = MOST_FILES) -> None:
        self.roots = tuple(Root(path, most) for path in dict.fromkeys(roots))
        self._seen: dict[Named, Sight] = {}

    @property
    def name(self) -> str:
        return ", ".join(root.name for root in self.roots)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a note for each folder that could not be read, with the reason."""
        lines = [f"{root.name} {root.problem}: it is not checked" for root in self.roots if root.problem]
        lines += [
            f"{root.name} has folders that cannot be read: only absolute paths are checked"
            for root in self.roots
            if not root.problem and not root.is_whole
        ]
        return tuple(lines)

    def sight(self, named: Named) -> Sight:
        """Return whether a thing exists."""
        if named not in self._seen:
            self._seen[named] = self._look(named)
        return self._seen[named]

    def has_folder_of(self, path: str) -> bool:
        """Return whether the first folder of a path exists anywhere in the roots."""
        first = path_key(path).partition("/")[0]
        return any(path_key(root.name) == first or root.ends_with(first) for root in self.roots)

    def _look(self, named: Named) -> Sight:
        if named.sort is Sort.ABSOLUTE:
            return self._absolute(named.name)
        if not self.roots or not all(root.is_whole for root in self.roots):
            return Sight.UNKNOWN
        match named.sort:
            case Sort.RELATIVE | Sort.FILE_NAME:
                return self._relative(named.name)
            case Sort.DEFINITION:
                return self._definition(named)
            case Sort.SCRIPT:
                return self._listed(named.name, lambda root: root.scripts)
            case Sort.TARGET:
                is_file = any(root.has(named.name) for root in self.roots)
                return Sight.THERE if is_file else self._listed(named.name, lambda root: root.targets)
            case Sort.RECIPE:
                return self._listed(named.name, lambda root: root.recipes)
            case Sort.CRATE:
                return self._listed(named.name, lambda root: root.crates)
            case Sort.BINARY:
                return self._listed(named.name, lambda root: root.binaries)
            case Sort.MODULE:
                return self._module(named.name)
            case Sort.PACKAGE:
                return self._package(named.name)
        assert_never(named.sort)

    def _absolute(self, told: str) -> Sight:
        try:
            path = os.path.normpath(Path(told).expanduser())
        except RuntimeError:  # the home folder of that user is unknown
            return Sight.UNKNOWN
        for root in self.roots:
            inner = root.inside(path)
            if inner is None:
                continue
            if root.problem or inner == ".":
                return Sight.UNKNOWN
            if root.has(inner):
                return Sight.THERE
            return Sight.UNKNOWN if root.tells_nothing(inner) else Sight.GONE
        return Sight.UNKNOWN

    def _relative(self, path: str) -> Sight:
        without_root = [path.removeprefix(f"{root.name}/") for root in self.roots]
        if any(root.ends_with(path) or root.has(inner) for root, inner in zip(self.roots, without_root, strict=True)):
            return Sight.THERE
        return Sight.UNKNOWN if any(root.tells_nothing(path) for root in self.roots) else Sight.GONE

    def _definition(self, named: Named) -> Sight:
        identifiers = [root.words for root in self.roots]
        defined = frozenset().union(*(names for names in identifiers if names is not None))
        if named.name in defined:
            return Sight.THERE
        # Code outside the roots, or too large to read, may define it.
        foreign = (
            named.owner and named.owner not in defined and not any(named.owner in root.stems for root in self.roots)
        )
        return Sight.UNKNOWN if foreign or None in identifiers or not defined else Sight.GONE

    def _listed(self, name: str, listed: Callable[[Root], Listed | None]) -> Sight:
        """Search a name in the lists of all roots; UNKNOWN if no root has such a list."""
        name_lists = [name_list for root in self.roots if (name_list := listed(root)) is not None]
        if any(name in name_list.names for name_list in name_lists):
            return Sight.THERE
        return Sight.GONE if name_lists and all(name_list.is_all for name_list in name_lists) else Sight.UNKNOWN

    def _module(self, name: str) -> Sight:
        path = name.replace(".", "/")
        if any(root.ends_with(f"{path}{ending}") for root in self.roots for ending in (".py", "/__main__.py")):
            return Sight.THERE
        head = path.partition("/")[0]
        is_local = any(root.ends_with(f"{head}{ending}") for root in self.roots for ending in ("/__init__.py", ".py"))
        return Sight.GONE if is_local and "/" in path else Sight.UNKNOWN

    def _package(self, name: str) -> Sight:
        form = package_key(name)
        forms = {form, form.replace("-", "_"), form.removesuffix("-js").removesuffix(".js")}
        if any(forms & root.called for root in self.roots):
            return Sight.THERE
        if any(root.words is None for root in self.roots):
            return Sight.UNKNOWN
        return self._listed(form, lambda root: root.packages)
