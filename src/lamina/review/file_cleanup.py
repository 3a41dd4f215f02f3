"""Removes erased text from files: copies that lamina made are cleaned or deleted, all others are reported."""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lamina.atom.atom import AtomId, is_atom_id
from lamina.atom.sentence_erasure import ERASED_MARK, RemovalTarget, TargetValue, remove_linked_lines
from lamina.importers.documents.text_decoding import decode_text
from lamina.store.erasure import PendingErasure
from lamina.store.projection import Projection
from lamina.sync.disk_diff import try_parse
from lamina.text.normal_form import normal_form
from lamina.vault import layout, vault_setup
from lamina.vault.disk import Disk
from lamina.vault.file_access import UnusableFile

MAX_READ_BYTES = 64 << 20
ID_LENGTH = 26
_BACKUP_PATTERNS = ("*~", ".*.sw?", "#*#", "*.bak", ".~lock.*", "*.orig")
_VERSION_FOLDERS = (".stversions", ".dropbox.cache", ".trash", ".sync", ".history", ".versions", ".snapshots")
_TEXT_EXTENSIONS = frozenset(
    {"", *["txt", "md", "markdown", "json", "jsonl", "csv", "html", "htm", "xml", "yaml", "yml", "log"]}
)


@dataclass(frozen=True, slots=True)
class FileSearch:
    """A search of files: for the target, and the documents that the text came from; `everywhere`, in all."""

    target: RemovalTarget
    originals: tuple[str, ...]
    everywhere: bool

    def to_json(self) -> str:
        """Return it as JSON without the text."""
        parts = {"target": self.target.to_json(), "originals": self.originals, "everywhere": self.everywhere}
        return json.dumps(parts)

    @classmethod
    def from_json(cls, text: str) -> FileSearch:
        """Return what `to_json` wrote."""
        parts = json.loads(text)
        if "forms" in parts:  # an erasure that was started by a version which stored the text
            values = [TargetValue(value, frozenset(about)) for value, about in parts["told"]]
            return cls(RemovalTarget.of(parts["forms"], values), (), True)
        return cls(RemovalTarget.from_json(parts["target"]), tuple(parts["originals"]), parts["everywhere"])


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

    def redact_copies(self, erasure: PendingErasure, search: FileSearch) -> Counter[str]:
        """Clean exports, swap copies, conflicts, drafts and originals; return how many contained erased text."""
        cleaner = _ErasureCleaner(search, erasure)
        counts: Counter[str] = Counter()
        for swap_copy in self._disk.swap_copies():
            with suppress(FileNotFoundError, UnusableFile):
                is_of_erased = self._disk.copy_path(swap_copy.name) in erasure.paths
                if is_of_erased or cleaner.is_copy(self._disk.copy_bytes(swap_copy.name)):
                    self._disk.delete_copy(swap_copy.name)
                    counts["copies"] += 1
        for file in _list_files(self._home / "tmp"):
            if cleaner.is_copy(file.read_bytes()):
                file.unlink(missing_ok=True)
                counts["copies"] += 1
        counts["copies"] += sum(cleaner.clean_file(file) for file in _list_files(self._home / "conflicts"))
        counts["exports"] += cleaner.clean_exports(self._home / "exports")
        originals = self._fed_files() if search.everywhere else (self._disk.root / path for path in search.originals)
        counts["originals"] += sum(cleaner.clean_file(file, is_generated=False) for file in originals)
        for path in self._ledger.paths_of(erasure.rewritten_ids).values():
            _fsync(self._disk.root / path)
        return counts

    def find_swap_copies(self, erasure: PendingErasure, search: FileSearch) -> set[str]:
        """Return the SHA-256 of the stored bytes that an exchange of files swapped out and that are copies."""
        cleaner = _ErasureCleaner(search, erasure)
        hashes = self._ledger.swapped_out_hashes()
        return {sha256 for sha256 in hashes if cleaner.is_copy(self._ledger.find_swapped_out(sha256) or b"")}

    def find_originals(self, sources: Collection[str]) -> Iterator[str]:
        """Return the documents in the vault that the erased text came from; `sources`: the sources of its atoms."""
        for file in self._fed_files():
            if any(file.stem in source for source in sources):
                yield file.relative_to(self._disk.root).as_posix()

    def _fed_files(self) -> Iterator[Path]:
        for path in _list_paths(self._disk.root):
            if layout.is_document_path(path) and not layout.is_inbox_path(path):
                yield self._disk.root / path

    def find_unowned(self, target: RemovalTarget) -> Iterator[str]:
        """Return files in the vault that lamina does not own and that still contain erased text."""
        owned = {entry.path for entry in self._ledger.list_files().entries if entry.atom_id is not None}
        for path in _list_paths(self._disk.root):
            text = _read_text(self._disk.root / path) if path not in owned else None
            if text is not None and target.is_in(text):
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
        for folder in sorted(self._home.glob("damaged-*/")):
            yield f"{folder}: a journal that was repaired is kept there, with its text; delete it"
        tool = vault_setup.sync_tool(root)
        if tool:
            yield f"{tool}: other machines and its version history still have the old files"
        yield "lamina cannot change backups and snapshots of this disk, or exports written elsewhere"


class _ErasureCleaner:
    """Removes sentences from files of many formats; a file that cannot be cleaned is deleted.

    What is known to be of another atom stays, unless the person said everywhere.
    """

    def __init__(self, search: FileSearch, erasure: PendingErasure) -> None:
        self._target, self._everywhere = search.target, search.everywhere
        self._erased, self._rewritten = frozenset(erasure.erased_ids), frozenset(erasure.rewritten_ids)

    def is_copy(self, data: bytes) -> bool:
        """Return whether bytes are a copy of an erased or rewritten atom's file, or contain erased text and no other
        atom's."""
        if any(atom_id.encode() in data for atom_id in self._erased | self._rewritten):
            return True
        sheet = try_parse(data)
        is_of_other = sheet is not None and sheet.id is not None
        return (self._everywhere or not is_of_other) and self._target.is_in(data.decode(errors="replace"))

    def clean_file(self, file: Path, *, is_generated: bool = True) -> bool:
        """Clean one file; return whether it contained erased text. A file that `is_generated` may be deleted."""
        text = _read_text(file)
        if text is None:
            return False
        clean = self._clean(file.suffix.lower(), text)
        if clean == text:
            return False
        is_dirty = clean is not None and is_generated and self._everywhere and self._target.is_in(clean)
        if clean is None or is_dirty or not normal_form(clean.replace(ERASED_MARK, " ")):
            file.unlink(missing_ok=True)
        else:
            _rewrite(file, clean)
        _fsync(file.parent)
        return True

    def clean_exports(self, folder: Path) -> int:
        """Clean exported files; return how many contained erased text.

        Some formats have text in file names: files of erased or rewritten atoms are deleted, with lines that link to
        them.
        """
        deleted = {file: atom_id for file in _list_files(folder) if (atom_id := self._exported_id(file))}
        for file in deleted:
            file.unlink(missing_ok=True)
        linked = frozenset(deleted.values()) | self._erased
        return len(deleted) + sum(
            self._remove_links(file, linked) | self.clean_file(file) for file in _list_files(folder)
        )

    def _exported_id(self, file: Path) -> str | None:
        """Return the id in a file name if its atom is erased, or rewritten and the file is not in lamina's format."""
        name = file.stem[-ID_LENGTH:]
        if name in self._erased:
            return name
        text = _read_text(file) if name in self._rewritten else None
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
        unlisted = remove_linked_lines(text, self._erased)
        return unlisted if sheet is not None and self._is_of_other(sheet.id) else self._remove_from(unlisted)

    def _is_of_other(self, atom_id: object) -> bool:
        """Return whether an id is of an atom that keeps its words."""
        is_id = isinstance(atom_id, str) and is_atom_id(atom_id)
        return is_id and not self._everywhere and atom_id not in self._rewritten

    def _remove_from(self, text: str) -> str:
        return self._target.remove_from(text, match_values=True)

    def _clean_json_line(self, line: str) -> str | None:
        try:
            value = json.loads(line)
        except ValueError:
            return self._remove_from(line)
        if isinstance(value, dict) and value.get("id") in self._erased:
            return None
        clean = self._clean_value(value)
        return line if clean == value else json.dumps(clean, ensure_ascii=False)

    def _clean_value(self, value: Any) -> Any:
        match value:
            case str():
                return self._remove_from(remove_linked_lines(value, self._erased))
            case list():
                return [self._clean_value(item) for item in value if not self._is_erased_record(item)]
            case dict() if self._is_of_other(value.get("id")):
                return value
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
        remaining = [self._clean_row(row) for row in rows if self._erased.isdisjoint(row)]
        if remaining == rows:
            return text
        out = io.StringIO(newline="")
        csv.writer(out, quoting=csv.QUOTE_ALL).writerows(remaining)
        return out.getvalue()

    def _clean_row(self, row: list[str]) -> list[str]:
        return row if self._is_of_other(row[0] if row else None) else [self._clean_value(cell) for cell in row]


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


def has_pending_writes(ledger: Projection, ids: Sequence[AtomId]) -> bool:
    """Return whether the file of any of these atoms is still to be written."""
    atom_ids = set(ids)
    ledger.catch_up()
    return bool(atom_ids) and any(pending.atom_id in atom_ids for pending in ledger.pending_files())
