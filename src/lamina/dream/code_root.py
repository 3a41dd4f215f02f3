"""One code folder that a person declared: its files and what its manifests list; read once, and never outside it."""

from __future__ import annotations

import json
import os
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lamina.codebase.file_tree import BUILD_FOLDERS, SKIPPED_FOLDERS, FileTree, is_ignored, read_bytes, walk_tree
from lamina.codebase.source_reader import SOURCE_SUFFIXES, suffix_of

_RECIPE = re.compile(r"@?([A-Za-z_][\w-]*)(?:\s[^:]*)?:(?!=)")
_ALIAS = re.compile(r"alias\s+([A-Za-z_][\w-]*)\s*:=")
_INCLUDES = re.compile(r"(?:import|mod)\??\s")
_MAX_DOTS = 1000
"""Dots in one line of a manifest."""
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
    # `tomllib` takes quadratic time for a key of many parts.
    if text is None or max((line.count(".") for line in text.splitlines()), default=0) > _MAX_DOTS:
        return CargoNames(is_complete=False)
    try:
        manifest = tomllib.loads(text)
    except (ValueError, RecursionError):
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


MAX_FILES = 50_000
MAX_FILE_BYTES = 1 << 20
MAX_TOTAL_BYTES = 64 << 20
"""The most source code that is read from one root."""
_WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]+")
_PACKAGE_WORD = re.compile(r"@?[\w.-]+(?:/[\w.-]+)?")
_MANIFESTS = re.compile(
    r"pyproject\.toml|requirements[\w.-]*\.(?:txt|in)|constraints[\w.-]*\.txt|setup\.(?:py|cfg)|Pipfile"
    r"|environment\.ya?ml|package\.json|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|Gemfile|composer\.json"
    r"|deno\.jsonc?"
)
"""Files that declare a project's dependencies. Lock files list indirect ones and are not read."""
_NPM_MANIFESTS = re.compile(r"package\.json")
_MAKEFILES = re.compile(r"GNUmakefile|[Mm]akefile|[\w.-]+\.mk")
_JUSTFILES = re.compile(r"\.?justfile|[\w.-]+\.just", re.IGNORECASE)
_CARGO_FILES, _CARGO_MANIFESTS = re.compile(r"Cargo\.(?:toml|lock)"), re.compile(r"Cargo\.toml")
_BINARY_SOURCE = re.compile(r"(?:.*/)?src/bin/([^/]+?)(?:\.rs|/main\.rs)")


class CodeRoot:
    """One declared folder and its contents; expensive properties are computed on first use."""

    def __init__(self, path: Path, max_files: int = MAX_FILES) -> None:
        self.declared_path = self.path = path
        self._is_missing = False
        try:
            self.declared_path = Path(os.path.normpath(path.expanduser().absolute()))
            self.path = self.declared_path.resolve()
            self.path.is_dir()
        except (OSError, RuntimeError, ValueError):
            self._is_missing = True  # unknown home folder, circular links or an invalid name
        self.name = self.declared_path.name or str(self.declared_path)
        self._max_files = max_files

    @cached_property
    def problem(self) -> str | None:
        """Return why the folder cannot be checked; None if it can. With a problem, nothing counts as missing."""
        if self._is_missing or not self.path.is_dir():
            return "is not on this machine"
        if not self._tree.files:
            return "is empty"
        return f"has more than {self._max_files:,} files" if self._tree.is_truncated else None

    @property
    def is_fully_readable(self) -> bool:
        """Return whether everything in the folder could be read."""
        return self.problem is None and not self._tree.unreadable

    def relative_path(self, path: str) -> str | None:
        """Return an absolute path relative to the root; None if it is outside."""
        for root in dict.fromkeys((self.declared_path, self.path)):
            if Path(path).is_relative_to(root):
                return Path(path).relative_to(root).as_posix()
        return None

    def has_path(self, path: str) -> bool:
        return path_key(path) in self._paths or path == "."

    def has_path_ending(self, path: str) -> bool:
        """Return whether a path in the root ends like this; a name with spaces also matches by its last word."""
        key = path_key(path)
        return any(
            known_path == key or known_path.endswith((f"/{key}", f" {key}"))
            for known_path in self._by_name.get(_base_name(key), ())
        )

    def is_inconclusive(self, path: str) -> bool:
        """Return whether a path's absence proves nothing: generated, ignored, behind a link, or cut at a space."""
        names = path.split("/")
        prefixes = {"/".join(names[:depth]) for depth in range(1, len(names) + 1)}
        return (
            any(name in SKIPPED_FOLDERS or name in BUILD_FOLDERS for name in names)
            or bool(prefixes & self._tree.links)
            or any(path == unread or path.startswith(f"{unread}/") or not unread for unread in self._tree.unreadable)
            or is_ignored(self.path, path)
            or path_key(path) in self._space_prefixes
        )

    def read_matching(self, pattern: re.Pattern[str]) -> Iterator[tuple[str, str | None]]:
        """Return files whose name matches, with their text; None for a file that cannot be read."""
        for path in self._tree.files:
            if pattern.fullmatch(_base_name(path)):
                data = read_bytes(self.path, path, MAX_FILE_BYTES)
                yield path, None if data is None else data.decode(errors="replace")

    @cached_property
    def identifiers(self) -> frozenset[str] | None:
        """Return every identifier in the source code; None if there is too much of it."""
        names: set[str] = set()
        bytes_left = MAX_TOTAL_BYTES
        for path in self._tree.files:
            if suffix_of(path) not in SOURCE_SUFFIXES:
                continue
            data = read_bytes(self.path, path, MAX_FILE_BYTES)
            bytes_left -= len(data or b"")
            if bytes_left < 0:
                return None
            names.update(_WORD.findall((data or b"").decode(errors="replace")))
        return frozenset(names)

    @cached_property
    def file_stems(self) -> frozenset[str]:
        """Return the names of folders, and of files without extensions."""
        tree = self._tree
        return frozenset([*(_base_name(file).partition(".")[0] for file in tree.files), *map(_base_name, tree.folders)])

    @cached_property
    def lowercase_names(self) -> frozenset[str]:
        """Return every identifier, file stem and the root's name, in lower case."""
        return frozenset(name.lower() for name in (*(self.identifiers or ()), *self.file_stems, self.name))

    @cached_property
    def scripts(self) -> NameList | None:
        """Return the scripts of every package.json; None if there is none."""
        return self._join_lists(_NPM_MANIFESTS, npm_scripts)

    @cached_property
    def targets(self) -> NameList | None:
        """Return the targets of every Makefile; None if there is none. Some are only known to make."""
        return self._join_lists(_MAKEFILES, make_targets)

    @cached_property
    def recipes(self) -> NameList | None:
        """Return the recipes of every justfile; None if there is none."""
        return self._join_lists(_JUSTFILES, just_recipes)

    @cached_property
    def crates(self) -> NameList | None:
        """Return every crate that cargo knows here, dependencies included; None if there is no Cargo.toml."""
        return self._join_lists(_CARGO_FILES, lambda text: cargo_names(text).all_names)

    @cached_property
    def binaries(self) -> NameList | None:
        """Return what cargo can run: declared binaries, those in `src/bin`, and the crates' own names."""
        declared = self._join_lists(_CARGO_MANIFESTS, lambda text: cargo_names(text).own_names)
        in_source = frozenset(match[1] for path in self._tree.files if (match := _BINARY_SOURCE.fullmatch(path)))
        return None if declared is None else join_lists([declared, NameList(in_source)])

    def _join_lists(self, pattern: re.Pattern[str], parse: Callable[[str | None], NameList]) -> NameList | None:
        """Return what all files with such names list; None if there is no such file."""
        lists = [parse(text) for _, text in self.read_matching(pattern)]
        return join_lists(lists) if lists else None

    @cached_property
    def packages(self) -> NameList | None:
        """Return every name in a manifest; None if there is none."""
        texts = [text for _, text in self.read_matching(_MANIFESTS)]
        names = frozenset(package_key(word) for text in texts for word in _PACKAGE_WORD.findall(text or ""))
        return NameList(names, None not in texts) if texts else None

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(map(path_key, (*self._tree.files, *self._tree.folders)))

    @cached_property
    def _space_prefixes(self) -> frozenset[str]:
        """Return every prefix of a path that ends before a space."""
        return frozenset(path[:at] for path in self._paths for at, char in enumerate(path) if char == " ")

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        paths_by_name: dict[str, list[str]] = {}
        for path in self._paths:
            name = _base_name(path)
            for piece in {name, name.rpartition(" ")[2]}:
                paths_by_name.setdefault(piece, []).append(path)
        return paths_by_name

    @cached_property
    def _tree(self) -> FileTree:
        return walk_tree(self.path, self._max_files)


def path_key(path: str) -> str:
    """Return a key that is equal for equal paths: file systems differ in case and in how accents are encoded."""
    return unicodedata.normalize("NFC", path).casefold()


def package_key(name: str) -> str:
    """Return a key that is equal for spellings of one package name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _base_name(path: str) -> str:
    return path.rpartition("/")[2]
