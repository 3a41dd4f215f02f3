"""Summarise a folder of code: which files each folder has, and what each source file defines. Only reads."""

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
"""Characters of the longest summary of a file or folder."""
TREE = "tree-1"
_MOST_NAMES = 200
_MADE_AND_CALLED = frozenset({"__init__", "__call__", "__enter__"})
_TOO_LARGE = "too large or not readable"


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """The summary of one file or folder.

    `path` is relative to the root (`.` for the root itself); `sha256` is of its bytes.
    """

    path: str
    content: str
    sha256: str
    read_by: str


@dataclass(frozen=True, slots=True)
class CodebaseKnowledge:
    """A codebase as it is now.

    `skipped_counts` counts why files were not read; `tree` tells which files were removed.
    """

    name: str
    tree: Tree
    entries: tuple[CodeEntry, ...]
    left_out: tuple[tuple[str, int], ...] = field(default=())

    def is_gone(self, path: str) -> bool:
        """Return whether a file or folder was removed, as far as the tree could be read."""
        if any(path == folder or path.startswith(f"{folder}/") for folder in self.tree.unread):
            return False
        return not self.tree.is_cut or not (self.tree.root / path).exists()

    @property
    def told(self) -> str:
        """Return how much was read and skipped, as text."""
        read = f"{_counted(self.tree.files, 'file')} in {_counted(('', *self.tree.folders), 'folder')}"
        more = [f"only the first {MOST_FILES:,}; there are more"] if self.tree.is_cut else []
        more += [f"{many:,} {why}" for why, many in self.left_out]
        more += [f"{len(self.tree.unread):,} folders are not readable"] if self.tree.unread else []
        return f"{read} ({', '.join(more)})" if more else read


def codebase(root: Path, name: str | None = None, *, most: int = MOST_FILES) -> CodebaseKnowledge:
    """Summarise the code under a folder; NotFound if there is no folder, InvalidInput if it is a vault
    or has no files.
    """
    folder = root.expanduser().absolute()
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}; give the path of a project folder")
    if (folder / ".lamina").is_dir():
        raise InvalidInput(f"{folder} is a lamina vault; give the path of a project folder")
    tree = _holdable(tree_of(folder, most, projects=True))
    codebase_name = name or folder.resolve().name or "codebase"
    if not tree.files:
        raise InvalidInput(f"{folder} contains no project files; hidden, ignored and generated files are skipped")
    left_out: Counter[str] = Counter()
    read = [entry for path in tree.files if (entry := _file(tree, path, left_out)) is not None]
    return CodebaseKnowledge(
        codebase_name, tree, (*_folders(codebase_name, tree), *read), tuple(sorted(left_out.items()))
    )


def _holdable(tree: Tree) -> Tree:
    """Return the tree without names that cannot be stored as text."""
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
        left_out["not text"] += 1
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
    """Yield the signatures that are not private and not part of something private."""
    private_depth: int | None = None
    for signature in signatures:
        if private_depth is not None and signature.depth > private_depth:
            continue
        private_depth = signature.depth if signature.is_private and signature.name not in _MADE_AND_CALLED else None
        if private_depth is None:
            yield signature


def _folders(name: str, tree: Tree) -> list[CodeEntry]:
    files, subfolders = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for path in tree.files:
        files[_parent(path)].append(path.rpartition("/")[2])
    for path in tree.folders:
        subfolders[_parent(path)].append(f"{path.rpartition('/')[2]}/")
    paths = sorted({"", *files} | {folder for folder in subfolders if len(subfolders[folder]) > 1})
    return [_folder(name, folder, subfolders[folder], files[folder]) for folder in paths]


def _folder(name: str, path: str, inner: Sequence[str], files: Sequence[str]) -> CodeEntry:
    head = f"{path}/ (folder of {name})" if path else f"{name}/ (codebase)"
    content = _cut([f"{head}: {_counted(files, 'file')}", *_rows(inner), *_rows(files)])
    return CodeEntry(path or ".", content, hashlib.sha256(content.encode()).hexdigest(), TREE)


def _counted(names: Sequence[str], noun: str) -> str:
    return f"{len(names):,} {noun}" if len(names) == 1 else f"{len(names):,} {noun}s"


def _rows(names: Iterable[str]) -> list[str]:
    ordered = sorted(names)
    more = [f"and {len(ordered) - _MOST_NAMES} more"] if len(ordered) > _MOST_NAMES else []
    return [f"- {name}" for name in (*ordered[:_MOST_NAMES], *more)]


def _cut(lines: Sequence[str]) -> str:
    """Join the lines that fit, and say how many do not."""
    fitting, length = list[str](), 0
    for at, line in enumerate(lines):
        length += len(line) + 1
        if length > LONGEST:
            return "\n".join([*fitting, f"and {len(lines) - at} lines more"])
        fitting.append(line)
    return "\n".join(fitting)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
