"""All the code there is to be seen for a scope: whether what somebody names is there, is gone, or cannot be told."""

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
    """What became of a thing: `UNKNOWN` where its absence would prove nothing."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "unknown"


class Ground:
    """All the declared folders of a scope. A thing is gone when it is in none of them, and all could be looked at."""

    def __init__(self, roots: Sequence[Path], most: int = MOST_FILES) -> None:
        self.roots = tuple(Root(fromkey, most) for fromkey in dict.fromkeys(roots))
        self._seen: dict[Named, Sight] = {}

    @property
    def name(self) -> str:
        return ", ".join(root.name for root in self.roots)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which folders could not be looked at, and why."""
        told = [f"{root.name} {root.problem}: nothing is checked there" for root in self.roots if root.problem]
        told += [
            f"{root.name} has folders that may not be read: only whole paths are checked"
            for root in self.roots
            if not root.problem and not root.is_whole
        ]
        return tuple(told)

    def sight(self, named: Named) -> Sight:
        """Whether a thing is there."""
        if named not in self._seen:
            self._seen[named] = self._look(named)
        return self._seen[named]

    def has_folder_of(self, path: str) -> bool:
        """Whether the folder a path begins with is anywhere in the roots."""
        first = path_key(path).partition("/")[0]
        return any(path_key(root.name) == first or root.ends_with(first) for root in self.roots)

    def _look(self, named: Named) -> Sight:
        if named.sort is Sort.ABSOLUTE:
            return self._absolute(named.name)
        if not self.roots or not all(each.is_whole for each in self.roots):
            return Sight.UNKNOWN
        match named.sort:
            case Sort.RELATIVE | Sort.FILE_NAME:
                return self._relative(named.name)
            case Sort.DEFINITION:
                return self._definition(named)
            case Sort.SCRIPT:
                return self._listed(named.name, lambda root: root.scripts)
            case Sort.TARGET:
                made = any(each.has(named.name) for each in self.roots)
                return Sight.THERE if made else self._listed(named.name, lambda root: root.targets)
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
        except RuntimeError:  # nobody's home
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
        if any(root.ends_with(path) or root.has(own) for root, own in zip(self.roots, without_root, strict=True)):
            return Sight.THERE
        return Sight.UNKNOWN if any(root.tells_nothing(path) for root in self.roots) else Sight.GONE

    def _definition(self, named: Named) -> Sight:
        words = [root.words for root in self.roots]
        known = frozenset().union(*(word for word in words if word is not None))
        if named.name in known:
            return Sight.THERE
        # Code that is not here, or is too much to be read, may have it.
        foreign = named.owner and named.owner not in known and not any(named.owner in root.stems for root in self.roots)
        return Sight.UNKNOWN if foreign or None in words or not known else Sight.GONE

    def _listed(self, name: str, listed: Callable[[Root], Listed | None]) -> Sight:
        """Whether a name is in one of the lists; where no root has a list, nobody can tell."""
        found = [own for root in self.roots if (own := listed(root)) is not None]
        if any(name in each.names for each in found):
            return Sight.THERE
        return Sight.GONE if found and all(each.is_all for each in found) else Sight.UNKNOWN

    def _module(self, name: str) -> Sight:
        path = name.replace(".", "/")
        if any(root.ends_with(f"{path}{ending}") for root in self.roots for ending in (".py", "/__main__.py")):
            return Sight.THERE
        head = path.partition("/")[0]
        is_own = any(root.ends_with(f"{head}{each}") for root in self.roots for each in ("/__init__.py", ".py"))
        return Sight.GONE if is_own and "/" in path else Sight.UNKNOWN

    def _package(self, name: str) -> Sight:
        form = package_key(name)
        forms = {form, form.replace("-", "_"), form.removesuffix("-js").removesuffix(".js")}
        if any(forms & root.called for root in self.roots):
            return Sight.THERE
        if any(root.words is None for root in self.roots):
            return Sight.UNKNOWN
        return self._listed(form, lambda root: root.packages)
