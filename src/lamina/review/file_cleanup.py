"""Removes erased text from files: copies that lamina made are cleaned or deleted, all others are reported."""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lamina.atom.atom import AtomId
from lamina.atom.sentence_removal import ERASED_MARK, RemovalTarget, remove_linked_lines
from lamina.importers.documents.text_decoding import decode_text
from lamina.store.erasure import PendingErasure
from lamina.store.projection import Projection
from lamina.sync.disk_diff import try_parse
from lamina.text.normal_form import normal_form
from lamina.vault import layout, vault_setup
from lamina.vault.disk import Disk
from lamina.vault.folder_tree import UnusableFile

MAX_READ_BYTES = 64 << 20
ID_LENGTH = 26
_BACKUP_PATTERNS = ("*~", ".*.sw?", "#*#", "*.bak", ".~lock.*", "*.orig")
_VERSION_FOLDERS = (".stversions", ".dropbox.cache", ".trash", ".sync", ".history", ".versions", ".snapshots")
_TEXT_EXTENSIONS = frozenset(
    {"", *["txt", "md", "markdown", "json", "jsonl", "csv", "html", "htm", "xml", "yaml", "yml", "log"]}
)


class FileCleanup:
    """Cleans copies of erased text in the vault. The caller holds the vault's lock."""

    def __init__(self, disk: Disk, ledger: Projection) -> None:
        self._disk, self._ledger = disk, ledger
        self._home = disk.root / vault_setup.INTERNAL_FOLDER

    def remove_files(self, erasure: PendingErasure) -> int:
        """Delete the files of erased atoms; return how many existed."""
        return sum(self._remove_file(path, erasure.erased_ids) for path in erasure.paths)

    def _remove_file(self, path: str, erased: Collection[AtomId]) -> bool:
        try:
            data, stamp = self._disk.read(path)
        except (FileNotFoundError, NotADirectoryError, UnusableFile):
            return False
        sheet = try_parse(data)
        if sheet is not None and sheet.id is not None and sheet.id not in erased:
            return False  # another atom's file is there now
        removed = self._disk.remove(path, stamp)
        self._disk.remove_empty_dirs(path)
        return removed

    def redact_copies(self, erasure: PendingErasure, terms: RemovalTarget) -> Counter[str]:
        """Clean exports, swap copies, conflicts, drafts and originals; return how many contained erased text."""
        cleaner, is_copy = _ErasureCleaner(terms, erasure.erased_ids), copy_matcher(terms, erasure)
        counts: Counter[str] = Counter()
        for swap_copy in self._disk.swap_copies():
            with suppress(FileNotFoundError, UnusableFile):
                is_of_erased = self._disk.copy_path(swap_copy.name) in erasure.paths
                if is_of_erased or is_copy(self._disk.copy_bytes(swap_copy.name)):
                    self._disk.delete_copy(swap_copy.name)
                    counts["copies"] += 1
        for file in _list_files(self._home / "tmp"):
            if is_copy(file.read_bytes()):
                file.unlink(missing_ok=True)
                counts["copies"] += 1
        counts["copies"] += sum(cleaner.clean_file(file) for file in _list_files(self._home / "conflicts"))
        counts["exports"] += cleaner.clean_exports(self._home / "exports", erasure.rewritten_ids)
        counts["originals"] += sum(cleaner.clean_file(file, is_generated=False) for file in self._fed_files())
        for path in self._ledger.paths_of(erasure.rewritten_ids).values():
            _fsync(self._disk.root / path)
        return counts

    def _fed_files(self) -> Iterator[Path]:
        for path in _list_paths(self._disk.root):
            if layout.is_document_path(path) and not layout.is_inbox_path(path):
                yield self._disk.root / path

    def find_unowned(self, terms: RemovalTarget, erased: Collection[AtomId]) -> Iterator[str]:
        """Return files in the vault that lamina does not own and that still contain erased text."""
        cleaner = _ErasureCleaner(terms, erased)
        owned = {entry.path for entry in self._ledger.list_files().entries if entry.atom_id is not None}
        for path in _list_paths(self._disk.root):
            if path not in owned and cleaner.file_contains(self._disk.root / path):
                yield path

    def external_copies(self, sources: Collection[str]) -> Iterator[str]:
        """Return warnings about copies that lamina cannot change; `sources`: where the text came from."""
        root = self._disk.root
        for file in self._fed_files():
            if file.suffix.lower().lstrip(".") not in _TEXT_EXTENSIONS and any(
                file.stem in source for source in sources
            ):
                yield f"{file}: the text came from this file, and lamina cannot rewrite this format; delete it"
        for folder in (root, *root.parents):
            if (folder / ".git").exists():
                yield f"git repository {folder}: its history contains earlier versions; rewrite the history there"
                break
        for folder in (root, *root.parents[:2]):
            yield from (
                f"{folder / name}: a sync tool or editor keeps versions or deleted files there; empty it"
                for name in _VERSION_FOLDERS
                if (folder / name).is_dir()
            )
        for pattern in _BACKUP_PATTERNS:
            for file in sorted(root.rglob(pattern)):
                if ".git" not in file.parts and self._home not in file.parents:
                    yield f"{file}: an editor's backup or swap file; delete it"
        tool = vault_setup.sync_tool(root)
        if tool:
            yield f"{tool}: other machines and its version history still have the old files"
        yield "lamina cannot change backups and snapshots of this disk, or exports written elsewhere"


class _ErasureCleaner:
    """Removes sentences from files of many formats; a file that cannot be cleaned is deleted."""

    def __init__(self, terms: RemovalTarget, erased: Collection[AtomId]) -> None:
        self._terms, self._erased = terms, frozenset(erased)

    def clean_file(self, file: Path, *, is_generated: bool = True) -> bool:
        """Clean one file; return whether it contained erased text. A file that `is_generated` may be deleted."""
        text = _read_text(file)
        if text is None:
            return False
        clean = self._clean(file.suffix.lower(), text)
        if clean == text:
            return False
        is_dirty = clean is not None and is_generated and contains_erased(self._terms, clean)
        if clean is None or is_dirty or not normal_form(clean.replace(ERASED_MARK, " ")):
            file.unlink(missing_ok=True)
        else:
            _rewrite(file, clean)
        _fsync(file.parent)
        return True

    def clean_exports(self, folder: Path, rewritten: Collection[AtomId]) -> int:
        """Clean exported files; return how many contained erased text.

        Some formats have text in file names: files of erased or rewritten atoms are deleted, with lines that link to
        them.
        """
        deleted = {file: atom_id for file in _list_files(folder) if (atom_id := self._exported_id(file, rewritten))}
        for file in deleted:
            file.unlink(missing_ok=True)
        linked = frozenset(deleted.values()) | self._erased
        return len(deleted) + sum(
            self._remove_links(file, linked) | self.clean_file(file) for file in _list_files(folder)
        )

    def _exported_id(self, file: Path, rewritten: Collection[AtomId]) -> str | None:
        """Return the id in a file name if its atom is erased, or rewritten and the file is not in lamina's format."""
        name = file.stem[-ID_LENGTH:]
        if name in self._erased:
            return name
        text = _read_text(file) if name in rewritten else None
        sheet = try_parse(text.encode()) if text is not None else None
        return name if text is not None and (sheet is None or sheet.id != name) else None

    def _remove_links(self, file: Path, ids: Collection[str]) -> bool:
        """Remove the lines that link to any of these ids."""
        text = _read_text(file) if file.suffix.lower() == ".md" else None
        if text is None:
            return False
        lines = text.split("\n")
        remaining = [line for line in lines if "](" not in line or not any(atom_id in line for atom_id in ids)]
        if remaining != lines:
            _rewrite(file, "\n".join(remaining))
        return remaining != lines

    def file_contains(self, file: Path) -> bool:
        """Return whether a file contains erased text."""
        text = _read_text(file)
        return text is not None and contains_erased(self._terms, text)

    def _clean(self, suffix: str, text: str) -> str | None:
        if suffix == ".json":
            with suppress(ValueError, RecursionError):
                value = json.loads(text)
                clean = self._clean_value(value)
                return text if clean == value else json.dumps(clean, ensure_ascii=False, indent=1) + "\n"
        if suffix == ".jsonl":
            return "\n".join(line for line in map(self._clean_json_line, text.split("\n")) if line is not None)
        if suffix == ".csv":
            return self._clean_csv(text)
        sheet = try_parse(text.encode())
        if sheet is not None and sheet.id in self._erased:
            return None
        return self._terms.remove_from(remove_linked_lines(text, self._erased), match_values=True)

    def _clean_json_line(self, line: str) -> str | None:
        try:
            value = json.loads(line)
        except ValueError:
            return self._terms.remove_from(line, match_values=True)
        if isinstance(value, dict) and value.get("id") in self._erased:
            return None
        clean = self._clean_value(value)
        return line if clean == value else json.dumps(clean, ensure_ascii=False)

    def _clean_value(self, value: Any) -> Any:
        match value:
            case str():
                return self._terms.remove_from(remove_linked_lines(value, self._erased), match_values=True)
            case list():
                return [self._clean_value(item) for item in value if not self._is_erased_record(item)]
            case dict():
                return {self._clean_value(name): self._clean_value(item) for name, item in value.items()}
            case _:
                return value

    def _is_erased_record(self, value: Any) -> bool:
        """Return whether a record is of an erased atom, or of a box, whose heading names what its statements say."""
        if not isinstance(value, dict) or not isinstance(value.get("id"), str):
            return False
        members = value.get("derived_from") if value.get("kind") == "box" else None
        return value["id"] in self._erased or (isinstance(members, list) and not self._erased.isdisjoint(members))

    def _clean_csv(self, text: str) -> str:
        rows = list(csv.reader(io.StringIO(text, newline="")))
        remaining = [[self._clean_value(cell) for cell in row] for row in rows if self._erased.isdisjoint(row)]
        if remaining == rows:
            return text
        out = io.StringIO(newline="")
        csv.writer(out, quoting=csv.QUOTE_ALL).writerows(remaining)
        return out.getvalue()


def _list_files(folder: Path) -> Iterator[Path]:
    return (folder / path for path in _list_paths(folder))


def _list_paths(folder: Path) -> Iterator[str]:
    """Return the path of every regular file in a folder tree, without hidden folders; links are not followed."""
    queue = [""]
    while queue:
        prefix = queue.pop()
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder / prefix) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_file(follow_symlinks=False):
                    yield prefix + entry.name
                elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                    queue.append(f"{prefix}{entry.name}/")


def _read_text(file: Path) -> str | None:
    """Return the text of a text file; None for any other."""
    with suppress(OSError, ValueError):
        if file.suffix.lower().lstrip(".") in _TEXT_EXTENSIONS and file.stat().st_size <= MAX_READ_BYTES:
            return decode_text(file.read_bytes())
    return None


def _rewrite(file: Path, text: str) -> None:
    draft = file.with_name(f".{file.name}-{secrets.token_hex(4)}")
    with os.fdopen(
        os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline=""
    ) as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(file)


def _fsync(path: Path) -> None:
    """Flush a file or folder to disk, so that a power loss does not restore its old content."""
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def copy_matcher(terms: RemovalTarget, erasure: PendingErasure) -> Callable[[bytes], bool]:
    """Return a function that says whether a copy is of an erased or rewritten atom, or contains erased text."""
    ids = [atom_id.encode() for atom_id in (*erasure.erased_ids, *erasure.rewritten_ids)]
    return lambda data: any(atom_id in data for atom_id in ids) or contains_erased(terms, data.decode(errors="replace"))


def contains_erased(terms: RemovalTarget, text: str) -> bool:
    """Return whether a text contains a whole erased sentence."""
    form = normal_form(text)
    if terms.words.isdisjoint(form.split()):
        return False
    padded = f" {form} "
    return any(f" {form} " in padded for form in terms.forms)


def has_pending_writes(ledger: Projection, ids: Sequence[AtomId]) -> bool:
    """Return whether the file of any of these atoms is still to be written."""
    atom_ids = set(ids)
    ledger.catch_up()
    return bool(atom_ids) and any(pending.atom_id in atom_ids for pending in ledger.pending_files())
