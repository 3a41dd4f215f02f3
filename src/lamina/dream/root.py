"""One code folder that a person declared: its files and what its manifests list; read once, and never outside it."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from lamina.codebase.ignored import is_ignored
from lamina.codebase.source import SOURCES, suffix_of
from lamina.codebase.tree import BUILT, NEVER, Tree, read_bytes, tree_of
from lamina.dream.lists import Listed, crates, goals, joined, recipes, scripts

MOST_FILES = 50_000
LARGEST = 1 << 20
MOST_BYTES = 64 << 20
"""The most source code that is read from one root."""
_WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]+")
_PACKAGE_WORD = re.compile(r"@?[\w.-]+(?:/[\w.-]+)?")
_MANIFESTS = re.compile(
    r"pyproject\.toml|requirements[\w.-]*\.(?:txt|in)|constraints[\w.-]*\.txt|setup\.(?:py|cfg)|Pipfile"
    r"|environment\.ya?ml|package\.json|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|Gemfile|composer\.json"
    r"|deno\.jsonc?"
)
"""Files that declare a project's dependencies. Lock files list indirect ones and are not read."""
_NPM = re.compile(r"package\.json")
_MAKEFILES = re.compile(r"GNUmakefile|[Mm]akefile|[\w.-]+\.mk")
_JUSTFILES = re.compile(r"\.?justfile|[\w.-]+\.just", re.IGNORECASE)
_CARGO = re.compile(r"Cargo\.(?:toml|lock)")
_MAIN = re.compile(r"(?:.*/)?src/bin/([^/]+?)(?:\.rs|/main\.rs)")


class Root:
    """One declared folder and its contents; expensive properties are computed on first use."""

    def __init__(self, path: Path, most: int = MOST_FILES) -> None:
        self.given = self.path = path
        self._lost = False
        try:
            self.given = Path(os.path.normpath(path.expanduser().absolute()))
            self.path = self.given.resolve()
            self.path.is_dir()
        except (OSError, RuntimeError, ValueError):
            self._lost = True  # unknown home folder, circular links or an invalid name
        self.name = self.given.name or str(self.given)
        self._most = most

    @cached_property
    def problem(self) -> str | None:
        """Return why the folder cannot be checked; None if it can. With a problem, nothing counts as missing."""
        if self._lost or not self.path.is_dir():
            return "is not on this machine"
        if not self._tree.files:
            return "is empty"
        return f"has more than {self._most:,} files" if self._tree.is_cut else None

    @property
    def is_whole(self) -> bool:
        """Return whether everything in the folder could be read."""
        return self.problem is None and not self._tree.unread

    def inside(self, path: str) -> str | None:
        """Return an absolute path relative to the root; None if it is outside."""
        for root in dict.fromkeys((self.given, self.path)):
            if Path(path).is_relative_to(root):
                return Path(path).relative_to(root).as_posix()
        return None

    def has(self, path: str) -> bool:
        return path_key(path) in self._paths or path == "."

    def ends_with(self, path: str) -> bool:
        """Return whether a path in the root ends like this; a name with spaces also matches by its last word."""
        key = path_key(path)
        return any(
            known_path == key or known_path.endswith((f"/{key}", f" {key}"))
            for known_path in self._by_name.get(_last(key), ())
        )

    def tells_nothing(self, path: str) -> bool:
        """Return whether a path's absence proves nothing: generated, ignored, behind a link, or cut at a space."""
        names = path.split("/")
        prefixes = {"/".join(names[:depth]) for depth in range(1, len(names) + 1)}
        return (
            any(name in NEVER or name in BUILT for name in names)
            or bool(prefixes & self._tree.links)
            or any(path == unread or path.startswith(f"{unread}/") or not unread for unread in self._tree.unread)
            or is_ignored(self.path, path)
            or path_key(path) in self._cut_at_spaces
        )

    def files(self, wanted: re.Pattern[str]) -> Iterator[tuple[str, str | None]]:
        """Return files whose name matches, with their text; None for a file that cannot be read."""
        for path in self._tree.files:
            if wanted.fullmatch(_last(path)):
                data = read_bytes(self.path, path, LARGEST)
                yield path, None if data is None else data.decode(errors="replace")

    @cached_property
    def words(self) -> frozenset[str] | None:
        """Return every identifier in the source code; None if there is too much of it."""
        names: set[str] = set()
        bytes_left = MOST_BYTES
        for path in self._tree.files:
            if suffix_of(path) not in SOURCES:
                continue
            data = read_bytes(self.path, path, LARGEST)
            bytes_left -= len(data or b"")
            if bytes_left < 0:
                return None
            names.update(_WORD.findall((data or b"").decode(errors="replace")))
        return frozenset(names)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the names of folders, and of files without extensions."""
        tree = self._tree
        return frozenset([*(_last(file).partition(".")[0] for file in tree.files), *map(_last, tree.folders)])

    @cached_property
    def called(self) -> frozenset[str]:
        """Return every identifier, file stem and the root's name, in lower case."""
        return frozenset(name.lower() for name in (*(self.words or ()), *self.stems, self.name))

    @cached_property
    def scripts(self) -> Listed | None:
        """Return the scripts of every package.json; None if there is none."""
        lists = [scripts(text) for _, text in self.files(_NPM)]
        return joined(lists) if lists else None

    @cached_property
    def targets(self) -> Listed | None:
        """Return the targets of every Makefile; None if there is none. Some are only known to make."""
        lists = [goals(text) for _, text in self.files(_MAKEFILES)]
        return joined(lists) if lists else None

    @cached_property
    def recipes(self) -> Listed | None:
        """Return the recipes of every justfile; None if there is none."""
        lists = [recipes(text) for _, text in self.files(_JUSTFILES)]
        return joined(lists) if lists else None

    @cached_property
    def crates(self) -> Listed | None:
        """Return every crate that cargo knows here, dependencies included; None if there is no Cargo.toml."""
        manifests = [crates(text) for _, text in self.files(_CARGO)]
        return (
            joined([Listed(manifest.names | manifest.needs, manifest.is_all) for manifest in manifests])
            if manifests
            else None
        )

    @cached_property
    def binaries(self) -> Listed | None:
        """Return what cargo can run: declared binaries, those in `src/bin`, and the crates' own names."""
        manifests = [crates(text) for path, text in self.files(_CARGO) if path.endswith(".toml")]
        in_source = frozenset(match[1] for path in self._tree.files if (match := _MAIN.fullmatch(path)))
        return (
            joined([*(Listed(manifest.names, manifest.is_all) for manifest in manifests), Listed(in_source)])
            if manifests
            else None
        )

    @cached_property
    def packages(self) -> Listed | None:
        """Return every name in a manifest; None if there is none."""
        texts = [text for _, text in self.files(_MANIFESTS)]
        names = frozenset(package_key(word) for text in texts for word in _PACKAGE_WORD.findall(text or ""))
        return Listed(names, None not in texts) if texts else None

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(map(path_key, (*self._tree.files, *self._tree.folders)))

    @cached_property
    def _cut_at_spaces(self) -> frozenset[str]:
        """Return every prefix of a path that ends before a space."""
        return frozenset(path[:at] for path in self._paths for at, char in enumerate(path) if char == " ")

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        paths_by_name: dict[str, list[str]] = {}
        for path in self._paths:
            name = _last(path)
            for piece in {name, name.rpartition(" ")[2]}:
                paths_by_name.setdefault(piece, []).append(path)
        return paths_by_name

    @cached_property
    def _tree(self) -> Tree:
        return tree_of(self.path, self._most)


def path_key(path: str) -> str:
    """Return a key that is equal for equal paths: file systems differ in case and in how accents are encoded."""
    return unicodedata.normalize("NFC", path).casefold()


def package_key(name: str) -> str:
    """Return a key that is equal for spellings of one package name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _last(path: str) -> str:
    return path.rpartition("/")[2]
