"""Atoms as they were believed at a journal position, put together from the versions up to there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.passage import only_grew
from lamina.atom.record import Record, from_record
from lamina.store.sqlite.database import Database

AT_ONCE = 500
_SHAPING = frozenset({"subject", "kind", "layer", "run_id", "segment_id"})
"""Fields besides the content that decide what a text search looks into."""


def believed(db: Database, ids: Iterable[AtomId], seq: int) -> dict[AtomId, Atom]:
    """The atoms that were there at a journal position, as they were then.

    One that has not changed since is read from its head. Where words were erased meanwhile, an atom that rests on them
    is not told at all.
    """
    found: dict[AtomId, Atom] = {}
    with db.reading():
        for batch in _batches(list(dict.fromkeys(ids))):
            marks = ",".join("?" * len(batch))
            newest = db.rows(f"SELECT atom_id, max(seq) FROM versions WHERE atom_id IN ({marks}) GROUP BY 1", batch)
            same = [atom_id for atom_id, last in newest if last <= seq]
            other = [atom_id for atom_id, last in newest if last > seq]
            found |= {atom.id: atom for atom in _heads(db, same)}
            for _, told in _told(db, other, seq):
                atom = _last(told)
                if atom is not None:
                    found[atom.id] = atom
    return found


def rewritten(db: Database, heads: Mapping[AtomId, Atom], since: int) -> set[AtomId]:
    """Those whose words were changed after a journal position, otherwise than by words added behind a segment's."""
    found: set[AtomId] = set()
    for batch in _batches([atom.id for atom in heads.values() if atom.revision > 1]):
        rows = db.rows(
            f"SELECT atom_id, body FROM versions WHERE atom_id IN ({','.join('?' * len(batch))}) AND seq>? "
            "AND revision>1 AND body IS NOT NULL ORDER BY atom_id, revision",
            (*batch, since),
        )
        for atom_id, bodies in groupby(rows, key=lambda row: row[0]):
            if not _only_grew(heads[AtomId(atom_id)], [json.loads(body) for _, body in bodies]):
                found.add(AtomId(atom_id))
    return found


def earlier(db: Database, atom_id: AtomId, head: Atom) -> list[Atom]:
    """The versions before the head whose words may have been others, oldest first."""
    found: list[Atom] = []
    for _, told in _told(db, [atom_id], None):
        record: Record = {}
        for revision, body in told:
            if body is None:
                return found
            changed = json.loads(body)
            record = _merged(record, changed)
            if revision < head.revision and (not found or "content" in changed or _SHAPING & changed.keys()):
                found.append(from_record(record, revision))
    return found


def _only_grew(head: Atom, changes: Sequence[Record]) -> bool:
    """Whether the passages that stood before these changes stand as they stood, and stood so all the while."""
    contents = [change["content"] for change in changes if "content" in change]
    if any(_SHAPING & change.keys() for change in changes) or not all(
        isinstance(content, dict) for content in contents
    ):
        return False
    added = [content["+"] for content in contents]
    before = head.content[: len(head.content) - sum(map(len, added))]
    return not added or (head.is_segment and only_grew(before, added))


def _heads(db: Database, ids: Sequence[str]) -> Iterator[Atom]:
    rows = db.rows(f"SELECT record, revision FROM heads WHERE atom_id IN ({','.join('?' * len(ids))})", ids)
    return (from_record(json.loads(record), revision) for record, revision in rows)


def _told(db: Database, ids: Sequence[str], seq: int | None) -> Iterator[tuple[str, list[tuple[int, str | None]]]]:
    """The revisions of each atom and what they set, oldest first."""
    until, values = ("", ()) if seq is None else (" AND seq<=?", (seq,))
    rows = db.rows(
        f"SELECT atom_id, revision, body FROM versions WHERE atom_id IN ({','.join('?' * len(ids))}){until} "
        "ORDER BY atom_id, revision",
        (*ids, *values),
    )
    for atom_id, told in groupby(rows, key=lambda row: row[0]):
        yield atom_id, [(revision, body) for _, revision, body in told]


def _last(told: Sequence[tuple[int, str | None]]) -> Atom | None:
    record: Record = {}
    for _, body in told:
        if body is None:
            return None
        record = _merged(record, json.loads(body))
    return from_record(record, told[-1][0]) if told else None


def _merged(record: Record, changed: Record) -> Record:
    """The record with what a version set; a content that only grew is told as what was added."""
    text: Any = changed.get("content")
    grown = {"content": record["content"] + text["+"]} if isinstance(text, dict) else {}
    return record | changed | grown


def _batches(ids: Sequence[AtomId]) -> Iterator[Sequence[AtomId]]:
    for start in range(0, len(ids), AT_ONCE):
        yield ids[start : start + AT_ONCE]
