"""The atoms port in SQLite: current atoms, and earlier ones, reconstructed from the versions up to a position."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from lamina.atom.atom import Atom, AtomId
from lamina.atom.json_record import Record, from_record, parse_record
from lamina.atom.passage import is_pure_append
from lamina.atom.provenance import Scope
from lamina.store.atoms import AtomFilter, EditedAtom
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.history import HistoryFile

BATCH = 500
_SEARCH_FIELDS = frozenset({"subject", "kind", "layer", "run_id", "segment_id"})
"""Fields other than the content that change what a text search covers."""


class SqliteAtoms:
    """Reads atoms from history.db."""

    def __init__(self, history: HistoryFile, lock: threading.RLock) -> None:
        self._history, self._lock = history, lock

    def read(self, atom_filter: AtomFilter) -> list[Atom]:
        with self._lock:
            return self._history.heads.read(atom_filter)

    def read_many(self, atom_filters: Sequence[AtomFilter]) -> list[list[Atom]]:
        with self._lock:
            return self._history.heads.read_many(atom_filters)

    def count_by(self, field: str, atom_filter: AtomFilter) -> dict[str, int]:
        with self._lock:
            return self._history.heads.count_by(field, atom_filter)

    def read_at(self, ids: Iterable[AtomId], seq: int, scopes: Sequence[Scope]) -> dict[AtomId, Atom]:
        with self._lock:
            atoms = atoms_at(self._history.db, ids, seq)
        return {atom_id: atom for atom_id, atom in atoms.items() if atom.scope in scopes}

    def find_subjects(self, scope: Scope, words: Sequence[str]) -> list[str]:
        with self._lock:
            return self._history.heads.find_subjects(scope, words)

    def read_with_editors(self, ids: Iterable[AtomId]) -> dict[AtomId, EditedAtom]:
        with self._lock:
            return self._history.heads.read_with_editors(ids)


def atoms_at(db: Database, ids: Iterable[AtomId], seq: int) -> dict[AtomId, Atom]:
    """Return the atoms that existed at a journal position, as they were then.

    One that has not changed since is read from its head. An atom whose text was erased since is left out.
    """
    atoms: dict[AtomId, Atom] = {}
    with db.read_transaction():
        for batch in _batches(list(dict.fromkeys(ids))):
            marks = ",".join("?" * len(batch))
            newest = db.rows(f"SELECT atom_id, max(seq) FROM versions WHERE atom_id IN ({marks}) GROUP BY 1", batch)
            unchanged = [atom_id for atom_id, last_seq in newest if last_seq <= seq]
            changed = [atom_id for atom_id, last_seq in newest if last_seq > seq]
            atoms |= {atom.id: atom for atom in _read_heads(db, unchanged)}
            for _, revisions in _revisions(db, changed, seq):
                atom = _latest(revisions)
                if atom is not None:
                    atoms[atom.id] = atom
    return atoms


def find_rewritten(db: Database, heads: Mapping[AtomId, Atom], since: int) -> set[AtomId]:
    """Return the atoms whose text changed after a position, other than by turns appended to a segment."""
    rewritten_ids: set[AtomId] = set()
    for batch in _batches([atom.id for atom in heads.values() if atom.revision > 1]):
        rows = db.rows(
            f"SELECT atom_id, body FROM versions WHERE atom_id IN ({','.join('?' * len(batch))}) AND seq>? "
            "AND revision>1 AND body IS NOT NULL ORDER BY atom_id, revision",
            (*batch, since),
        )
        for atom_id, bodies in groupby(rows, key=lambda row: row[0]):
            if not _only_grew(heads[AtomId(atom_id)], [json.loads(body) for _, body in bodies]):
                rewritten_ids.add(AtomId(atom_id))
    return rewritten_ids


def past_versions(db: Database, atom_id: AtomId, head: Atom) -> list[Atom]:
    """Return the versions before the head whose text may differ, oldest first."""
    versions: list[Atom] = []
    for _, revisions in _revisions(db, [atom_id], None):
        record: Record = {}
        for revision, body in revisions:
            if body is None:
                return versions
            changed = json.loads(body)
            record = _merge_record(record, changed)
            if revision < head.revision and (not versions or "content" in changed or _SEARCH_FIELDS & changed.keys()):
                versions.append(from_record(record, revision))
    return versions


def replay_atoms(db: Database, ids: Sequence[str]) -> list[Atom]:
    """Return the atoms that their versions lead to, without those whose text was erased."""
    atoms = [_latest(revisions) for _, revisions in _revisions(db, ids, None)]
    return [atom for atom in atoms if atom is not None]


def _only_grew(head: Atom, changes: Sequence[Record]) -> bool:
    """Return whether the passages before these changes are unchanged, and were so all the time."""
    contents = [change["content"] for change in changes if "content" in change]
    if any(_SEARCH_FIELDS & change.keys() for change in changes) or not all(
        isinstance(content, dict) for content in contents
    ):
        return False
    added = [content["+"] for content in contents]
    before = head.content[: len(head.content) - sum(map(len, added))]
    return not added or (head.is_segment and is_pure_append(before, added))


def _read_heads(db: Database, ids: Sequence[str]) -> Iterator[Atom]:
    rows = db.rows(f"SELECT record, revision FROM heads WHERE atom_id IN ({','.join('?' * len(ids))})", ids)
    return (parse_record(record, revision) for record, revision in rows)


def _revisions(db: Database, ids: Sequence[str], seq: int | None) -> Iterator[tuple[str, list[tuple[int, str | None]]]]:
    """Yield each atom with its revisions and the fields they set, oldest first."""
    condition, values = ("", ()) if seq is None else (" AND seq<=?", (seq,))
    rows = db.rows(
        f"SELECT atom_id, revision, body FROM versions WHERE atom_id IN ({','.join('?' * len(ids))}){condition} "
        "ORDER BY atom_id, revision",
        (*ids, *values),
    )
    for atom_id, rows_of_atom in groupby(rows, key=lambda row: row[0]):
        yield atom_id, [(revision, body) for _, revision, body in rows_of_atom]


def _latest(revisions: Sequence[tuple[int, str | None]]) -> Atom | None:
    """Return the atom after the last revision; None if any of its text was erased."""
    record: Record = {}
    for _, body in revisions:
        if body is None:
            return None
        record = _merge_record(record, json.loads(body))
    return from_record(record, revisions[-1][0]) if revisions else None


def _merge_record(record: Record, changes: Record) -> Record:
    """Return the record with the fields of a version applied; appended content is stored as the added part."""
    text: Any = changes.get("content")
    extended = {"content": record["content"] + text["+"]} if isinstance(text, dict) else {}
    return record | changes | extended


def _batches(ids: Sequence[AtomId]) -> Iterator[Sequence[AtomId]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
