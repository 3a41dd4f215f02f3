"""A folder of code, compressed: which files each folder has, and what each source file offers. Only reads."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lamina.codebase.signature import Signature, Source
from lamina.codebase.source import SOURCES, read_source, suffix_of
from lamina.codebase.tree import Tree, read_bytes, tree_of
from lamina.errors import InvalidInput, NotFound
from lamina.importers.documents.decode import decode

MOST_FILES = 5000
LARGEST = 400 * 1024
LONGEST = 6000
"""Characters of what is kept of a file or folder."""
TREE = "tree-1"
_MOST_NAMES = 200
_MADE_AND_CALLED = frozenset({"__init__", "__call__", "__enter__"})
_TOO_LARGE = "too large or not readable"


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """What is worth knowing of one file or folder. `path` is told from the root (`.` for it); `sha256` of its bytes."""

    path: str
    content: str
    sha256: str
    read_by: str


@dataclass(frozen=True, slots=True)
class CodebaseKnowledge:
    """A codebase as it stands. `left_out` counts why files were not read; `tree` tells what can be called gone."""

    name: str
    tree: Tree
    entries: tuple[CodeEntry, ...]
    left_out: tuple[tuple[str, int], ...] = field(default=())

    def is_gone(self, path: str) -> bool:
        """Whether a file or folder that was there is not, as far as anybody can tell."""
        if any(path == each or path.startswith(f"{each}/") for each in self.tree.unread):
            return False
        return not self.tree.is_cut or not (self.tree.root / path).exists()

    @property
    def told(self) -> str:
        """How much was read, and how much was not."""
        read = f"{_counted(self.tree.files, 'file')} in {_counted(('', *self.tree.folders), 'folder')}"
        more = [f"only the first {MOST_FILES:,}: there are more"] if self.tree.is_cut else []
        more += [f"{many:,} {why}" for why, many in self.left_out]
        more += [f"{len(self.tree.unread):,} folders may not be read"] if self.tree.unread else []
        return f"{read} ({', '.join(more)})" if more else read


def codebase(root: Path, name: str | None = None, *, most: int = MOST_FILES) -> CodebaseKnowledge:
    """Read the code under a folder, or say why it cannot be read."""
    place = root.expanduser().absolute()
    if not place.is_dir():
        raise NotFound(f"there is no folder {place}; name the folder of a project")
    if (place / ".lamina").is_dir():
        raise InvalidInput(f"{place} is a vault of lamina; name the folder of a project")
    tree = _holdable(tree_of(place, most, projects=True))
    called = name or place.resolve().name or "codebase"
    if not tree.files:
        raise InvalidInput(f"{place} has no files of its own; hidden, ignored and built ones do not count")
    left_out: Counter[str] = Counter()
    read = [entry for path in tree.files if (entry := _file(tree, path, left_out)) is not None]
    return CodebaseKnowledge(called, tree, (*_folders(called, tree), *read), tuple(sorted(left_out.items())))


def _holdable(tree: Tree) -> Tree:
    """The tree without names that no text can hold."""
    files = tuple(file for file in tree.files if _is_text(file))
    folders = tuple(folder for folder in tree.folders if _is_text(folder))
    return Tree(tree.root, files, folders, tree.links, tree.unread, tree.is_cut)


def _is_text(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" or char in "\n\r\0" for char in name)


def _file(tree: Tree, path: str, left_out: Counter[str]) -> CodeEntry | None:
    if suffix_of(path) not in SOURCES:
        return None
    data = read_bytes(tree.root, path, LARGEST)
    if data is None:
        left_out[_TOO_LARGE] += 1
        return None
    try:
        source = read_source(path, decode(data))
    except ValueError:
        left_out["no text"] += 1
        return None
    if not source.doc and not source.signatures:
        return None
    return CodeEntry(path, _compressed(path, source), hashlib.sha256(data).hexdigest(), source.read_by)


def _compressed(path: str, source: Source) -> str:
    head = f"{path} ({source.language})"
    lines = [f"{head}: {source.doc}" if source.doc else head]
    lines += [str(signature) for signature in _offered(source.signatures)]
    hidden = [signature.name for signature in source.signatures if signature.depth == 0 and signature.is_private]
    if hidden:
        lines.append(f"private: {', '.join(hidden)}")
    return _cut(lines)


def _offered(signatures: Iterable[Signature]) -> Iterator[Signature]:
    """What is no private matter, nor part of one."""
    hidden: int | None = None
    for signature in signatures:
        if hidden is not None and signature.depth > hidden:
            continue
        hidden = signature.depth if signature.is_private and signature.name not in _MADE_AND_CALLED else None
        if hidden is None:
            yield signature


def _folders(name: str, tree: Tree) -> list[CodeEntry]:
    files, inner = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for path in tree.files:
        files[_parent(path)].append(path.rpartition("/")[2])
    for path in tree.folders:
        inner[_parent(path)].append(f"{path.rpartition('/')[2]}/")
    wanted = sorted({"", *files} | {each for each in inner if len(inner[each]) > 1})
    return [_folder(name, each, inner[each], files[each]) for each in wanted]


def _folder(name: str, path: str, inner: Sequence[str], files: Sequence[str]) -> CodeEntry:
    head = f"{path}/ (folder of {name})" if path else f"{name}/ (codebase)"
    content = _cut([f"{head}: {_counted(files, 'file')}", *_rows(inner), *_rows(files)])
    return CodeEntry(path or ".", content, hashlib.sha256(content.encode()).hexdigest(), TREE)


def _counted(names: Sequence[str], noun: str) -> str:
    return f"{len(names):,} {noun}" if len(names) == 1 else f"{len(names):,} {noun}s"


def _rows(names: Iterable[str]) -> list[str]:
    every = sorted(names)
    more = [f"and {len(every) - _MOST_NAMES} more"] if len(every) > _MOST_NAMES else []
    return [f"- {each}" for each in (*every[:_MOST_NAMES], *more)]


def _cut(lines: Sequence[str]) -> str:
    """The lines that fit, and how many do not."""
    kept, length = list[str](), 0
    for at, line in enumerate(lines):
        length += len(line) + 1
        if length > LONGEST:
            return "\n".join([*kept, f"and {len(lines) - at} lines more"])
        kept.append(line)
    return "\n".join(kept)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
