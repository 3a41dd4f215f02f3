"""All code folders of a scope: whether what a statement refers to exists, is missing, or is unknown."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from lamina.dream.code_references import CodeReference, ReferenceType
from lamina.dream.code_root import MAX_FILES, CodeRoot, NameList, package_key, path_key


class Presence(StrEnum):
    """The presence of a thing; `UNKNOWN` if its absence would prove nothing."""

    PRESENT = "there"
    MISSING = "gone"
    UNKNOWN = "unknown"


_LISTS: Mapping[ReferenceType, Callable[[CodeRoot], NameList | None]] = {
    ReferenceType.SCRIPT: lambda root: root.scripts,
    ReferenceType.RECIPE: lambda root: root.recipes,
    ReferenceType.CRATE: lambda root: root.crates,
    ReferenceType.BINARY: lambda root: root.binaries,
}


class CodeRoots:
    """All declared folders of a scope. A thing is missing if none has it and all of them could be read."""

    def __init__(self, roots: Sequence[Path], max_files: int = MAX_FILES) -> None:
        self.roots = tuple(CodeRoot(path, max_files) for path in dict.fromkeys(roots))
        self._cache: dict[CodeReference, Presence] = {}

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
            if not root.problem and not root.is_fully_readable
        ]
        return tuple(lines)

    def presence_of(self, reference: CodeReference) -> Presence:
        """Return whether a thing exists."""
        if reference not in self._cache:
            self._cache[reference] = self._find(reference)
        return self._cache[reference]

    def has_top_folder(self, path: str) -> bool:
        """Return whether the first folder of a path exists anywhere in the roots."""
        first = path_key(path).partition("/")[0]
        return any(path_key(root.name) == first or root.has_path_ending(first) for root in self.roots)

    def _find(self, reference: CodeReference) -> Presence:
        if reference.type is ReferenceType.ABSOLUTE:
            return self._find_absolute(reference.name)
        if not self.roots or not all(root.is_fully_readable for root in self.roots):
            return Presence.UNKNOWN
        match reference.type:
            case ReferenceType.RELATIVE | ReferenceType.FILE_NAME:
                return self._find_relative(reference.name)
            case ReferenceType.DEFINITION:
                return self._find_definition(reference)
            case ReferenceType.SCRIPT | ReferenceType.RECIPE | ReferenceType.CRATE | ReferenceType.BINARY:
                return self._find_listed(reference.name, _LISTS[reference.type])
            case ReferenceType.TARGET:
                is_file = any(root.has_path(reference.name) for root in self.roots)
                return Presence.PRESENT if is_file else self._find_listed(reference.name, lambda root: root.targets)
            case ReferenceType.MODULE:
                return self._find_module(reference.name)
            case ReferenceType.PACKAGE:
                return self._find_package(reference.name)
        assert_never(reference.type)

    def _find_absolute(self, name: str) -> Presence:
        try:
            path = os.path.normpath(Path(name).expanduser())
        except RuntimeError:  # the home folder of that user is unknown
            return Presence.UNKNOWN
        for root in self.roots:
            inner = root.relative_path(path)
            if inner is None:
                continue
            if root.problem or inner == ".":
                return Presence.UNKNOWN
            if root.has_path(inner):
                return Presence.PRESENT
            return Presence.UNKNOWN if root.is_inconclusive(inner) else Presence.MISSING
        return Presence.UNKNOWN

    def _find_relative(self, path: str) -> Presence:
        without_root = [path.removeprefix(f"{root.name}/") for root in self.roots]
        if any(
            root.has_path_ending(path) or root.has_path(inner)
            for root, inner in zip(self.roots, without_root, strict=True)
        ):
            return Presence.PRESENT
        return Presence.UNKNOWN if any(root.is_inconclusive(path) for root in self.roots) else Presence.MISSING

    def _find_definition(self, reference: CodeReference) -> Presence:
        identifiers = [root.identifiers for root in self.roots]
        defined = frozenset().union(*(names for names in identifiers if names is not None))
        if reference.name in defined:
            return Presence.PRESENT
        # Code outside the roots, or too large to read, may define it.
        foreign = (
            reference.owner
            and reference.owner not in defined
            and not any(reference.owner in root.file_stems for root in self.roots)
        )
        return Presence.UNKNOWN if foreign or None in identifiers or not defined else Presence.MISSING

    def _find_listed(self, name: str, read_list: Callable[[CodeRoot], NameList | None]) -> Presence:
        """Search a name in the lists of all roots; UNKNOWN if no root has such a list."""
        name_lists = [name_list for root in self.roots if (name_list := read_list(root)) is not None]
        if any(name in name_list.names for name_list in name_lists):
            return Presence.PRESENT
        is_complete = bool(name_lists) and all(name_list.is_complete for name_list in name_lists)
        return Presence.MISSING if is_complete else Presence.UNKNOWN

    def _find_module(self, name: str) -> Presence:
        path = name.replace(".", "/")
        if self._has_any(f"{path}.py", f"{path}/__main__.py"):
            return Presence.PRESENT
        head = path.partition("/")[0]
        is_local = self._has_any(f"{head}/__init__.py", f"{head}.py")
        return Presence.MISSING if is_local and "/" in path else Presence.UNKNOWN

    def _has_any(self, *endings: str) -> bool:
        return any(root.has_path_ending(ending) for root in self.roots for ending in endings)

    def _find_package(self, name: str) -> Presence:
        form = package_key(name)
        forms = {form, form.replace("-", "_"), form.removesuffix("-js").removesuffix(".js")}
        if any(forms & root.lowercase_names for root in self.roots):
            return Presence.PRESENT
        if any(root.identifiers is None for root in self.roots):
            return Presence.UNKNOWN
        return self._find_listed(form, lambda root: root.packages)
