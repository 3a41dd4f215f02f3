"""index.db: the search view of the journal. Derived, disposable, and caught up before it is read.

Each scope has its own text tables and statistics, over its recallable passages only, so that nothing a caller may not
see can change a score. Passages that ordinary recall does not search (superseded, pending review, …) are in a separate
table (the shelf) and are scored with the statistics of the recallable ones.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.passage import Passage, passage_digest, passage_search_text, passages_of
from lamina.atom.relation import RelationName
from lamina.atom.scope import Scope
from lamina.atom.status import ENDED, RECALL_WEIGHT, Status
from lamina.store.base import Edge, EvidenceSpan, TextMatch, TextQuery
from lamina.store.encodings import NearPassage
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.index_dump import dump
from lamina.store.sqlite.journal import to_millis
from lamina.store.sqlite.past_passages import SCHEMA as _FORMER
from lamina.store.sqlite.past_passages import PastPassages, find_with_past, past_table
from lamina.store.sqlite.precision import KEPT_TABLES, SCHEMA
from lamina.store.sqlite.text_search import search, search_past, text_table
from lamina.text.analyser import ANALYSER_VERSION, analyse
from lamina.text.normal_form import normal_form
from lamina.text.time_windows import find_mentioned_spans

FORMAT = 7

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE scopes(
  id INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE, passages INTEGER NOT NULL, tokens INTEGER NOT NULL);
CREATE TABLE atoms(
  id INTEGER PRIMARY KEY, atom_id TEXT NOT NULL UNIQUE, scope INTEGER NOT NULL, status TEXT NOT NULL,
  memory_type TEXT NOT NULL, valid_from INTEGER, valid_until INTEGER, recorded_at INTEGER NOT NULL,
  shelf INTEGER NOT NULL, session TEXT NOT NULL, layer TEXT NOT NULL, origin TEXT NOT NULL,
  seq INTEGER NOT NULL, bits INTEGER NOT NULL DEFAULT 32);
CREATE INDEX atoms_by_seq ON atoms(seq);
CREATE TABLE passages(
  id INTEGER PRIMARY KEY, atom INTEGER NOT NULL, n INTEGER NOT NULL, length INTEGER NOT NULL, tokens TEXT NOT NULL,
  digest BLOB NOT NULL, speaker TEXT NOT NULL, at INTEGER NOT NULL, asks INTEGER NOT NULL,
  tells_of INTEGER);
CREATE INDEX passages_of ON passages(atom, n);
CREATE INDEX passages_by_digest ON passages(digest);
CREATE TABLE terms(
  scope INTEGER NOT NULL, term TEXT NOT NULL, passages INTEGER NOT NULL, PRIMARY KEY(scope, term)) WITHOUT ROWID;
CREATE TABLE edges(
  source TEXT NOT NULL, name TEXT NOT NULL, target TEXT NOT NULL, scope INTEGER NOT NULL, confidence REAL NOT NULL,
  PRIMARY KEY(source, name, target)) WITHOUT ROWID;
CREATE INDEX edges_to ON edges(target);
CREATE INDEX edges_at_odds ON edges(scope) WHERE name='contradicts';
CREATE TABLE rests(
  segment TEXT NOT NULL, n INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, atom_id TEXT NOT NULL,
  scope INTEGER NOT NULL, PRIMARY KEY(segment, n, start, end, atom_id)) WITHOUT ROWID;
CREATE INDEX rests_of ON rests(atom_id);
"""
_ATOM_COLUMNS = (
    "id, atom_id, scope, status, memory_type, valid_from, valid_until, recorded_at, shelf, session, layer, origin, seq"
)
_TIME_SEARCH_CHARS = 2000
"""Number of characters of a passage that are searched for a mentioned time."""
_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class _IndexedAtom:
    """An atom as the index stores it."""

    id: int
    scope: int
    is_shelved: bool


@dataclass(frozen=True, slots=True)
class _IndexedPassage:
    """A passage as the index stores it."""

    tokens: str
    digest: bytes
    speaker: str
    at: int
    is_question: bool
    mentioned_at: int | None


def _to_indexed(atom: Atom, passage: Passage) -> _IndexedPassage:
    """Return the passage as the index stores it."""
    at = passage.at or atom.observed_at
    return _IndexedPassage(
        " ".join(analyse(passage_search_text(atom, passage))),
        passage_digest(atom, passage),
        passage.speaker or "",
        to_millis(at),
        passage.text.rstrip().endswith(_QUESTION_MARKS),
        _mentioned_time(passage.text, at),
    )


def _is_indexed(atom: Atom, passage: Passage, indexed: _IndexedPassage) -> bool:
    """Return whether a passage is indexed as it is: the rest follows from its text, speaker and time."""
    identity = passage_digest(atom, passage), passage.speaker or "", to_millis(passage.at or atom.observed_at)
    return identity == (indexed.digest, indexed.speaker, indexed.at)


def _mentioned_time(text: str, at: datetime) -> int | None:
    """Return the middle of the time that a text mentions, if any, other than when it was said."""
    for start, end in find_mentioned_spans(text[:_TIME_SEARCH_CHARS], at):
        return to_millis(start + (end - start) / 2)
    return None


def _passage_row(row: _IndexedAtom, passage_id: int, n: int, passage: _IndexedPassage) -> tuple[Any, ...]:
    length = len(passage.tokens.split())
    return (
        passage_id,
        row.id,
        n,
        length,
        passage.tokens,
        passage.digest,
        passage.speaker,
        passage.at,
        int(passage.is_question),
        passage.mentioned_at,
    )


class _WriteBatch:
    """Rows collected for one write, so that a thousand atoms need only a few statements."""

    def __init__(self) -> None:
        self.passages: list[tuple[Any, ...]] = []
        self.orphans: set[bytes] = set()
        self.scopes: dict[Scope, int] = {}
        self.atoms: list[tuple[Any, ...]] = []
        self.edges: list[tuple[str, str, str, int, float]] = []
        self.rests: list[tuple[str, int, int, int, str, int]] = []
        self.text: dict[tuple[int, bool], list[tuple[int, str]]] = {}
        self.dropped: dict[tuple[int, bool], list[tuple[int, str]]] = {}
        self.terms: dict[int, Counter[str]] = {}
        self.counts: Counter[int] = Counter()
        self.lengths: Counter[int] = Counter()

    def add(self, row: _IndexedAtom, passage_id: int, n: int, passage: _IndexedPassage) -> None:
        tokens = passage.tokens.split()
        self.passages.append(_passage_row(row, passage_id, n, passage))
        self.text.setdefault((row.scope, row.is_shelved), []).append((passage_id, passage.tokens))
        self._count(row, tokens, 1)

    def drop(self, row: _IndexedAtom, passage_id: int, passage: _IndexedPassage) -> None:
        self.dropped.setdefault((row.scope, row.is_shelved), []).append((passage_id, passage.tokens))
        self.orphans.add(passage.digest)
        self._count(row, passage.tokens.split(), -1)

    def _count(self, row: _IndexedAtom, tokens: list[str], sign: int) -> None:
        if not row.is_shelved:
            counter = self.terms.setdefault(row.scope, Counter())
            for token in set(tokens):
                counter[token] += sign
            self.counts[row.scope] += sign
            self.lengths[row.scope] += sign * len(tokens)


def _session_key(atom: Atom) -> str:
    """Return what a passage's neighbours are searched in; a statement has no neighbours."""
    return atom.session_id if atom.is_segment and atom.session_id else atom.id


def _edges_of(atom: Atom) -> dict[tuple[str, str], float]:
    """Return the edges of an atom: to others, and to what it shares with others (subject, entities, session)."""
    links = {("subject", f"subject:{form}"): 1.0 for form in [normal_form(atom.subject)] if form}
    links |= {("entity", f"entity:{form}"): 1.0 for entity in atom.entities if (form := normal_form(entity))}
    links |= {("session", f"session:{atom.session_id}"): 0.5} if atom.session_id and not atom.is_segment else {}
    links |= {("evidence", evidence.segment): 1.0 for evidence in atom.evidence}
    links |= {("derived_from", target): 1.0 for target in atom.derived_from}
    links |= {("supersedes", target): 1.0 for target in atom.supersedes}
    return links | {(relation.name.value, relation.target): relation.confidence for relation in atom.relations}


class _RowIds:
    """Row numbers that are never used twice, so that a remembered number never means another row."""

    def __init__(self, last: int) -> None:
        self.last = last

    def next(self) -> int:
        self.last += 1
        return self.last


class SqliteIndex:
    """The search view of the journal."""

    def __init__(self, path: Path, store_id: str, *, vfs: str | None = None) -> None:
        self.db = Database(path, vfs=vfs)
        self._store_id = store_id
        with self.db.close_on_error():
            if not self._is_compatible():
                with self.db.write_transaction(durable=False):
                    if not self._is_compatible():
                        self._create(keep_tables=())

    def _is_compatible(self) -> bool:
        """Return whether the file is an index of this store, format and analyser."""
        tables = {row[0] for row in self.db.rows("SELECT name FROM sqlite_master WHERE type='table'")}
        if not {"meta", "scopes", "atoms", "passages", "terms", "edges", "rests", "former", *KEPT_TABLES} <= tables:
            return False
        meta = dict(self.db.rows("SELECT key, value FROM meta"))
        return all(meta.get(key) == value for key, value in self._build_info())

    def _build_info(self) -> list[tuple[str, object]]:
        """Return what an index depends on; another store, layout or analyser needs another index."""
        return [("store_id", self._store_id), ("format", FORMAT), ("analyser", ANALYSER_VERSION)]

    def _create(self, keep_tables: Collection[str]) -> None:
        for name, kind in self.db.rows("SELECT name, type FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'"):
            self.db.run(f'DROP {kind} "{name}"')
        for (name,) in self.db.rows("SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"):
            if name not in keep_tables:
                self.db.run(f'DROP TABLE "{name}"')
        self.db.run(_SCHEMA)
        self.db.run(_FORMER)
        self.db.run(SCHEMA)
        self.db.run_many(
            "INSERT INTO meta VALUES(?,?)",
            [*self._build_info(), ("applied_seq", 0), ("last_id", 0), ("edition", secrets.randbits(62))],
        )

    @property
    def position(self) -> int:
        """Return the journal position up to which the index is current."""
        return self._meta("applied_seq")

    @property
    def edition(self) -> int:
        """Return a number that changes when row numbers change or the data of a model was dropped."""
        return self._meta("edition")

    def reset(self) -> None:
        """Delete everything except vectors and token states; the caller has the write transaction open."""
        self._create(keep_tables=KEPT_TABLES)

    def apply(self, atoms: Iterable[Atom], seq: int, past: PastPassages | None = None) -> None:
        """Index these atoms as they are at a journal position; the caller has the write transaction open.

        `past`: the past passages of those that were rewritten.
        """
        batch, applied = _WriteBatch(), list(atoms)
        ids, indexed = _RowIds(self._meta("last_id")), self._indexed_atoms([atom.id for atom in applied])
        for atom in applied:
            self._apply_atom(atom, indexed.get(atom.id), batch, ids, seq)
        self._write(batch)
        self._put_past(past or {}, ids)
        self.db.run_many("UPDATE meta SET value=? WHERE key=?", [(seq, "applied_seq"), (ids.last, "last_id")])

    def drop_model(self, model: str) -> None:
        """Delete everything that a model computed; the caller has the write transaction open."""
        self.db.run("DELETE FROM states WHERE vector IN (SELECT id FROM vectors WHERE model=?)", (model,))
        self.db.run("DELETE FROM vectors WHERE model=?", (model,))
        self.db.run("INSERT OR REPLACE INTO meta VALUES('edition',?)", (secrets.randbits(62),))

    def drop_orphans(self) -> None:
        """Delete the vectors of texts that no longer exist; the caller has the write transaction open."""
        self.db.run("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM passages)")
        self.db.run("DELETE FROM states WHERE vector NOT IN (SELECT id FROM vectors)")

    def _apply_atom(self, atom: Atom, old: _IndexedAtom | None, batch: _WriteBatch, ids: _RowIds, seq: int) -> None:
        if atom.scope not in batch.scopes:
            batch.scopes[atom.scope] = self._scope_id(atom.scope)
        row = _IndexedAtom(old.id if old else ids.next(), batch.scopes[atom.scope], atom.status not in RECALL_WEIGHT)
        self._put_atom(atom, row, seq, batch, is_indexed=old is not None)
        passages = {passage.n: passage for passage in passages_of(atom)} if atom.is_searched else {}
        if old is not None:
            for passage_id, n, tokens, digest, speaker, at, asks, tells_of in self.db.rows(
                "SELECT id, n, tokens, digest, speaker, at, asks, tells_of FROM passages WHERE atom=?", (old.id,)
            ):
                indexed = _IndexedPassage(tokens, digest, speaker, at, bool(asks), tells_of)
                if old.is_shelved == row.is_shelved and n in passages and _is_indexed(atom, passages[n], indexed):
                    del passages[n]
                else:
                    batch.drop(old, passage_id, indexed)
        for n, passage in passages.items():
            batch.add(row, ids.next(), n, _to_indexed(atom, passage))
        if old is not None:
            self.db.run("DELETE FROM edges WHERE source=?", (atom.id,))
            self.db.run("DELETE FROM rests WHERE atom_id=?", (atom.id,))
        batch.edges += [(atom.id, *link, row.scope, confidence) for link, confidence in _edges_of(atom).items()]
        batch.rests += [
            (evidence.segment, evidence.passage, evidence.start, evidence.end, atom.id, row.scope)
            for evidence in dict.fromkeys(atom.evidence)
        ]

    def find_with_past(self, ids: Sequence[AtomId]) -> set[AtomId]:
        """Return those of the atoms that have past passages."""
        return find_with_past(self.db, ids)

    def _put_past(self, past: PastPassages, ids: _RowIds) -> None:
        atoms = self._indexed_atoms(list(past))
        for atom_id, passages in past.items():
            row = atoms[atom_id]
            table = past_table(row.scope)
            old_rows = self.db.rows("SELECT id, tokens FROM former WHERE atom=?", (row.id,))
            self.db.run_many(f"INSERT INTO {table}({table}, rowid, tokens) VALUES('delete',?,?)", old_rows)
            self.db.run("DELETE FROM former WHERE atom=?", (row.id,))
            new_passages = [(ids.next(), passage.n, _to_indexed(version, passage)) for version, passage in passages]
            self.db.run_many(
                "INSERT INTO former VALUES(?,?,?,?,?,?,?,?,?,?)", [_passage_row(row, *item) for item in new_passages]
            )
            rows = [(passage_id, indexed.tokens) for passage_id, _, indexed in new_passages]
            self.db.run_many(f"INSERT INTO {table}(rowid, tokens) VALUES(?,?)", rows)

    def _indexed_atoms(self, ids: Sequence[AtomId]) -> dict[AtomId, _IndexedAtom]:
        """Return those of the atoms that are indexed already."""
        indexed: dict[AtomId, _IndexedAtom] = {}
        for start in range(0, len(ids), 500):
            batch = ids[start : start + 500]
            for atom_id, row, scope, shelf in self.db.rows(
                f"SELECT atom_id, id, scope, shelf FROM atoms WHERE atom_id IN ({','.join('?' * len(batch))})", batch
            ):
                indexed[AtomId(atom_id)] = _IndexedAtom(row, scope, bool(shelf))
        return indexed

    def _put_atom(self, atom: Atom, row: _IndexedAtom, seq: int, batch: _WriteBatch, *, is_indexed: bool) -> None:
        values = (
            row.scope,
            atom.status.value,
            atom.memory_type.value,
            to_millis(atom.valid_from) if atom.valid_from else None,
            to_millis(atom.valid_until) if atom.valid_until else None,
            to_millis(atom.recorded_at or atom.observed_at),
            int(row.is_shelved),
            _session_key(atom),
            atom.layer.value,
            atom.origin.value,
            seq,
        )
        if is_indexed:
            self.db.run(
                "UPDATE atoms SET scope=?, status=?, memory_type=?, valid_from=?, valid_until=?, recorded_at=?, "
                "shelf=?, session=?, layer=?, origin=?, seq=? WHERE id=?",
                (*values, row.id),
            )
        else:
            batch.atoms.append((row.id, atom.id, *values))

    def _meta(self, key: str) -> int:
        row = self.db.one("SELECT value FROM meta WHERE key=?", (key,))
        return int(row[0]) if row else 0

    def _scope_id(self, scope: Scope) -> int:
        row = self.db.one("SELECT id FROM scopes WHERE scope=?", (scope,))
        if row:
            return int(row[0])
        self.db.run("INSERT INTO scopes(scope, passages, tokens) VALUES(?,0,0)", (scope,))
        (number,) = self.db.rows("SELECT id FROM scopes WHERE scope=?", (scope,))[0]
        for table in (text_table(number, is_shelved=False), text_table(number, is_shelved=True), past_table(number)):
            self.db.run(f"CREATE VIRTUAL TABLE {table} USING fts5(tokens, content='', tokenize='ascii')")
        return int(number)

    def _write(self, batch: _WriteBatch) -> None:
        for (scope, shelf), rows in batch.dropped.items():
            table = text_table(scope, is_shelved=shelf)
            self.db.run_many(f"INSERT INTO {table}({table}, rowid, tokens) VALUES('delete',?,?)", rows)
            self.db.run_many("DELETE FROM passages WHERE id=?", [(passage_id,) for passage_id, _ in rows])
        self.db.run_many(f"INSERT INTO atoms({_ATOM_COLUMNS}) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", batch.atoms)
        self.db.run_many("INSERT INTO edges VALUES(?,?,?,?,?)", batch.edges)
        self.db.run_many("INSERT INTO rests VALUES(?,?,?,?,?,?)", batch.rests)
        self.db.run_many("INSERT INTO passages VALUES(?,?,?,?,?,?,?,?,?,?)", batch.passages)
        self._drop_orphaned_vectors(batch.orphans)
        for (scope, shelf), rows in batch.text.items():
            self.db.run_many(f"INSERT INTO {text_table(scope, is_shelved=shelf)}(rowid, tokens) VALUES(?,?)", rows)
        for scope, counter in batch.terms.items():
            self.db.run_many(
                "INSERT INTO terms VALUES(?,?,?) ON CONFLICT DO UPDATE SET passages=passages+excluded.passages",
                [(scope, term, count) for term, count in sorted(counter.items()) if count],
            )
            if min(counter.values(), default=0) < 0:
                self.db.run("DELETE FROM terms WHERE scope=? AND passages<=0", (scope,))
        for scope in batch.counts.keys() | batch.lengths.keys():
            self.db.run(
                "UPDATE scopes SET passages=passages+?, tokens=tokens+? WHERE id=?",
                (batch.counts[scope], batch.lengths[scope], scope),
            )

    def _drop_orphaned_vectors(self, digests: Iterable[bytes]) -> None:
        orphans = [
            (digest,) for digest in digests if not self.db.one("SELECT 1 FROM passages WHERE digest=?", (digest,))
        ]
        self.db.run_many("DELETE FROM states WHERE vector IN (SELECT id FROM vectors WHERE digest=?)", orphans)
        self.db.run_many("DELETE FROM vectors WHERE digest=?", orphans)

    def search_text(self, query: TextQuery) -> list[TextMatch]:
        """Return the best passages for the tokens."""
        with self.db.read_transaction():
            return search(self.db, query)

    def search_past(self, query: TextQuery) -> list[tuple[TextMatch, NearPassage]]:
        """Return the best past passages for the tokens."""
        with self.db.read_transaction():
            return search_past(self.db, query)

    def edges(self, ids: Sequence[str], scopes: Sequence[Scope], statuses: Collection[Status] | None) -> list[Edge]:
        """Return the links from or to these atoms or shared things."""
        id_list, scope_list = ",".join("?" * len(ids)), ",".join("?" * len(scopes))
        status_values = [] if statuses is None else [status.value for status in statuses]
        status_sql = "" if statuses is None else f"AND a.status IN ({','.join('?' * len(status_values))}) "
        return [
            Edge(AtomId(source), name, target, confidence)
            for source, name, target, confidence in self.db.rows(
                "SELECT e.source, e.name, e.target, e.confidence FROM edges e JOIN scopes s ON s.id=e.scope "
                "JOIN atoms a ON a.atom_id=e.source LEFT JOIN atoms t ON t.atom_id=e.target "
                f"WHERE (e.source IN ({id_list}) OR e.target IN ({id_list})) AND s.scope IN ({scope_list}) {status_sql}"
                f"AND (t.id IS NULL OR t.scope IN (SELECT id FROM scopes WHERE scope IN ({scope_list}))) "
                "ORDER BY 1, 2, 3",
                (*ids, *ids, *scopes, *status_values, *scopes),
            )
        ]

    def find_relations(
        self,
        name: RelationName,
        scopes: Sequence[Scope],
        statuses: Collection[Status],
        targets: Collection[AtomId] | None,
    ) -> list[Edge]:
        """Return every relation of a name from atoms with these statuses."""
        scope_marks, status_values = ",".join("?" * len(scopes)), [status.value for status in statuses]
        # The name is part of the SQL text, because SQLite uses a partial index only then.
        sql = (
            "SELECT e.source, e.target, e.confidence FROM edges e JOIN atoms a ON a.atom_id=e.source "
            f"JOIN atoms t ON t.atom_id=e.target WHERE e.name='{name.value}' "
            f"AND e.scope IN (SELECT id FROM scopes WHERE scope IN ({scope_marks})) "
            f"AND t.scope IN (SELECT id FROM scopes WHERE scope IN ({scope_marks})) "
            f"AND a.status IN ({','.join('?' * len(status_values))}) "
            + ("" if targets is None else "AND e.target IN (SELECT value FROM json_each(?)) ")
            + "ORDER BY 1, 2"
        )
        target_values = () if targets is None else (json.dumps(sorted(targets)),)
        rows = self.db.rows(sql, (*scopes, *scopes, *status_values, *target_values))
        return [Edge(AtomId(source), name.value, target, confidence) for source, target, confidence in rows]

    def find_successors(self, ids: Collection[AtomId], scopes: Sequence[Scope]) -> dict[AtomId, list[AtomId]]:
        """Return for each atom its nearest successors whose status is not an end status."""
        scope_marks, ended = ",".join("?" * len(scopes)), ",".join(f"'{status.value}'" for status in sorted(ENDED))
        rows = self.db.rows(
            "WITH RECURSIVE own(id) AS (SELECT id FROM scopes WHERE scope IN (" + scope_marks + ")), "
            "walk(start, id) AS (SELECT value, value FROM json_each(?) UNION "
            "SELECT w.start, e.source FROM walk w JOIN atoms a ON a.atom_id=w.id JOIN edges e ON e.target=w.id "
            f"WHERE e.name='supersedes' AND e.scope IN own AND a.status IN ({ended})) "
            "SELECT w.start, w.id FROM walk w JOIN atoms a ON a.atom_id=w.id "
            f"WHERE a.status NOT IN ({ended}) AND a.scope IN own ORDER BY 1, 2",
            (*scopes, json.dumps(sorted(ids))),
        )
        successors: dict[AtomId, list[AtomId]] = {}
        for start, successor in rows:
            successors.setdefault(AtomId(start), []).append(AtomId(successor))
        return successors

    def find_evidence_spans(self, keys: Sequence[tuple[AtomId, int]], scopes: Sequence[Scope]) -> list[EvidenceSpan]:
        """Return which atoms of these scopes rest on the passages, in text order."""
        scope_marks = ",".join("?" * len(scopes))
        return [
            EvidenceSpan(AtomId(atom_id), AtomId(segment), n, start, end)
            for segment, n, start, end, atom_id in self.db.rows(
                "SELECT r.segment, r.n, r.start, r.end, r.atom_id FROM json_each(?) k JOIN rests r "
                "ON r.segment=k.value->>0 AND r.n=k.value->>1 JOIN scopes s ON s.id=r.scope "
                f"WHERE s.scope IN ({scope_marks}) ORDER BY 1, 2, 3, 4, 5",
                (json.dumps(sorted(set(keys))), *scopes),
            )
        ]

    def dump(self) -> list[str]:
        """Return the content of the index in canonical order."""
        with self.db.read_transaction():
            return list(dump(self.db))
