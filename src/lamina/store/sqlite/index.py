"""index.db: the search view of the journal. Derived, disposable, and caught up before it is read.

Each scope has its own text tables and statistics, over its recallable passages only, so that nothing a caller may not
see can change a score. Passages that ordinary recall does not search (superseded, pending review, …) are in a separate
table (the shelf) and are scored with the statistics of the recallable ones.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lamina.atom.atom import Atom, AtomId
from lamina.atom.passage import passages_of
from lamina.atom.provenance import Scope
from lamina.atom.status import RECALL_WEIGHT
from lamina.store.sqlite.database import CorruptDatabase, Database
from lamina.store.sqlite.index_dump import dump
from lamina.store.sqlite.index_rows import (
    PAST_SCHEMA,
    IndexedAtom,
    IndexedPassage,
    PastPassages,
    RowIds,
    WriteBatch,
    edges_of,
    is_indexed,
    join_agents,
    passage_row,
    past_table,
    session_key,
    text_table,
    to_indexed,
)
from lamina.store.sqlite.precision import KEPT_TABLES, SCHEMA
from lamina.text.analyser import ANALYSER_VERSION
from lamina.text.timestamps import to_millis

FORMAT = 8
PAGE_BYTES = 4096

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE scopes(
  id INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE, passages INTEGER NOT NULL, tokens INTEGER NOT NULL);
CREATE TABLE atoms(
  id INTEGER PRIMARY KEY, atom_id TEXT NOT NULL UNIQUE, scope INTEGER NOT NULL, status TEXT NOT NULL,
  memory_type TEXT NOT NULL, valid_from INTEGER, valid_until INTEGER, recorded_at INTEGER NOT NULL,
  shelf INTEGER NOT NULL, session TEXT NOT NULL, layer TEXT NOT NULL, origin TEXT NOT NULL,
  agents TEXT NOT NULL, seq INTEGER NOT NULL, bits INTEGER NOT NULL DEFAULT 32);
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
_PUT_ATOM = """INSERT INTO atoms(
  id, atom_id, scope, status, memory_type, valid_from, valid_until, recorded_at, shelf, session, layer, origin, agents,
  seq) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO UPDATE SET scope=excluded.scope, status=excluded.status,
  memory_type=excluded.memory_type, valid_from=excluded.valid_from, valid_until=excluded.valid_until,
  recorded_at=excluded.recorded_at, shelf=excluded.shelf, session=excluded.session, layer=excluded.layer,
  origin=excluded.origin, agents=excluded.agents, seq=excluded.seq
"""
_READ_STATE = (
    "SELECT (SELECT value FROM meta WHERE key='applied_seq'), (SELECT value FROM meta WHERE key='edition'), "
    "(SELECT texts FROM room WHERE what='moves'), (SELECT seq FROM sqlite_sequence WHERE name='vectors'), "
    "(SELECT sum(texts) FROM room WHERE what='vectors' AND bits<32)"
)


class IndexState(NamedTuple):
    """Numbers that show whether anything read from the index before is still what it contains.

    `position`: the journal position it follows; `edition`: changes when row numbers change or the data of a model was
    dropped; `moves`: counts changes of precision; `last_vector`: the last row of vectors that was ever written;
    `coarse_count`: how many texts have vectors below full precision.
    """

    position: int = 0
    edition: int = 0
    moves: int = 0
    last_vector: int = 0
    coarse_count: int = 0


class SqliteIndex:
    """The search view of the journal. `state` is the state that was last read."""

    def __init__(self, path: Path, store_id: str, *, vfs: str | None = None) -> None:
        self.db = Database(path, vfs=vfs)
        self.state = IndexState()
        self._store_id = store_id
        with self.db.close_on_error():
            _check_length(path)
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
        self.db.run(PAST_SCHEMA)
        self.db.run(SCHEMA)
        self.db.run_many(
            "INSERT INTO meta VALUES(?,?)",
            [*self._build_info(), ("applied_seq", 0), ("last_id", 0), ("edition", secrets.randbits(62))],
        )

    def read_state(self) -> IndexState:
        """Read the state of this moment, keep it as `state` and return it."""
        (row,) = self.db.rows(_READ_STATE)
        self.state = IndexState(*(int(number or 0) for number in row))
        return self.state

    def edition_now(self) -> int:
        """Return the edition at this moment, whatever `state` says."""
        return self._meta("edition")

    def reset(self) -> None:
        """Delete everything except vectors and token states; the caller has the write transaction open."""
        self._create(keep_tables=KEPT_TABLES)

    def apply(self, atoms: Sequence[Atom], indexed: Mapping[AtomId, IndexedAtom], seq: int, past: PastPassages) -> None:
        """Index these atoms as they are at a journal position; the caller has the write transaction open.

        `indexed`: those that are indexed already. `past`: the past passages of those that were rewritten.
        """
        batch, ids = WriteBatch(), RowIds(self._meta("last_id"))
        batch.scopes = {atom.scope: indexed[atom.id].scope for atom in atoms if atom.id in indexed}
        passages = self._read_passages(indexed.values())
        for atom in atoms:
            row = indexed.get(atom.id)
            self._apply_atom(atom, row, passages.get(row.id, []) if row else [], batch, ids, seq)
        self._write(batch)
        if past:
            self._put_past(past, ids)
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

    def _read_passages(self, atoms: Iterable[IndexedAtom]) -> dict[int, list[tuple[int, int, IndexedPassage]]]:
        """Return the indexed passages of these atoms, by atom: the row, the number and the passage of each."""
        passages: dict[int, list[tuple[int, int, IndexedPassage]]] = {}
        rows = json.dumps([atom.id for atom in atoms])
        for atom, passage_id, n, tokens, digest, speaker, at, asks, tells_of in self.db.rows(
            "SELECT atom, id, n, tokens, digest, speaker, at, asks, tells_of FROM passages "
            "WHERE atom IN (SELECT value FROM json_each(?))",
            (rows,),
        ):
            indexed = IndexedPassage(tokens, digest, speaker, at, bool(asks), tells_of)
            passages.setdefault(atom, []).append((passage_id, n, indexed))
        return passages

    def _apply_atom(
        self,
        atom: Atom,
        old: IndexedAtom | None,
        old_passages: Iterable[tuple[int, int, IndexedPassage]],
        batch: WriteBatch,
        ids: RowIds,
        seq: int,
    ) -> None:
        if atom.scope not in batch.scopes:
            batch.scopes[atom.scope] = self._scope_id(atom.scope)
        row = IndexedAtom(old.id if old else ids.next(), batch.scopes[atom.scope], atom.status not in RECALL_WEIGHT)
        batch.atoms.append(_atom_row(atom, row, seq))
        passages = {passage.n: passage for passage in passages_of(atom)} if atom.is_searched else {}
        if old is not None:
            batch.reindexed.append((atom.id,))
            for passage_id, n, indexed in old_passages:
                if old.is_shelved == row.is_shelved and n in passages and is_indexed(atom, passages[n], indexed):
                    del passages[n]
                else:
                    batch.drop(old, passage_id, indexed)
        for n, passage in passages.items():
            batch.add(row, ids.next(), n, to_indexed(atom, passage))
        batch.edges += [(atom.id, *link, row.scope, confidence) for link, confidence in edges_of(atom).items()]
        batch.rests += [
            (evidence.segment, evidence.passage, evidence.start, evidence.end, atom.id, row.scope)
            for evidence in dict.fromkeys(atom.evidence)
        ]

    def _put_past(self, past: PastPassages, ids: RowIds) -> None:
        atoms = self.find_indexed(list(past))
        for atom_id, passages in past.items():
            row = atoms[atom_id]
            table = past_table(row.scope)
            old_rows = self.db.rows("SELECT id, tokens FROM former WHERE atom=?", (row.id,))
            self.db.run_many(f"INSERT INTO {table}({table}, rowid, tokens) VALUES('delete',?,?)", old_rows)
            self.db.run("DELETE FROM former WHERE atom=?", (row.id,))
            new_passages = [(ids.next(), passage.n, to_indexed(version, passage)) for version, passage in passages]
            self.db.run_many(
                "INSERT INTO former VALUES(?,?,?,?,?,?,?,?,?,?)", [passage_row(row, *item) for item in new_passages]
            )
            rows = [(passage_id, indexed.tokens) for passage_id, _, indexed in new_passages]
            self.db.run_many(f"INSERT INTO {table}(rowid, tokens) VALUES(?,?)", rows)

    def find_indexed(self, ids: Sequence[AtomId]) -> dict[AtomId, IndexedAtom]:
        """Return those of the atoms that are indexed already."""
        rows = self.db.rows(
            "SELECT atom_id, id, scope, shelf, EXISTS(SELECT 1 FROM former f WHERE f.atom=a.id) FROM atoms a "
            "WHERE atom_id IN (SELECT value FROM json_each(?))",
            (json.dumps(ids),),
        )
        return {
            AtomId(atom_id): IndexedAtom(row, scope, bool(shelf), bool(past))
            for atom_id, row, scope, shelf, past in rows
        }

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

    def _write(self, batch: WriteBatch) -> None:
        for (scope, shelf), rows in batch.dropped.items():
            table = text_table(scope, is_shelved=shelf)
            self.db.run_many(f"INSERT INTO {table}({table}, rowid, tokens) VALUES('delete',?,?)", rows)
            self.db.run_many("DELETE FROM passages WHERE id=?", [(passage_id,) for passage_id, _ in rows])
        self.db.run_many("DELETE FROM edges WHERE source=?", batch.reindexed)
        self.db.run_many("DELETE FROM rests WHERE atom_id=?", batch.reindexed)
        self.db.run_many(_PUT_ATOM, batch.atoms)
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

    def dump(self) -> list[str]:
        """Return the content of the index in canonical order."""
        with self.db.read_transaction():
            return list(dump(self.db))


def _atom_row(atom: Atom, row: IndexedAtom, seq: int) -> tuple[object, ...]:
    return (
        row.id,
        atom.id,
        row.scope,
        atom.status.value,
        atom.memory_type.value,
        to_millis(atom.valid_from) if atom.valid_from else None,
        to_millis(atom.valid_until) if atom.valid_until else None,
        to_millis(atom.recorded_at or atom.observed_at),
        int(row.is_shelved),
        session_key(atom),
        atom.layer.value,
        atom.origin.value,
        join_agents(atom.agents),
        seq,
    )


def _check_length(path: Path) -> None:
    """Raise CorruptDatabase if the last page of the file is cut off: SQLite would read zeros in place of its end."""
    wal = path.with_name(f"{path.name}-wal")
    is_being_written = wal.exists() and wal.stat().st_size > 0
    if path.exists() and path.stat().st_size % PAGE_BYTES and not is_being_written:
        raise CorruptDatabase(f"{path.name} ends within a page")
