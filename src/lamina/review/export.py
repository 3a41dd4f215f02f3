"""Exports everything that a memory may read to a file or folder that can be read without lamina."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.atom.atom import Atom
from lamina.atom.record import to_record
from lamina.atom.scope import Scope
from lamina.errors import InvalidInput
from lamina.review.csv_table import render_csv
from lamina.review.okf_bundle import render_bundle
from lamina.store.base import AtomFilter, AtomVersion, Store
from lamina.text.timestamps import format_time
from lamina.vault import atom_file, layout

FORMATS = ("json", "markdown", "okf", "csv")
_SUFFIXES = {"json": ".json", "csv": ".csv"}


def export(
    store: Store,
    scopes: Sequence[Scope],
    root: Path,
    target: Path | None,
    format: str,
    with_history: bool,
    now: datetime,
) -> Path:
    """Write the export, by default under `.lamina/exports/`; InvalidInput if it exists or the format is unknown."""
    if format not in FORMATS:
        raise InvalidInput(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
    path = target or root / ".lamina" / "exports" / f"{now:%Y%m%dT%H%M%S%f}{_SUFFIXES.get(format, '')}"
    if path.exists():
        raise InvalidInput(f"{path} already exists; choose another name")
    _make_private_folder(path.parent)
    atoms = sorted(store.read(AtomFilter(scopes=tuple(scopes))), key=lambda atom: atom.id)
    match format:
        case "json":
            document = _to_json(store, atoms, with_history, now)
            _write(path, json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")
        case "csv":
            _write(path, render_csv(atoms))
        case "okf":
            _write_all(path, render_bundle(atoms))
        case "markdown":
            _write_all(path, ((layout.path_for(atom), atom_file.render_file(atom, None, str)) for atom in atoms))
    return path


def _write_all(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    _make_private_folder(folder)
    for name, data in files:
        file = folder / name
        _make_private_folder(file.parent)
        _write(file, data)


def _make_private_folder(folder: Path) -> None:
    """Create a folder and its parents for the owner only; `parents=True` would give parents the default mode."""
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            path.mkdir(mode=0o700)


def _to_json(store: Store, atoms: Sequence[Atom], with_history: bool, now: datetime) -> dict[str, Any]:
    records = []
    for atom in atoms:
        record: dict[str, Any] = to_record(atom)
        if with_history:
            record["history"] = [_version_record(version) for version in store.versions(atom.id)]
        records.append(record)
    return {"lamina_export": 1, "exported_at": format_time(now), "position": store.position(), "atoms": records}


def _version_record(version: AtomVersion) -> dict[str, Any]:
    return {
        "revision": version.revision,
        "commit": version.commit,
        "at": format_time(version.at),
        "actor": version.actor,
        "verb": version.verb,
        "reason": version.reason,
        "old_status": version.old_status,
        "status": version.atom.status,
        "content": version.atom.content,
    }


def _write(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
