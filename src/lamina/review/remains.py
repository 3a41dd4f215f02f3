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

from lamina.atom.identity import AtomId
from lamina.atom.strike import ERASED, Sought, lines_without
from lamina.importers.documents.decode import decode
from lamina.store.erasure import Unfinished
from lamina.store.ledger import Ledger
from lamina.sync.sight import sheet_of
from lamina.text.normal import normal_form
from lamina.vault import home, layout
from lamina.vault.files import Disk, UnusableFile

LARGEST_READ = 64 << 20
ID_LENGTH = 26
_LEFTOVERS = ("*~", ".*.sw?", "#*#", "*.bak", ".~lock.*", "*.orig")
_VERSION_FOLDERS = (".stversions", ".dropbox.cache", ".trash", ".sync", ".history", ".versions", ".snapshots")
_TEXTS = frozenset({"", "txt", "md", "markdown", "json", "jsonl", "csv", "html", "htm", "xml", "yaml", "yml", "log"})


class Remains:
    """Cleans copies of erased text in the vault. The caller holds the vault's lock."""

    def __init__(self, disk: Disk, ledger: Ledger) -> None:
        self._disk, self._ledger = disk, ledger
        self._home = disk.root / home.FOLDER

    def remove(self, erasure: Unfinished) -> int:
        """Delete the files of erased atoms; return how many existed."""
        return sum(self._removed(path, erasure.gone) for path in erasure.paths)

    def _removed(self, path: str, gone: Collection[AtomId]) -> bool:
        try:
            data, stamp = self._disk.read(path)
        except (FileNotFoundError, NotADirectoryError, UnusableFile):
            return False
        sheet = sheet_of(data)
        if sheet is not None and sheet.id is not None and sheet.id not in gone:
            return False  # another atom's file is there now
        removed = self._disk.remove(path, stamp)
        self._disk.remove_empty_dirs(path)
        return removed

    def strike(self, erasure: Unfinished, sought: Sought) -> Counter[str]:
        """Clean exports, swap copies, conflicts, drafts and originals; return how many contained erased text."""
        cleaner, is_copy = _Cleaner(sought, erasure.gone), holding(sought, erasure)
        counts: Counter[str] = Counter()
        for swap_copy in self._disk.kept():
            with suppress(FileNotFoundError, UnusableFile):
                if self._disk.kept_path(swap_copy.name) in erasure.paths or is_copy(
                    self._disk.kept_bytes(swap_copy.name)
                ):
                    self._disk.drop_kept(swap_copy.name)
                    counts["copies"] += 1
        for file in _files(self._home / "tmp"):
            if is_copy(file.read_bytes()):
                file.unlink(missing_ok=True)
                counts["copies"] += 1
        counts["copies"] += sum(cleaner.file(file) for file in _files(self._home / "conflicts"))
        counts["exports"] += cleaner.exports(self._home / "exports", erasure.touched)
        counts["originals"] += sum(cleaner.file(file, ours=False) for file in self._originals())
        for path in self._ledger.paths_of(erasure.touched).values():
            _settle(self._disk.root / path)
        return counts

    def _originals(self) -> Iterator[Path]:
        for path in _paths(self._disk.root):
            if layout.is_fed(path) and not layout.is_inbox(path):
                yield self._disk.root / path

    def elsewhere(self, sought: Sought, gone: Collection[AtomId]) -> Iterator[str]:
        """Return files in the vault that lamina does not own and that still contain erased text."""
        cleaner = _Cleaner(sought, gone)
        owned = {line.path for line in self._ledger.lines() if line.atom_id is not None}
        for path in _paths(self._disk.root):
            if path not in owned and cleaner.holds(self._disk.root / path):
                yield path

    def outside(self, sources: Collection[str]) -> Iterator[str]:
        """Return warnings about copies that lamina cannot change; `sources`: where the text came from."""
        root = self._disk.root
        for file in self._originals():
            if file.suffix.lower().lstrip(".") not in _TEXTS and any(file.stem in source for source in sources):
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
        for pattern in _LEFTOVERS:
            for file in sorted(root.rglob(pattern)):
                if ".git" not in file.parts and self._home not in file.parents:
                    yield f"{file}: an editor's backup or swap file; delete it"
        tool = home.sync_tool(root)
        if tool:
            yield f"{tool}: other machines and its version history still have the old files"
        yield "lamina cannot change backups and snapshots of this disk, or exports written elsewhere"


class _Cleaner:
    """Removes sentences from files of many formats; a file that cannot be cleaned is deleted."""

    def __init__(self, sought: Sought, gone: Collection[AtomId]) -> None:
        self._sought, self._gone = sought, frozenset(gone)

    def file(self, file: Path, *, ours: bool = True) -> bool:
        """Clean one file; return whether it contained erased text. A file that `is_generated` may be deleted."""
        text = _text(file)
        if text is None:
            return False
        clean = self._clean(file.suffix.lower(), text)
        if clean == text:
            return False
        if clean is None or (ours and self._tells(clean)) or not normal_form(clean.replace(ERASED, " ")):
            file.unlink(missing_ok=True)
        else:
            _rewrite(file, clean)
        _settle(file.parent)
        return True

    def exports(self, folder: Path, touched: Collection[AtomId]) -> int:
        """Clean exported files; return how many contained erased text.

        Some formats have text in file names: files of erased or rewritten atoms are deleted, with lines that link to
        them.
        """
        deleted = {file: atom_id for file in _files(folder) if (atom_id := self._named(file, touched))}
        for file in deleted:
            file.unlink(missing_ok=True)
        linked = frozenset(deleted.values()) | self._gone
        return len(deleted) + sum(self._unlinked(file, linked) | self.file(file) for file in _files(folder))

    def _named(self, file: Path, touched: Collection[AtomId]) -> str | None:
        """Return the id in a file name if its atom is erased, or rewritten and the file is not in lamina's format."""
        name = file.stem[-ID_LENGTH:]
        if name in self._gone:
            return name
        text = _text(file) if name in touched else None
        sheet = sheet_of(text.encode()) if text is not None else None
        return name if text is not None and (sheet is None or sheet.id != name) else None

    def _unlinked(self, file: Path, ids: Collection[str]) -> bool:
        """Remove the lines that link to any of these ids."""
        text = _text(file) if file.suffix.lower() == ".md" else None
        if text is None:
            return False
        lines = text.split("\n")
        remaining = [line for line in lines if "](" not in line or not any(atom_id in line for atom_id in ids)]
        if remaining != lines:
            _rewrite(file, "\n".join(remaining))
        return remaining != lines

    def holds(self, file: Path) -> bool:
        """Return whether a file contains erased text."""
        text = _text(file)
        return text is not None and self._tells(text)

    def _tells(self, text: str) -> bool:
        return tells(self._sought, text)

    def _clean(self, suffix: str, text: str) -> str | None:
        if suffix == ".json":
            with suppress(ValueError, RecursionError):
                value = json.loads(text)
                clean = self._value(value)
                return text if clean == value else json.dumps(clean, ensure_ascii=False, indent=1) + "\n"
        if suffix == ".jsonl":
            return "\n".join(line for line in map(self._json_line, text.split("\n")) if line is not None)
        if suffix == ".csv":
            return self._table(text)
        sheet = sheet_of(text.encode())
        if sheet is not None and sheet.id in self._gone:
            return None
        return self._sought.struck(lines_without(text, self._gone), echo=True)

    def _json_line(self, line: str) -> str | None:
        try:
            value = json.loads(line)
        except ValueError:
            return self._sought.struck(line, echo=True)
        if isinstance(value, dict) and value.get("id") in self._gone:
            return None
        clean = self._value(value)
        return line if clean == value else json.dumps(clean, ensure_ascii=False)

    def _value(self, value: Any) -> Any:
        match value:
            case str():
                return self._sought.struck(lines_without(value, self._gone), echo=True)
            case list():
                return [self._value(item) for item in value if not self._is_gone(item)]
            case dict():
                return {self._value(name): self._value(item) for name, item in value.items()}
            case _:
                return value

    def _is_gone(self, value: Any) -> bool:
        return isinstance(value, dict) and isinstance(value.get("id"), str) and value["id"] in self._gone

    def _table(self, text: str) -> str:
        rows = list(csv.reader(io.StringIO(text, newline="")))
        remaining = [[self._value(cell) for cell in row] for row in rows if self._gone.isdisjoint(row)]
        if remaining == rows:
            return text
        out = io.StringIO(newline="")
        csv.writer(out, quoting=csv.QUOTE_ALL).writerows(remaining)
        return out.getvalue()


def _files(folder: Path) -> Iterator[Path]:
    return (folder / path for path in _paths(folder))


def _paths(folder: Path) -> Iterator[str]:
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


def _text(file: Path) -> str | None:
    """Return the text of a text file; None for any other."""
    with suppress(OSError, ValueError):
        if file.suffix.lower().lstrip(".") in _TEXTS and file.stat().st_size <= LARGEST_READ:
            return decode(file.read_bytes())
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


def _settle(place: Path) -> None:
    """Flush a file or folder to disk, so that a power loss does not restore its old content."""
    with suppress(OSError):
        fd = os.open(place, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def holding(sought: Sought, erasure: Unfinished) -> Callable[[bytes], bool]:
    """Return a function that says whether a copy is of an erased or rewritten atom, or contains erased text."""
    ids = [atom_id.encode() for atom_id in (*erasure.gone, *erasure.touched)]
    return lambda data: any(atom_id in data for atom_id in ids) or tells(sought, data.decode(errors="replace"))


def tells(sought: Sought, text: str) -> bool:
    """Return whether a text contains a whole erased sentence."""
    form = normal_form(text)
    if sought.words.isdisjoint(form.split()):
        return False
    padded = f" {form} "
    return any(f" {form} " in padded for form in sought.forms)


def unwritten(ledger: Ledger, ids: Sequence[AtomId]) -> bool:
    """Return whether the file of any of these atoms is still to be written."""
    atom_ids = set(ids)
    return bool(atom_ids) and any(pending.atom_id in atom_ids for pending in ledger.pending(100_000))
