"""Parses files in which a project lists what it runs or depends on: scripts, targets, recipes, crates."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_RECIPE = re.compile(r"@?([A-Za-z_][\w-]*)(?:\s[^:]*)?:(?!=)")
_ALIAS = re.compile(r"alias\s+([A-Za-z_][\w-]*)\s*:=")
_INCLUDES = re.compile(r"(?:import|mod)\??\s")
_DEPENDENCY_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


@dataclass(frozen=True, slots=True)
class NameList:
    """Names that a root lists. `is_complete`: a name that is not among them is not listed."""

    names: frozenset[str]
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class CargoNames:
    """The names in a Cargo.toml or Cargo.lock: its own crates and binaries, and its dependencies."""

    names: frozenset[str] = frozenset()
    dependencies: frozenset[str] = frozenset()
    is_complete: bool = True

    @property
    def own_names(self) -> NameList:
        """Return the crates and binaries of the project itself."""
        return NameList(self.names, self.is_complete)

    @property
    def all_names(self) -> NameList:
        """Return the project's own names and its dependencies."""
        return NameList(self.names | self.dependencies, self.is_complete)


def join_lists(lists: Sequence[NameList]) -> NameList:
    """Join lists; the result is complete if all of them are."""
    return NameList(frozenset().union(*(listed.names for listed in lists)), all(listed.is_complete for listed in lists))


def npm_scripts(text: str | None) -> NameList:
    """Return the scripts of a package.json."""
    try:
        manifest = json.loads(text or "")
    except (ValueError, RecursionError):
        return NameList(frozenset(), is_complete=False)
    scripts_table = manifest.get("scripts") if isinstance(manifest, dict) else None
    return NameList(frozenset(scripts_table) if isinstance(scripts_table, dict) else frozenset())


def make_targets(text: str | None) -> NameList:
    """Return the targets of a Makefile; incomplete if it includes others, or has pattern or variable targets."""
    names: set[str] = set()
    is_all = text is not None
    for line in (text or "").replace("\\\n", " ").splitlines():
        if line.startswith(("\t", " ", "#")):
            continue
        head, colon, rest = line.partition(":")
        is_all = is_all and line.split(" ")[0] not in ("include", "-include", "sinclude")
        if colon and "=" not in head and not rest.startswith(("=", ":=", "::=")):
            is_all = is_all and not ("%" in head or "$" in head)
            names.update(head.split())
    return NameList(frozenset(names), is_all)


def just_recipes(text: str | None) -> NameList:
    """Return the recipes and aliases of a justfile; incomplete if it imports others."""
    lines = (text or "").splitlines()
    matches = (_RECIPE.match(line) or _ALIAS.match(line) for line in lines)
    is_all = text is not None and not any(map(_INCLUDES.match, lines))
    return NameList(frozenset(match[1] for match in matches if match), is_all)


def cargo_names(text: str | None) -> CargoNames:
    """Return what a manifest or lock file of cargo names."""
    try:
        manifest = tomllib.loads(text or "")
    except (ValueError, RecursionError):
        return CargoNames(is_complete=False)
    if text is None:
        return CargoNames(is_complete=False)
    package = manifest.get("package")
    if isinstance(package, list):  # a lock file
        return CargoNames(dependencies=frozenset(_table_names(package)))
    names = [*_table_names([package]), *_table_names(manifest.get("bin"))]
    return CargoNames(frozenset(names), frozenset(_dependencies(manifest)))


def _table_names(tables: object) -> Iterator[str]:
    for table in tables if isinstance(tables, list) else ():
        if isinstance(table, dict) and isinstance(table.get("name"), str):
            yield table["name"]


def _dependencies(manifest: dict[str, object]) -> Iterator[str]:
    workspace, target = manifest.get("workspace"), manifest.get("target")
    targets = target.values() if isinstance(target, dict) else ()
    for table in (manifest, workspace, *targets):
        for name in _DEPENDENCY_TABLES if isinstance(table, dict) else ():
            dependencies = table.get(name) if isinstance(table, dict) else None
            yield from dependencies if isinstance(dependencies, dict) else ()
