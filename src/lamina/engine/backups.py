"""Backups: a consistent copy of a vault while others write, and the way back, which proves what it restored."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.clock import Clock
from lamina.engine.effects import translate_disk_errors
from lamina.engine.engine import Engine
from lamina.errors import InvalidInput, StoreError
from lamina.settings import load_settings
from lamina.store.sqlite.history_repair import HISTORY, count_rows, find_damage, repair_history
from lamina.vault import vault_setup

MANIFEST = f"{vault_setup.INTERNAL_FOLDER}/backup.json"
LOCK_SECONDS = 60.0
_FORMAT = 1
_LEFT_OUT = (
    "history.",
    "index.db",
    "recalls.db",
    "usage.db",
    "board",
    "tmp",
    "swapped",
    "locks",
    "damaged-",
    "repair-",
    "reserve-",
)
"""Names in the internal folder that begin like this are databases, which are copied otherwise, or made anew."""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """The contents of a backup: the journal position and the hash of its last commit, counts, and the folder."""

    path: str
    position: int
    tip: str
    commits: int
    atoms: int
    files: int


def write_backup(engine: Engine, target: Path, at: datetime) -> BackupReport:
    """Copy the journal of one moment and then the files into a new folder; lamina writes no file meanwhile."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInput(f"{target} is not empty; give a new folder for the backup")
    if target.resolve().is_relative_to(engine.root.resolve()):
        raise InvalidInput(f"{target} is inside the vault; give a folder outside of it")
    with translate_disk_errors(), engine.disk.lock("vault", LOCK_SECONDS):
        vault_setup.make_private_folder(target)
        internal = target / vault_setup.INTERNAL_FOLDER
        internal.mkdir(mode=0o700)
        engine.store.history.db.copy_to(internal / HISTORY)
        for name in _list_files(engine.root):
            (target / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(engine.root / name, target / name)
        report = _report(target)
        manifest = {"format": _FORMAT, "at": at.isoformat(), **asdict(report), "hashes": _hash_files(target)}
        del manifest["path"]
        (target / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return report


def restore_backup(source: Path, target: Path) -> tuple[BackupReport, Path | None]:
    """Check a backup, copy it to a folder and check the copy; return what it contains and where the old folder is now.

    StoreError if the backup differs from its manifest; then nothing was changed. No process may have the target open.
    """
    manifest = _read_manifest(source)
    with translate_disk_errors():
        draft = target.with_name(f".{target.name}-restore-{os.getpid()}")
        try:
            shutil.copytree(source, draft, symlinks=True)
            _check_copy(draft, manifest)
            report = _report(draft)
            (draft / MANIFEST).unlink()
            old = _move_aside(target)
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        _move_history(target)
    return report, old


def repair_vault(root: Path, clock: Clock) -> list[str]:
    """Repair what keeps a vault from being opened; return what was done. No other process may have it open."""
    done: list[str] = []
    with translate_disk_errors():
        marker = root / vault_setup.MARKER_FILE
        try:
            vault_setup.vault_id(root)
        except InvalidInput as error:
            aside = marker.with_name(f"damaged-{marker.name}")
            marker.replace(aside)
            vault_setup.ensure_vault(root)
            done.append(f"{error}; it was made anew, the old one is {aside}")
        state = _state_folder(root)
        if (state / HISTORY).exists():
            try:
                fault = find_damage(state / HISTORY)
            except StoreError as error:
                fault = str(error)
            done += [repair_history(state, fault, clock)] if fault else []
    return done


def _state_folder(root: Path) -> Path:
    settings = load_settings(root / vault_setup.INTERNAL_FOLDER / "settings.toml")
    return vault_setup.state_folder(root, settings.state_dir)


def _list_files(root: Path) -> Iterator[str]:
    """Yield the files of a vault that a backup copies; links are not followed."""
    for folder, folders, files in os.walk(root):
        is_internal = Path(folder) == root / vault_setup.INTERNAL_FOLDER
        if is_internal:
            folders[:] = [name for name in folders if not name.startswith(_LEFT_OUT)]
        for name in sorted(files):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink() and not (is_internal and name.startswith(_LEFT_OUT)):
                yield path.relative_to(root).as_posix()


def _report(root: Path) -> BackupReport:
    """Return what a backup contains; the database is opened, checked and closed."""
    path = root / vault_setup.INTERNAL_FOLDER / HISTORY
    fault = find_damage(path)
    if fault:
        raise StoreError(f"the journal in {root} is damaged: {fault}")
    commits, atoms, tip = count_rows(path)
    files = sum(name.endswith(".md") for name in _list_files(root))
    return BackupReport(str(root), commits, tip, commits, atoms, files)


def _hash_files(root: Path) -> dict[str, str]:
    names = [*_list_files(root), f"{vault_setup.INTERNAL_FOLDER}/{HISTORY}"]
    return {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in names if name != MANIFEST}


def _read_manifest(source: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{source} is no backup of lamina: {error}; `lamina backup` writes one") from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise InvalidInput(f"{source} is a backup of another format; upgrade lamina to restore it")
    return manifest


def _check_copy(draft: Path, manifest: dict[str, Any]) -> None:
    """Raise StoreError unless the copy has the files, hashes and counts of the manifest, and an intact journal."""
    expected, actual = manifest["hashes"], _hash_files(draft)
    wrong = sorted(name for name in expected.keys() | actual.keys() if expected.get(name) != actual.get(name))
    if wrong:
        raise StoreError(f"the backup was changed or is incomplete: {', '.join(wrong[:5])}; nothing was restored")
    report = asdict(_report(draft))
    for name in ("position", "tip", "commits", "atoms", "files"):
        if report[name] != manifest[name]:
            raise StoreError(f"the backup has {report[name]} {name}, its manifest says {manifest[name]}")


def _move_aside(target: Path) -> Path | None:
    """Move what is at the target to a new name beside it; None if there is nothing."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return None
    number = 1
    while (old := target.with_name(f"{target.name}.before-restore-{number}")).exists():
        number += 1
    target.rename(old)
    return old


def _move_history(root: Path) -> None:
    """Move the restored journal to the state folder that the settings name, and what is there aside."""
    path = root / vault_setup.INTERNAL_FOLDER / HISTORY
    state = _state_folder(root)
    if state != path.parent:
        _move_aside(state)
        vault_setup.make_private_folder(state)
        shutil.move(path, state / HISTORY)
