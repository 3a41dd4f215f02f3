"""Summarise a folder of code: which files each folder has, and what each source file defines. Only reads."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lamina.codebase.file_tree import FileTree, read_bytes, walk_tree
from lamina.codebase.signatures import ParsedSource, Signature
from lamina.codebase.source_reader import SOURCE_SUFFIXES, read_source, suffix_of
from lamina.errors import InvalidInput, NotFound
from lamina.importers.documents.text_decoding import decode_text

MAX_FILES = 5000
MAX_FILE_BYTES = 400 * 1024
MAX_CONTENT_LENGTH = 6000
"""Characters of the longest summary of a file or folder."""
TREE_READER_ID = "tree-1"
_MAX_NAMES = 200
_PUBLIC_DUNDERS = frozenset({"__init__", "__call__", "__enter__"})
_TOO_LARGE = "too large or not readable"


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """The summary of one file or folder.

    `path` is relative to the root (`.` for the root itself); `sha256` is of its bytes.
    """

    path: str
    content: str
    sha256: str
    parser_id: str


@dataclass(frozen=True, slots=True)
class CodebaseSummary:
    """A codebase as it is now.

    `skipped_counts` counts why files were not read; `tree` shows which files were removed.
    """

    name: str
    tree: FileTree
    entries: tuple[CodeEntry, ...]
    skipped_counts: tuple[tuple[str, int], ...] = field(default=())

    def is_removed(self, path: str) -> bool:
        """Return whether a file or folder was removed, as far as the tree could be read."""
        if any(path == folder or path.startswith(f"{folder}/") for folder in self.tree.unreadable):
            return False
        return not self.tree.is_truncated or not (self.tree.root / path).exists()

    @property
    def description(self) -> str:
        """Return how much was read and skipped, as text."""
        read = f"{_count_noun(self.tree.files, 'file')} in {_count_noun(('', *self.tree.folders), 'folder')}"
        more = [f"only the first {MAX_FILES:,}; there are more"] if self.tree.is_truncated else []
        more += [f"{many:,} {why}" for why, many in self.skipped_counts]
        more += [f"{len(self.tree.unreadable):,} folders are not readable"] if self.tree.unreadable else []
        return f"{read} ({', '.join(more)})" if more else read


def summarize_codebase(root: Path, name: str | None = None, *, max_files: int = MAX_FILES) -> CodebaseSummary:
    """Summarise the code under a folder; NotFound if there is no folder, InvalidInput if it is a vault
    or has no files.
    """
    folder = root.expanduser().absolute()
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}; give the path of a project folder")
    if (folder / ".lamina").is_dir():
        raise InvalidInput(f"{folder} is a lamina vault; give the path of a project folder")
    tree = _without_unstorable_names(walk_tree(folder, max_files, project_files_only=True))
    codebase_name = name or folder.resolve().name or "codebase"
    if not tree.files:
        raise InvalidInput(f"{folder} contains no project files; hidden, ignored and generated files are skipped")
    left_out: Counter[str] = Counter()
    read = [entry for path in tree.files if (entry := _summarize_file(tree, path, left_out)) is not None]
    return CodebaseSummary(
        codebase_name, tree, (*_summarize_folders(codebase_name, tree), *read), tuple(sorted(left_out.items()))
    )


def _without_unstorable_names(tree: FileTree) -> FileTree:
    """Return the tree without names that cannot be stored as text."""
    files = tuple(file for file in tree.files if _is_text(file))
    folders = tuple(folder for folder in tree.folders if _is_text(folder))
    return FileTree(tree.root, files, folders, tree.links, tree.unreadable, tree.is_truncated)


def _is_text(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" or char in "\n\r\0" for char in name)


def _summarize_file(tree: FileTree, path: str, skipped_counts: Counter[str]) -> CodeEntry | None:
    if suffix_of(path) not in SOURCE_SUFFIXES:
        return None
    data = read_bytes(tree.root, path, MAX_FILE_BYTES)
    if data is None:
        skipped_counts[_TOO_LARGE] += 1
        return None
    try:
        source = read_source(path, decode_text(data))
    except ValueError:
        skipped_counts["not text"] += 1
        return None
    if not source.doc and not source.signatures:
        return None
    return CodeEntry(path, _summary_text(path, source), hashlib.sha256(data).hexdigest(), source.parser_id)


def _summary_text(path: str, source: ParsedSource) -> str:
    head = f"{path} ({source.language})"
    lines = [f"{head}: {source.doc}" if source.doc else head]
    lines += [str(signature) for signature in _public_signatures(source.signatures)]
    hidden = [signature.name for signature in source.signatures if signature.depth == 0 and signature.is_private]
    if hidden:
        lines.append(f"private: {', '.join(hidden)}")
    return _join_within_limit(lines)


def _public_signatures(signatures: Iterable[Signature]) -> Iterator[Signature]:
    """Yield the signatures that are not private and not part of something private."""
    private_depth: int | None = None
    for signature in signatures:
        if private_depth is not None and signature.depth > private_depth:
            continue
        private_depth = signature.depth if signature.is_private and signature.name not in _PUBLIC_DUNDERS else None
        if private_depth is None:
            yield signature


def _summarize_folders(name: str, tree: FileTree) -> list[CodeEntry]:
    files, subfolders = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for path in tree.files:
        files[_parent(path)].append(path.rpartition("/")[2])
    for path in tree.folders:
        subfolders[_parent(path)].append(f"{path.rpartition('/')[2]}/")
    paths = sorted({"", *files} | {folder for folder in subfolders if len(subfolders[folder]) > 1})
    return [_summarize_folder(name, folder, subfolders[folder], files[folder]) for folder in paths]


def _summarize_folder(name: str, path: str, subfolders: Sequence[str], files: Sequence[str]) -> CodeEntry:
    head = f"{path}/ (folder of {name})" if path else f"{name}/ (codebase)"
    content = _join_within_limit(
        [f"{head}: {_count_noun(files, 'file')}", *_name_lines(subfolders), *_name_lines(files)]
    )
    return CodeEntry(path or ".", content, hashlib.sha256(content.encode()).hexdigest(), TREE_READER_ID)


def _count_noun(names: Sequence[str], noun: str) -> str:
    return f"{len(names):,} {noun}" if len(names) == 1 else f"{len(names):,} {noun}s"


def _name_lines(names: Iterable[str]) -> list[str]:
    ordered = sorted(names)
    more = [f"and {len(ordered) - _MAX_NAMES} more"] if len(ordered) > _MAX_NAMES else []
    return [f"- {name}" for name in (*ordered[:_MAX_NAMES], *more)]


def _join_within_limit(lines: Sequence[str]) -> str:
    """Join the lines that fit, and say how many do not."""
    fitting, length = list[str](), 0
    for at, line in enumerate(lines):
        length += len(line) + 1
        if length > MAX_CONTENT_LENGTH:
            return "\n".join([*fitting, f"and {len(lines) - at} lines more"])
        fitting.append(line)
    return "\n".join(fitting)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
