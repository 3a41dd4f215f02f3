"""Exports everything that a memory may read to a file or folder that can be read without lamina.

Cells of a CSV file are guarded, so that no spreadsheet runs them as a formula.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.atom.atom import Atom, AtomId, Evidence, Signals
from lamina.atom.json_record import to_record
from lamina.atom.passage import passages_of, render_passage
from lamina.atom.status import Status
from lamina.errors import InvalidInput
from lamina.importers.atom_csv_format import COLUMNS, LIST_COLUMNS, LIST_SEPARATOR, escape_cell, format_evidence
from lamina.importers.evidence_quotes import EvidenceIndex
from lamina.importers.okf_bundle import ATOM_ID_KEY, INDEX_FILE, LINKS_HEADING, LOG_FILE
from lamina.store.base import AtomFilter, AtomVersion, Store
from lamina.text.normal_form import shorten_line
from lamina.text.timestamps import format_time
from lamina.vault import atom_file, layout
from lamina.vault.frontmatter_fields import SIGNAL_FIELDS, used_counters
from lamina.vault.yaml_codec import PlainScalar, YamlValue, emit_entry

VERSION = "0.1"
_EXPORTED_STATUSES = frozenset({Status.ACTIVE, Status.ARCHIVED, Status.CHALLENGED})
_TITLE_CHARS, _DESCRIPTION_CHARS = 80, 240
_OMITTED = "[…]"
"""Replaces sentences that are left out; a passage with nothing else is dropped."""
_TIME_FIELDS = ("valid_from", "valid_until", "expires_at")
_TEXT_FIELDS = ("subject", "attribute", "value", "source_id", "session_id", "segment_id")
_LINK_ESCAPES = str.maketrans({"[": "(", "]": ")", "\\": "/", "<": "‹", ">": "›"})


def render_bundle(atoms: Sequence[Atom], signals: Mapping[AtomId, Signals]) -> Iterator[tuple[str, bytes]]:
    """Return every file of the bundle: its path in the folder and its bytes."""
    sources = EvidenceIndex(atoms)
    candidates = (_exported(atom, sources) for atom in atoms if atom.status in _EXPORTED_STATUSES and atom.is_searched)
    exported = [atom for atom in candidates if atom is not None]
    paths: dict[str, str] = {atom.id: _path_of(atom) for atom in exported}
    titles: dict[str, str] = {atom.id: _title_of(atom) for atom in exported}
    for atom in exported:
        counters = used_counters(signals.get(atom.id, Signals()))
        yield paths[atom.id], _render_concept(atom, counters, paths, titles).encode()
    yield INDEX_FILE, _render_index(exported, paths, titles).encode()
    yield LOG_FILE, _render_log(exported, paths, titles).encode()


def _exported(atom: Atom, sources: EvidenceIndex) -> Atom | None:
    """Return the atom as exported: a segment without outdated sentences; None if nothing is left."""
    outdated = sources.ended_spans(atom) if atom.is_segment else {}
    if not outdated:
        return atom
    passages = [
        replace(passage, text=_without_spans(passage.text, outdated.get(passage.n, ())))
        for passage in passages_of(atom)
    ]
    rendered = [
        render_passage(passage.n, passage.text, passage.speaker, passage.at)
        for passage in passages
        if passage.text.strip(f"{_OMITTED} \n\t")
    ]
    return atom.with_(content="\n\n".join(rendered)) if rendered else None


def _without_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    result, position = "", 0
    for start, end in sorted(spans):
        result += text[position : max(position, start)] + (_OMITTED if start >= position else "")
        position = max(position, end)
    return result + text[position:]


def _path_of(atom: Atom) -> str:
    return f"{layout.make_slug(atom.kind, 'fact')}/{layout.make_slug(atom.content, 'atom')}-{atom.id.lower()}.md"


def _title_of(atom: Atom) -> str:
    words = atom.session_id or "conversation" if atom.is_segment else atom.content
    return shorten_line(words, _TITLE_CHARS)


def _render_concept(
    atom: Atom, counters: Mapping[str, object], paths: Mapping[str, str], titles: Mapping[str, str]
) -> str:
    entries: dict[str, YamlValue] = {
        "type": atom.kind,
        "title": titles[atom.id],
        "description": shorten_line(atom.content, _DESCRIPTION_CHARS),
        "timestamp": PlainScalar(format_time(atom.observed_at)),
        "tags": atom.tags,
        "entities": atom.entities,
        **{name: getattr(atom, name) or "" for name in _TEXT_FIELDS},
        **{name: PlainScalar(format_time(at)) for name in _TIME_FIELDS if (at := getattr(atom, name))},
        "status": atom.status.value,
        "origin": atom.origin.value,
        "confidence": PlainScalar(str(atom.confidence)),
        "importance": PlainScalar(str(atom.importance)),
        **{name: PlainScalar(str(value)) for name, value in counters.items()},
        ATOM_ID_KEY: str(atom.id),
    }
    rows = [row for key, value in entries.items() if value for row in emit_entry(key, value)]
    links = [
        f"* {name} [{titles[target].translate(_LINK_ESCAPES)}](/{paths[target]})"
        for name, target in _links_of(atom)
        if target in paths
    ]
    tail = LINKS_HEADING + "\n".join(links) if links else ""
    return "\n".join(["---", *rows, "---", "", atom.content + tail, ""])


def _links_of(atom: Atom) -> Iterator[tuple[str, str]]:
    yield from dict.fromkeys(("rests on", evidence.segment) for evidence in atom.evidence)
    yield from (("replaces", atom_id) for atom_id in atom.supersedes)
    yield from ((relation.name.value.replace("_", " "), relation.target) for relation in atom.relations)


def _render_index(atoms: Sequence[Atom], paths: Mapping[str, str], titles: Mapping[str, str]) -> str:
    by_kind: dict[str, list[Atom]] = defaultdict(list)
    for atom in atoms:
        by_kind[atom.kind].append(atom)
    lines = ["---", f'okf_version: "{VERSION}"', "---", ""]
    for kind, group in sorted(by_kind.items()):
        lines += [f"# {kind}", "", *(f"* {_link(atom, paths, titles)}" for atom in group), ""]
    return "\n".join(lines)


def _render_log(atoms: Sequence[Atom], paths: Mapping[str, str], titles: Mapping[str, str]) -> str:
    by_day: dict[str, list[Atom]] = defaultdict(list)
    for atom in atoms:
        by_day[f"{atom.recorded_at or atom.observed_at:%Y-%m-%d}"].append(atom)
    lines = ["# Log", ""]
    for day, group in sorted(by_day.items(), reverse=True):
        lines += [f"## {day}", "", *(f"* **Recorded**: {_link(atom, paths, titles)}" for atom in group), ""]
    return "\n".join(lines)


def _link(atom: Atom, paths: Mapping[str, str], titles: Mapping[str, str]) -> str:
    return f"[{titles[atom.id].translate(_LINK_ESCAPES)}]({paths[atom.id]})"


_BYTE_ORDER_MARK = "\ufeff"
"""Tells spreadsheets that the bytes are UTF-8."""


def render_csv(atoms: Sequence[Atom], signals: Mapping[AtomId, Signals]) -> bytes:
    """Return the rows under their column names, oldest first."""
    out = io.StringIO(newline="")
    rows = csv.writer(out, quoting=csv.QUOTE_ALL)
    rows.writerow(COLUMNS)
    for atom in atoms:
        counters = dict.fromkeys(SIGNAL_FIELDS) | used_counters(signals.get(atom.id, Signals()))
        values = (counters[name] if name in counters else getattr(atom, name) for name in COLUMNS)
        rows.writerow([escape_cell(_cell_text(name, value)) for name, value in zip(COLUMNS, values, strict=True)])
    return (_BYTE_ORDER_MARK + out.getvalue()).encode()


def _list_item(value: object) -> str:
    return format_evidence(value) if isinstance(value, Evidence) else str(value).replace(";", ",")


def _cell_text(name: str, value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return format_time(value)
        case tuple() if name in LIST_COLUMNS:
            return LIST_SEPARATOR.join(_list_item(item) for item in value)
        case _:
            return str(value)


FORMATS = ("json", "markdown", "okf", "csv")
_SUFFIXES = {"json": ".json", "csv": ".csv"}


def export(
    store: Store,
    atom_filter: AtomFilter,
    root: Path,
    target: Path | None,
    format: str,
    with_history: bool,
    now: datetime,
) -> Path:
    """Write the atoms of a filter, by default under `.lamina/exports/`.

    InvalidInput if the path exists or the format is unknown.
    """
    if format not in FORMATS:
        raise InvalidInput(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
    path = target or root / ".lamina" / "exports" / f"{now:%Y%m%dT%H%M%S%f}{_SUFFIXES.get(format, '')}"
    if path.exists():
        raise InvalidInput(f"{path} already exists; choose another name")
    _make_private_folder(path.parent)
    atoms = sorted(store.atoms.read(atom_filter), key=lambda atom: atom.id)
    signals = store.signals.get(atom.id for atom in atoms).signals
    match format:
        case "json":
            document = _to_json(store, atoms, signals, atom_filter, with_history, now)
            _write(path, json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")
        case "csv":
            _write(path, render_csv(atoms, signals))
        case "okf":
            _write_all(path, render_bundle(atoms, signals))
        case "markdown":
            files = ((atom, atom_file.render_file(atom, None, str, signals=signals.get(atom.id))) for atom in atoms)
            _write_all(path, ((layout.path_for(atom), data) for atom, data in files))
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


def _to_json(
    store: Store,
    atoms: Sequence[Atom],
    signals: Mapping[AtomId, Signals],
    atom_filter: AtomFilter,
    with_history: bool,
    now: datetime,
) -> dict[str, Any]:
    records = []
    for atom in atoms:
        record: dict[str, Any] = to_record(atom) | used_counters(signals.get(atom.id, Signals()))
        if with_history:
            record["history"] = [_version_record(version) for version in store.journal.versions(atom.id)]
        records.append(record)
    return {
        "lamina_export": 1,
        "exported_at": format_time(now),
        "position": store.journal.position(),
        "filters": {"layer": sorted(atom_filter.layers or ()), "status": sorted(atom_filter.statuses or ())},
        "atoms": records,
    }


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
