"""Everything a memory may read, written to a file or folder that needs no lamina to read."""

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
from lamina.review.okf import bundle
from lamina.review.table import table
from lamina.store.base import Filter, Store, Version
from lamina.text.times import format_time
from lamina.vault import codec, layout

FORMATS = ("json", "markdown", "okf", "csv")
_SUFFIXES = {"json": ".json", "csv": ".csv"}


def export(
    store: Store, scopes: Sequence[Scope], root: Path, target: Path | None, format: str, history: bool, now: datetime
) -> Path:
    """Write the export; by default under `.lamina/exports/`. Nothing that exists is overwritten."""
    if format not in FORMATS:
        raise InvalidInput(f"there is no format {format!r}; choose from {', '.join(FORMATS)}")
    place = target or root / ".lamina" / "exports" / f"{now:%Y%m%dT%H%M%S%f}{_SUFFIXES.get(format, '')}"
    if place.exists():
        raise InvalidInput(f"{place} exists already; give another name")
    _private(place.parent)
    atoms = sorted(store.read(Filter(scopes=tuple(scopes))), key=lambda atom: atom.id)
    match format:
        case "json":
            told = _told(store, atoms, history, now)
            _write(place, json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n")
        case "csv":
            _write(place, table(atoms))
        case "okf":
            _write_all(place, bundle(atoms))
        case "markdown":
            _write_all(place, ((layout.path_for(atom), codec.render(atom, None, str)) for atom in atoms))
    return place


def _write_all(place: Path, files: Iterable[tuple[str, bytes]]) -> None:
    _private(place)
    for name, data in files:
        file = place / name
        _private(file.parent)
        _write(file, data)


def _private(folder: Path) -> None:
    """Make a folder and those above it, for the owner alone; `parents=True` would leave those above to everybody."""
    for each in (*reversed(folder.parents), folder):
        if not each.exists():
            each.mkdir(mode=0o700)


def _told(store: Store, atoms: Sequence[Atom], history: bool, now: datetime) -> dict[str, Any]:
    told = []
    for atom in atoms:
        record: dict[str, Any] = to_record(atom)
        if history:
            record["history"] = [_version(version) for version in store.versions(atom.id)]
        told.append(record)
    return {"lamina_export": 1, "exported_at": format_time(now), "position": store.position(), "atoms": told}


def _version(version: Version) -> dict[str, Any]:
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
