"""Files in which a project lists what can be run or is needed: scripts, targets, recipes, crates."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_RECIPE = re.compile(r"@?([A-Za-z_][\w-]*)(?:\s[^:]*)?:(?!=)")
_ALIAS = re.compile(r"alias\s+([A-Za-z_][\w-]*)\s*:=")
_TAKES_IN = re.compile(r"(?:import|mod)\??\s")
_NEEDS = ("dependencies", "dev-dependencies", "build-dependencies")


@dataclass(frozen=True, slots=True)
class Listed:
    """Names that a root lists somewhere. `is_all`: what is not among them is not listed."""

    names: frozenset[str]
    is_all: bool = True


@dataclass(frozen=True, slots=True)
class Crates:
    """What a Cargo.toml or Cargo.lock names: crates and binaries of its own, and crates that are needed."""

    names: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    is_all: bool = True


def joined(lists: Sequence[Listed]) -> Listed:
    """Several lists as one; it is whole where all of them are."""
    return Listed(frozenset().union(*(listed.names for listed in lists)), all(listed.is_all for listed in lists))


def scripts(text: str | None) -> Listed:
    """The scripts of a package.json."""
    try:
        told = json.loads(text or "")
    except (ValueError, RecursionError):
        return Listed(frozenset(), is_all=False)
    own = told.get("scripts") if isinstance(told, dict) else None
    return Listed(frozenset(own) if isinstance(own, dict) else frozenset())


def goals(text: str | None) -> Listed:
    """The targets of a Makefile; not all of them where it takes in others, or has patterns and variables for names."""
    found: set[str] = set()
    is_all = text is not None
    for line in (text or "").replace("\\\n", " ").splitlines():
        if line.startswith(("\t", " ", "#")):
            continue
        head, colon, rest = line.partition(":")
        is_all = is_all and line.split(" ")[0] not in ("include", "-include", "sinclude")
        if colon and "=" not in head and not rest.startswith(("=", ":=", "::=")):
            is_all = is_all and not ("%" in head or "$" in head)
            found.update(head.split())
    return Listed(frozenset(found), is_all)


def recipes(text: str | None) -> Listed:
    """The recipes and aliases of a justfile; not all of them where it takes in others."""
    lines = (text or "").splitlines()
    named = (_RECIPE.match(line) or _ALIAS.match(line) for line in lines)
    is_all = text is not None and not any(map(_TAKES_IN.match, lines))
    return Listed(frozenset(each[1] for each in named if each), is_all)


def crates(text: str | None) -> Crates:
    """What a manifest or a lock file of cargo names."""
    try:
        told = tomllib.loads(text or "")
    except (ValueError, RecursionError):
        return Crates(is_all=False)
    if text is None:
        return Crates(is_all=False)
    package = told.get("package")
    if isinstance(package, list):  # a lock file
        return Crates(needs=frozenset(_names(package)))
    own = [*_names([package]), *_names(told.get("bin"))]
    return Crates(frozenset(own), frozenset(_needed(told)))


def _names(tables: object) -> Iterator[str]:
    for each in tables if isinstance(tables, list) else ():
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            yield each["name"]


def _needed(manifest: dict[str, object]) -> Iterator[str]:
    workspace, target = manifest.get("workspace"), manifest.get("target")
    targets = target.values() if isinstance(target, dict) else ()
    for table in (manifest, workspace, *targets):
        for name in _NEEDS if isinstance(table, dict) else ():
            needed = table.get(name) if isinstance(table, dict) else None
            yield from needed if isinstance(needed, dict) else ()
