"""The table of heads: the current state of every atom, and the SQL of filters."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from lamina.atom.atom import Atom, AtomId
from lamina.atom.claim import claim_of
from lamina.atom.json_record import apply_diff, parse_record, to_record
from lamina.atom.kinds import Layer
from lamina.atom.provenance import Origin, Scope
from lamina.store.atoms import AtomFilter, EditedAtom
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.hash_chain import dump_json
from lamina.text.normal_form import normal_form
from lamina.text.timestamps import to_millis

_SUBJECT_PREFIX = 2
"""Number of first letters in which a word and its misspelling are assumed to agree."""
_FILTERS = 40
"""The most filters of one statement: SQLite limits its parts and its values."""
_COUNT_COLUMNS = {
    "status": "status",
    "kind": "kind",
    "memory_type": "memory_type",
    "layer": f"coalesce(json_extract(record, '$.layer'), '{Layer.SEMANTIC}')",
}

_EPISODE = (
    "coalesce(json_extract(record, '$.episode_id'), "
    "substr(json_extract(record, '$.observed_at'), 1, 10) || ':' || session_id)"
)


_EDITORS = """
SELECT json_group_array(DISTINCT c.origin) FROM versions v JOIN commits c ON c.seq=v.seq
WHERE v.atom_id={} AND v.revision>1 AND c.verb<>'erase'
"""
"""Erasing a sentence does not confirm the rest of the text."""
_WITH_EDITORS = f"""
SELECT record, revision, ({_EDITORS.format("h.atom_id")}) FROM heads h
WHERE atom_id IN (SELECT value FROM json_each(?))
"""


class HeadTable:
    """The current state of every atom, in history.db."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        """Return the current state of those of the atoms that exist."""
        heads: dict[AtomId, Atom] = {}
        for batch in _batches(list(ids)):
            marks = ",".join("?" * len(batch))
            for record, revision in self._db.rows(
                f"SELECT record, revision FROM heads WHERE atom_id IN ({marks})", batch
            ):
                atom = parse_record(record, revision)
                heads[atom.id] = atom
        return heads

    def claim_holders(self, scope: Scope, claim: str) -> list[Atom]:
        """Return the active atoms that fill a claim."""
        return [
            parse_record(record, revision)
            for record, revision in self._db.rows(
                "SELECT record, revision FROM heads WHERE scope=? AND claim=? AND status='active'", (scope, claim)
            )
        ]

    def read(self, atom_filter: AtomFilter) -> list[Atom]:
        """Return the current atoms that match, most recently recorded first, then by id."""
        query, values = _select("record, revision", atom_filter)
        return [parse_record(record, revision) for record, revision in self._db.rows(query, values)]

    def read_many(self, atom_filters: Sequence[AtomFilter]) -> list[list[Atom]]:
        """Return what `read` returns for each of the filters, in one statement for up to `_FILTERS` of them."""
        results: list[list[Atom]] = []
        for start in range(0, len(atom_filters), _FILTERS):
            batch = atom_filters[start : start + _FILTERS]
            queries, values = [], list[Any]()
            for n, atom_filter in enumerate(batch, start):
                query, query_values = _select(f"{n}, record, revision, recorded_at, atom_id", atom_filter)
                queries.append(f"SELECT * FROM ({query})")
                values += query_values
            results += [[] for _ in batch]
            for n, record, revision, *_ in self._db.rows(
                " UNION ALL ".join(queries) + " ORDER BY 1, 4 DESC, 5", values
            ):
                results[n].append(parse_record(record, revision))
        return results

    def read_with_editors(self, ids: Iterable[AtomId]) -> dict[AtomId, EditedAtom]:
        """Return the current state of atoms, and the origins that have changed each since it was created."""
        rows = self._db.rows(_WITH_EDITORS, (dump_json(list(ids)),))
        atoms = [(parse_record(*row[:2]), frozenset(map(Origin, json.loads(row[2])))) for row in rows]
        return {atom.id: EditedAtom(atom, editors) for atom, editors in atoms}

    def count_by(self, field: str, atom_filter: AtomFilter) -> dict[str, int]:
        """Return how many atoms match for each value of a field, ignoring the limit."""
        where, values = _where(atom_filter)
        column = _COUNT_COLUMNS[field]
        return dict(
            self._db.rows(f"SELECT {column}, count(*) FROM heads WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1", values)
        )

    def find_subjects(self, scope: Scope, words: Sequence[str]) -> list[str]:
        """Return the subjects of a scope that begin with the same letters as one of the words."""
        subjects: set[str] = set()
        for start in {word[:_SUBJECT_PREFIX] for word in words if word}:
            subjects |= {
                row[0]
                for row in self._db.rows(
                    "SELECT DISTINCT subject FROM heads WHERE scope=? AND subject>=? AND subject<? AND subject<>''",
                    (scope, start, start + chr(0x10FFFF)),
                )
            }
        return sorted(subjects)

    def all_ids(self) -> list[AtomId]:
        """Return the ids of all atoms."""
        return [AtomId(row[0]) for row in self._db.rows("SELECT atom_id FROM heads ORDER BY atom_id")]

    def put(self, atoms: Iterable[Atom]) -> None:
        """Write the current state of these atoms."""
        self._db.run_many(
            "INSERT OR REPLACE INTO heads VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", [_head_row(atom) for atom in atoms]
        )

    def find_wrong(self) -> list[str]:
        """Return atoms whose current state differs from what their versions lead to, except erased ones."""
        faults: list[str] = []
        with self._db.read_transaction():
            ids = [
                AtomId(row[0]) for row in self._db.rows("SELECT atom_id FROM heads UNION SELECT atom_id FROM versions")
            ]
            for batch in _batches(ids):
                marks = ",".join("?" * len(batch))
                heads = {row[0]: row for row in self._db.rows(f"SELECT * FROM heads WHERE atom_id IN ({marks})", batch)}
                for atom_id, revisions in groupby(
                    self._db.rows(
                        f"SELECT atom_id, revision, body FROM versions WHERE atom_id IN ({marks}) ORDER BY 1, 2", batch
                    ),
                    key=lambda row: row[0],
                ):
                    head = heads.pop(atom_id, None)
                    if not _matches_head([row[1:] for row in revisions], head):
                        faults.append(f"journal: {atom_id} differs from its versions")
                faults += [f"journal: {atom_id} has no versions" for atom_id in heads]
        return faults


def content_key(content: str) -> bytes | None:
    """Return a key that is equal for contents with the same words; None if there are no words."""
    form = normal_form(content)
    return hashlib.blake2b(form.encode(), digest_size=16).digest() if form else None


def _matches_head(revisions: Sequence[tuple[int, str | None]], head: tuple[Any, ...] | None) -> bool:
    """Return whether applying the revisions gives the head; True if any of them was erased."""
    atom: Atom | None = None
    for revision, body in revisions:
        if body is None:
            return True
        atom = apply_diff(atom, json.loads(body), revision)
    return atom is not None and head == _head_row(atom)


def _head_row(atom: Atom) -> tuple[Any, ...]:
    """Return the row of an atom in the table of heads."""
    claim = claim_of(atom)
    return (
        atom.id,
        atom.revision,
        atom.scope,
        atom.status.value,
        atom.kind,
        atom.memory_type.value,
        normal_form(atom.subject),
        str(claim) if claim else None,
        atom.session_id,
        None if atom.is_segment else content_key(atom.content),
        to_millis(atom.valid_from) if atom.valid_from else None,
        to_millis(atom.valid_until) if atom.valid_until else None,
        to_millis(atom.recorded_at or atom.observed_at),
        dump_json(to_record(atom)),
    )


def _select(columns: str, atom_filter: AtomFilter) -> tuple[str, list[Any]]:
    """Return the SQL that reads columns of the matching heads in the order of `read`, and its values."""
    where, values = _where(atom_filter)
    limit = f"LIMIT {-1 if atom_filter.limit is None else int(atom_filter.limit)} OFFSET {int(atom_filter.offset)}"
    return f"SELECT {columns} FROM heads WHERE {where} ORDER BY recorded_at DESC, atom_id {limit}", values


def _where(atom_filter: AtomFilter) -> tuple[str, list[Any]]:
    """Return the SQL condition of a filter, and its values."""
    parts: list[str] = []
    values: list[Any] = []

    def among(column: str, options: Iterable[str] | None) -> None:
        if options is not None:
            names = [str(option) for option in options]
            parts.append(f"{column} IN ({','.join('?' * len(names))})")
            values.extend(names)

    def equals(column: str, value: object) -> None:
        if value is not None:
            parts.append(f"{column}=?")
            values.append(value)

    among("scope", atom_filter.scopes)
    if atom_filter.ids is not None:
        parts.append("atom_id IN (SELECT value FROM json_each(?))")
        values.append(dump_json(atom_filter.ids))
    if atom_filter.id_suffix is not None:
        parts.append("substr(atom_id, ?)=?")
        values.extend([-len(atom_filter.id_suffix), atom_filter.id_suffix])
    among("status", atom_filter.statuses)
    among("kind", atom_filter.kinds)
    if atom_filter.excluded_kinds:
        parts.append(f"kind NOT IN ({','.join('?' * len(atom_filter.excluded_kinds))})")
        values.extend(atom_filter.excluded_kinds)
    among("memory_type", atom_filter.memory_types)
    among(_COUNT_COLUMNS["layer"], atom_filter.layers)
    if atom_filter.subject is not None:
        form = normal_form(atom_filter.subject)
        parts.append("subject=?" if form else "0")
        values.extend([form] if form else [])
    among("claim", atom_filter.claims)
    equals("session_id", atom_filter.session_id)
    equals(_EPISODE, atom_filter.episode_id)
    equals("json_extract(record, '$.source_ref')", atom_filter.source_ref)
    equals("json_extract(record, '$.run_id')", atom_filter.run_id)
    if not atom_filter.include_run_notes:
        parts.append("(json_extract(record, '$.run_id') IS NULL OR json_extract(record, '$.layer') IS NOT 'working')")
    if atom_filter.core_only:
        parts.append("(json_extract(record, '$.pinned')=1 OR json_extract(record, '$.durability')='core')")
    if atom_filter.agent is not None:
        parts.append(
            "(substr(scope, -length(?))=? OR (instr(scope, ':agent:')=0 AND EXISTS("
            "SELECT 1 FROM json_each(record, '$.agents') WHERE lower(value)=?)))"
        )
        own_scope_end = f":agent:{atom_filter.agent}"
        values.extend([own_scope_end, own_scope_end, atom_filter.agent])
    _add_times(atom_filter, parts, values)
    if atom_filter.contents is not None:
        keys = [key for content in atom_filter.contents if (key := content_key(content))]
        parts.append(f"content_hash IN ({','.join('?' * len(keys))})")
        values.extend(keys)
    return " AND ".join(parts), values


def _add_times(atom_filter: AtomFilter, parts: list[str], values: list[Any]) -> None:
    """Add the conditions on the valid time of atoms, and their values."""
    if atom_filter.expired_by is not None:
        parts.append("status='active' AND valid_until IS NOT NULL AND valid_until<=?")
        values.append(to_millis(atom_filter.expired_by))
    if atom_filter.valid_at is not None:
        at = to_millis(atom_filter.valid_at)
        parts.append("coalesce(valid_from, ?)<=? AND ?<coalesce(valid_until, ?+1)")
        values.extend([at, at, at, at])


def _batches(ids: list[AtomId], size: int = 500) -> Iterable[list[AtomId]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
