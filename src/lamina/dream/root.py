"""One folder a person declared: what lies in it and what its files list; read once, and never outside it."""

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
"""So much source is read of one root."""
_WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]+")
_PACKAGE_WORD = re.compile(r"@?[\w.-]+(?:/[\w.-]+)?")
_MANIFESTS = re.compile(
    r"pyproject\.toml|requirements[\w.-]*\.(?:txt|in)|constraints[\w.-]*\.txt|setup\.(?:py|cfg)|Pipfile"
    r"|environment\.ya?ml|package\.json|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|Gemfile|composer\.json"
    r"|deno\.jsonc?"
)
"""Where a project says what it needs. Lock files say what that needs in turn."""
_NPM = re.compile(r"package\.json")
_MAKEFILES = re.compile(r"GNUmakefile|[Mm]akefile|[\w.-]+\.mk")
_JUSTFILES = re.compile(r"\.?justfile|[\w.-]+\.just", re.IGNORECASE)
_CARGO = re.compile(r"Cargo\.(?:toml|lock)")
_MAIN = re.compile(r"(?:.*/)?src/bin/([^/]+?)(?:\.rs|/main\.rs)")


class Root:
    """One declared folder, with what lies in it. What is expensive to know is looked up when somebody asks."""

    def __init__(self, path: Path, most: int = MOST_FILES) -> None:
        self.given = self.path = path
        self._lost = False
        try:
            self.given = Path(os.path.normpath(path.expanduser().absolute()))
            self.path = self.given.resolve()
            self.path.is_dir()
        except (OSError, RuntimeError, ValueError):
            self._lost = True  # nobody's home, links in a circle, a name no file can have
        self.name = self.given.name or str(self.given)
        self._most = most

    @cached_property
    def problem(self) -> str | None:
        """Why nothing can be told of it: then nothing is missing in it either."""
        if self._lost or not self.path.is_dir():
            return "is not on this machine"
        if not self._tree.files:
            return "is empty"
        return f"has more than {self._most:,} files" if self._tree.is_cut else None

    @property
    def is_whole(self) -> bool:
        """Whether everything in it could be looked at."""
        return self.problem is None and not self._tree.unread

    def inside(self, path: str) -> str | None:
        """A path of this machine as one from the root; None where it lies outside."""
        for root in dict.fromkeys((self.given, self.path)):
            if Path(path).is_relative_to(root):
                return Path(path).relative_to(root).as_posix()
        return None

    def has(self, path: str) -> bool:
        return path_key(path) in self._paths or path == "."

    def ends_with(self, path: str) -> bool:
        """Whether a path of the root ends as told, a name with spaces in it cut or not."""
        told = path_key(path)
        return any(
            each == told or each.endswith((f"/{told}", f" {told}")) for each in self._by_name.get(_last(told), ())
        )

    def tells_nothing(self, path: str) -> bool:
        """Whether the absence of a path proves nothing: it may be made, left out, behind a link, or cut at a space."""
        names = path.split("/")
        around = {"/".join(names[:depth]) for depth in range(1, len(names) + 1)}
        return (
            any(name in NEVER or name in BUILT for name in names)
            or bool(around & self._tree.links)
            or any(path == each or path.startswith(f"{each}/") or not each for each in self._tree.unread)
            or is_ignored(self.path, path)
            or path_key(path) in self._cut_at_spaces
        )

    def files(self, wanted: re.Pattern[str]) -> Iterator[tuple[str, str | None]]:
        """Files by their name, with their text; None where that cannot be read."""
        for path in self._tree.files:
            if wanted.fullmatch(_last(path)):
                data = read_bytes(self.path, path, LARGEST)
                yield path, None if data is None else data.decode(errors="replace")

    @cached_property
    def words(self) -> frozenset[str] | None:
        """Every name in its code: what it defines, and what it takes from elsewhere. None where there is too much."""
        found: set[str] = set()
        left = MOST_BYTES
        for path in self._tree.files:
            if suffix_of(path) not in SOURCES:
                continue
            data = read_bytes(self.path, path, LARGEST)
            left -= len(data or b"")
            if left < 0:
                return None
            found.update(_WORD.findall((data or b"").decode(errors="replace")))
        return frozenset(found)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The names of its folders, and of its files without what they end with."""
        tree = self._tree
        return frozenset([*(_last(file).partition(".")[0] for file in tree.files), *map(_last, tree.folders)])

    @cached_property
    def called(self) -> frozenset[str]:
        """Whatever goes by a name in it, its own included, in small letters."""
        return frozenset(each.lower() for each in (*(self.words or ()), *self.stems, self.name))

    @cached_property
    def scripts(self) -> Listed | None:
        """The scripts of every package.json; None where there is none."""
        found = [scripts(text) for _, text in self.files(_NPM)]
        return joined(found) if found else None

    @cached_property
    def targets(self) -> Listed | None:
        """The targets of every Makefile; None where there is none. Some are worked out by make alone."""
        found = [goals(text) for _, text in self.files(_MAKEFILES)]
        return joined(found) if found else None

    @cached_property
    def recipes(self) -> Listed | None:
        """The recipes of every justfile; None where there is none."""
        found = [recipes(text) for _, text in self.files(_JUSTFILES)]
        return joined(found) if found else None

    @cached_property
    def crates(self) -> Listed | None:
        """Every crate that cargo knows here, its own and those they need; None where there is no Cargo.toml."""
        found = [crates(text) for _, text in self.files(_CARGO)]
        return joined([Listed(each.names | each.needs, each.is_all) for each in found]) if found else None

    @cached_property
    def binaries(self) -> Listed | None:
        """What cargo can run: binaries that are declared, lie where cargo looks for them, or are called as a crate."""
        found = [crates(text) for path, text in self.files(_CARGO) if path.endswith(".toml")]
        lying = frozenset(each[1] for path in self._tree.files if (each := _MAIN.fullmatch(path)))
        return joined([*(Listed(each.names, each.is_all) for each in found), Listed(lying)]) if found else None

    @cached_property
    def packages(self) -> Listed | None:
        """Every name in a manifest; None where there is none."""
        texts = [text for _, text in self.files(_MANIFESTS)]
        names = frozenset(package_key(word) for text in texts for word in _PACKAGE_WORD.findall(text or ""))
        return Listed(names, None not in texts) if texts else None

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(map(path_key, (*self._tree.files, *self._tree.folders)))

    @cached_property
    def _cut_at_spaces(self) -> frozenset[str]:
        """How paths with spaces in them begin."""
        return frozenset(path[:at] for path in self._paths for at, char in enumerate(path) if char == " ")

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._paths:
            name = _last(path)
            for piece in {name, name.rpartition(" ")[2]}:
                found.setdefault(piece, []).append(path)
        return found

    @cached_property
    def _tree(self) -> Tree:
        return tree_of(self.path, self._most)


def path_key(path: str) -> str:
    """By which two paths are one: file systems differ over case and how accents are spelt."""
    return unicodedata.normalize("NFC", path).casefold()


def package_key(name: str) -> str:
    """By which two names of packages are one."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _last(path: str) -> str:
    return path.rpartition("/")[2]
