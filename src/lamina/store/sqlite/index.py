"""index.db: what machines search. Derived from the journal, disposable, never older than asked for.

Each scope has text tables and statistics of its own, over its recallable passages only, so that nothing a caller may
not see can move a score. Passages that normal recall does not search (superseded, waiting for review, …) stand on a
shelf of their own and are scored by the statistics of the recallable ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.passage import passages_of
from lamina.atom.scope import Scope
from lamina.atom.status import ENDED, RECALL_WEIGHT, Status
from lamina.store.base import Edge, Match, TextQuery
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.history import millis, moment
from lamina.text.analyse import ANALYSER, analyse

FORMAT = 1
K1, B = 1.2, 0.75
SELECTIVE_SHARE = 0.05
"""A word in more passages than this share does not bring candidates; it still counts in their scores."""
CANDIDATES = 100

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE scopes(id INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE, passages INTEGER NOT NULL, tokens INTEGER NOT NULL);
CREATE TABLE atoms(
  id INTEGER PRIMARY KEY, atom_id TEXT NOT NULL UNIQUE, scope INTEGER NOT NULL, status TEXT NOT NULL,
  memory_type TEXT NOT NULL, valid_from INTEGER, valid_until INTEGER, recorded_at INTEGER NOT NULL,
  shelf INTEGER NOT NULL);
CREATE TABLE passages(id INTEGER PRIMARY KEY, atom INTEGER NOT NULL, n INTEGER NOT NULL, length INTEGER NOT NULL, tokens TEXT NOT NULL);
CREATE INDEX passages_of ON passages(atom, n);
CREATE TABLE terms(scope INTEGER NOT NULL, term TEXT NOT NULL, passages INTEGER NOT NULL, PRIMARY KEY(scope, term)) WITHOUT ROWID;
CREATE TABLE edges(
  source TEXT NOT NULL, name TEXT NOT NULL, target TEXT NOT NULL, scope INTEGER NOT NULL, confidence REAL NOT NULL,
  PRIMARY KEY(source, name, target)) WITHOUT ROWID;
CREATE INDEX edges_to ON edges(target);
"""


@dataclass(frozen=True, slots=True)
class _Row:
    """An atom as the index holds it."""

    id: int
    scope: int
    shelf: bool


@dataclass(frozen=True, slots=True)
class _Statistics:
    """Of one scope: how many passages, how long on average, and in how many each token stands."""

    passages: int
    mean_length: float
    holding: dict[str, int]

    def weight(self, token: str) -> float:
        n = self.holding.get(token, 0)
        return math.log(1 + (self.passages - n + 0.5) / (n + 0.5))


class _Batch:
    """Rows gathered for one write, so that a thousand atoms cost a few statements."""

    def __init__(self) -> None:
        self.passages: list[tuple[int, int, int, int, str]] = []
        self.text: dict[tuple[int, bool], list[tuple[int, str]]] = {}
        self.dropped: dict[tuple[int, bool], list[tuple[int, str]]] = {}
        self.terms: dict[int, Counter[str]] = {}
        self.counts: Counter[int] = Counter()
        self.lengths: Counter[int] = Counter()

    def add(self, row: _Row, passage_id: int, n: int, tokens: list[str]) -> None:
        text = " ".join(tokens)
        self.passages.append((passage_id, row.id, n, len(tokens), text))
        self.text.setdefault((row.scope, row.shelf), []).append((passage_id, text))
        self._count(row, tokens, 1)

    def drop(self, row: _Row, passage_id: int, tokens: str) -> None:
        self.dropped.setdefault((row.scope, row.shelf), []).append((passage_id, tokens))
        self._count(row, tokens.split(), -1)

    def _count(self, row: _Row, tokens: list[str], sign: int) -> None:
        if not row.shelf:
            counter = self.terms.setdefault(row.scope, Counter())
            for token in set(tokens):
                counter[token] += sign
            self.counts[row.scope] += sign
            self.lengths[row.scope] += sign * len(tokens)


class Index:
    """The search view of the journal."""

    def __init__(self, path: Path, store_id: str, *, vfs: str | None = None) -> None:
        self.db = Database(path, vfs=vfs)
        self._store_id = store_id
        if not self._is_ours():
            with self.db.writing(durable=False):
                if not self._is_ours():
                    self._create()

    def _is_ours(self) -> bool:
        tables = {row[0] for row in self.db.rows("SELECT name FROM sqlite_master WHERE type='table'")}
        if not {"meta", "scopes", "atoms", "passages", "terms", "edges"} <= tables:
            return False
        known = dict(self.db.rows("SELECT key, value FROM meta"))
        return all(known.get(key) == value for key, value in self._maker())

    def _maker(self) -> list[tuple[str, object]]:
        """What the index hangs on; another store, layout or analyser means another index."""
        return [("store_id", self._store_id), ("format", FORMAT), ("analyser", ANALYSER)]

    def _create(self) -> None:
        for name, kind in self.db.rows("SELECT name, type FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'"):
            self.db.run(f'DROP {kind} "{name}"')
        for (name,) in self.db.rows("SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"):
            self.db.run(f'DROP TABLE "{name}"')
        self.db.run(_SCHEMA)
        self.db.run_many("INSERT INTO meta VALUES(?,?)", [*self._maker(), ("applied_seq", 0)])

    @property
    def applied(self) -> int:
        found = self.db.one("SELECT value FROM meta WHERE key='applied_seq'")
        return int(found[0]) if found else 0

    def empty(self) -> None:
        """Start anew; the caller holds the write transaction."""
        self._create()

    def apply(self, atoms: Iterable[Atom], seq: int) -> None:
        """Make these atoms searchable as they are at a journal position; the caller holds the write transaction."""
        batch = _Batch()
        ids = self._free_ids()
        for atom in atoms:
            self._apply_one(atom, batch, ids)
        self._write(batch)
        self.db.run("UPDATE meta SET value=? WHERE key='applied_seq'", (seq,))

    def _apply_one(self, atom: Atom, batch: _Batch, ids: Iterator[int]) -> None:
        old, kept = self._row(atom.id), {}
        row = _Row(old.id if old else next(ids), self._scope_id(atom.scope), atom.status not in RECALL_WEIGHT)
        self._put_atom(atom, row, known=old is not None)
        wanted = {
            each.n: analyse(f"{each.speaker}: {each.text}" if each.speaker else each.text) for each in passages_of(atom)
        }
        if old is not None:
            for passage_id, n, tokens in self.db.rows("SELECT id, n, tokens FROM passages WHERE atom=?", (old.id,)):
                if old.shelf == row.shelf and n in wanted and tokens == " ".join(wanted[n]):
                    kept[n] = passage_id
                else:
                    batch.drop(old, passage_id, tokens)
        for n, found in wanted.items():
            if n not in kept:
                batch.add(row, next(ids), n, found)
        self._put_edges(atom, row, known=old is not None)

    def _row(self, atom_id: AtomId) -> _Row | None:
        found = self.db.one("SELECT id, scope, shelf FROM atoms WHERE atom_id=?", (atom_id,))
        return _Row(found[0], found[1], bool(found[2])) if found else None

    def _put_atom(self, atom: Atom, row: _Row, *, known: bool) -> None:
        values = (
            row.scope, atom.status.value, atom.memory_type.value, millis(atom.valid_from) if atom.valid_from else None,
            millis(atom.valid_until) if atom.valid_until else None, millis(atom.recorded_at or atom.observed_at),
            int(row.shelf),
        )  # fmt: skip
        if known:
            self.db.run(
                "UPDATE atoms SET scope=?, status=?, memory_type=?, valid_from=?, valid_until=?, recorded_at=?, shelf=? WHERE id=?",
                (*values, row.id),
            )
        else:
            self.db.run("INSERT INTO atoms VALUES(?,?,?,?,?,?,?,?,?)", (row.id, atom.id, *values))

    def _put_edges(self, atom: Atom, row: _Row, *, known: bool) -> None:
        if known:
            self.db.run("DELETE FROM edges WHERE source=?", (atom.id,))
        links = {(each.name.value, each.target): each.confidence for each in atom.relations}
        links |= {("supersedes", target): 1.0 for target in atom.supersedes}
        self.db.run_many(
            "INSERT INTO edges VALUES(?,?,?,?,?)",
            [(atom.id, name, target, row.scope, confidence) for (name, target), confidence in links.items()],
        )

    def _free_ids(self) -> Iterator[int]:
        found = self.db.one(
            "SELECT max((SELECT coalesce(max(id),0) FROM atoms), (SELECT coalesce(max(id),0) FROM passages))"
        )
        last = int(found[0]) if found else 0
        while True:
            last += 1
            yield last

    def _scope_id(self, scope: Scope) -> int:
        found = self.db.one("SELECT id FROM scopes WHERE scope=?", (scope,))
        if found:
            return int(found[0])
        self.db.run("INSERT INTO scopes(scope, passages, tokens) VALUES(?,0,0)", (scope,))
        (number,) = self.db.rows("SELECT id FROM scopes WHERE scope=?", (scope,))[0]
        for table in (_table(number, shelf=False), _table(number, shelf=True)):
            self.db.run(f"CREATE VIRTUAL TABLE {table} USING fts5(tokens, content='', tokenize='ascii')")
        return int(number)

    def _write(self, batch: _Batch) -> None:
        for (scope, shelf), rows in batch.dropped.items():
            table = _table(scope, shelf=shelf)
            self.db.run_many(f"INSERT INTO {table}({table}, rowid, tokens) VALUES('delete',?,?)", rows)
            self.db.run_many("DELETE FROM passages WHERE id=?", [(passage_id,) for passage_id, _ in rows])
        self.db.run_many("INSERT INTO passages VALUES(?,?,?,?,?)", batch.passages)
        for (scope, shelf), rows in batch.text.items():
            self.db.run_many(f"INSERT INTO {_table(scope, shelf=shelf)}(rowid, tokens) VALUES(?,?)", rows)
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

    def search(self, query: TextQuery) -> list[Match]:
        """The best passages of each scope, by BM25 with that scope's statistics; more than the limit where they tie."""
        found: list[Match] = []
        with self.db.reading():
            for scope in dict.fromkeys(query.scopes):
                known = self.db.one("SELECT id, passages, tokens FROM scopes WHERE scope=?", (scope,))
                if known:
                    found += self._search_scope(known[0], known[1], known[2], query)
        return found

    def _search_scope(self, scope: int, passages: int, total: int, query: TextQuery) -> list[Match]:
        marks = ",".join("?" * len(query.tokens))
        holding = dict(
            self.db.rows(
                f"SELECT term, passages FROM terms WHERE scope=? AND term IN ({marks})", (scope, *query.tokens)
            )
        )
        statistics = _Statistics(passages, total / passages if passages else 1.0, holding)
        found: list[Match] = []
        if query.statuses & RECALL_WEIGHT.keys():
            found += self._search_table(scope, False, statistics, query)
        if query.statuses - RECALL_WEIGHT.keys():
            found += self._search_table(scope, True, statistics, query)
        return found

    def _search_table(self, scope: int, shelf: bool, statistics: _Statistics, query: TextQuery) -> list[Match]:
        table = _table(scope, shelf=shelf)
        expression = _any_of(query.tokens) if shelf or query.exhaustive else _pruned(query.tokens, statistics)
        if not expression:
            return []
        limit = max(CANDIDATES, 5 * query.limit)
        while True:
            ranked = self.db.rows(
                f"SELECT rowid, rank FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT ?", (expression, limit + 1)
            )
            complete = len(ranked) <= limit
            # Passages that tie at the cut are all taken or none, else the choice would hang on row numbers.
            if not complete:
                ranked = [row for row in ranked if row[1] < ranked[-1][1]]
            found = self._scored([row[0] for row in ranked], statistics, query)
            if complete or len(found) >= query.limit:
                return found
            limit *= 4

    def _scored(self, ids: Sequence[int], statistics: _Statistics, query: TextQuery) -> list[Match]:
        at = millis(query.valid_at)
        found: list[Match] = []
        for atom_id, n, length, tokens, status, memory_type, start, end, recorded in self._fetch(ids):
            if status not in query.statuses or memory_type not in query.memory_types:
                continue
            if status not in ENDED and ((start is not None and at < start) or (end is not None and at >= end)):
                continue
            parts = _parts(tokens.split(), length, statistics, query.tokens)
            found.append(Match(AtomId(atom_id), n, Status(status), moment(recorded), parts))
        return found

    def _fetch(self, ids: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(ids), 500):
            chunk = ids[start : start + 500]
            yield from self.db.rows(
                "SELECT a.atom_id, p.n, p.length, p.tokens, a.status, a.memory_type, a.valid_from, a.valid_until, "
                "a.recorded_at "
                f"FROM passages p JOIN atoms a ON a.id=p.atom WHERE p.id IN ({','.join('?' * len(chunk))})",
                chunk,
            )

    def edges(self, ids: Sequence[AtomId], scopes: Sequence[Scope]) -> list[Edge]:
        one, other = ",".join("?" * len(ids)), ",".join("?" * len(scopes))
        return [
            Edge(AtomId(source), name, AtomId(target), confidence)
            for source, name, target, confidence in self.db.rows(
                "SELECT e.source, e.name, e.target, e.confidence FROM edges e JOIN scopes s ON s.id=e.scope "
                f"WHERE (e.source IN ({one}) OR e.target IN ({one})) AND s.scope IN ({other}) ORDER BY 1, 2, 3",
                (*ids, *ids, *scopes),
            )
        ]

    def dump(self) -> Iterator[str]:
        """Everything the index holds, in an order and wording that do not hang on row numbers; what equality means."""
        with self.db.reading():
            names = dict(
                self.db.rows("SELECT id, scope FROM scopes WHERE passages>0 OR id IN (SELECT scope FROM atoms)")
            )
            yield from _told("scope", self.db.rows("SELECT scope, passages, tokens FROM scopes ORDER BY scope"), names)
            yield from _told("atom", self.db.rows(
                "SELECT a.atom_id, s.scope, a.status, a.memory_type, a.valid_from, a.valid_until, a.recorded_at, a.shelf FROM atoms a "
                "JOIN scopes s ON s.id=a.scope ORDER BY 1"))  # fmt: skip
            yield from _told("passage", self.db.rows(
                "SELECT a.atom_id, p.n, p.length, p.tokens FROM passages p JOIN atoms a ON a.id=p.atom ORDER BY 1, 2"))  # fmt: skip
            yield from _told("term", self.db.rows(
                "SELECT s.scope, t.term, t.passages FROM terms t JOIN scopes s ON s.id=t.scope ORDER BY 1, 2"))  # fmt: skip
            yield from _told("edge", self.db.rows(
                "SELECT e.source, e.name, e.target, s.scope, e.confidence FROM edges e JOIN scopes s ON s.id=e.scope ORDER BY 1, 2, 3"))  # fmt: skip
            for number, scope in sorted(names.items(), key=lambda item: item[1]):
                for shelf in (False, True):
                    yield from self._dump_text(number, scope, shelf)

    def _dump_text(self, number: int, scope: str, shelf: bool) -> Iterator[str]:
        table = _table(number, shelf=shelf)
        self.db.run(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, '{table}', 'instance')")
        rows = self.db.rows(
            "SELECT v.term, a.atom_id, p.n, count(*) FROM temp.vocabulary v LEFT JOIN passages p ON p.id=v.doc "
            "LEFT JOIN atoms a ON a.id=p.atom GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        )
        self.db.run("DROP TABLE temp.vocabulary")
        yield from _told(f"text {scope} {'shelf' if shelf else 'current'}", rows)


def _table(scope: int, *, shelf: bool) -> str:
    return f"{'shelf' if shelf else 'text'}_{scope}"


def _any_of(tokens: Iterable[str]) -> str:
    return " OR ".join(f'"{token}"' for token in tokens)


def _pruned(tokens: Sequence[str], statistics: _Statistics) -> str:
    """Passages that hold a selective word; common words then only add to their scores.

    FTS5 scores every match of a common word, and a passage that holds nothing but common words of the question
    hardly ever comes out on top. Where all words are common the rarest brings the candidates.
    """
    known = sorted(
        (token for token in tokens if statistics.holding.get(token)), key=lambda each: (statistics.holding[each], each)
    )
    ceiling = max(SELECTIVE_SHARE * statistics.passages, 1000)
    selective = [token for token in known if statistics.holding[token] <= ceiling] or known[:1]
    if len(selective) == len(known):
        return _any_of(selective)
    return f"({_any_of(selective)}) AND ({_any_of(known)})"


def _parts(
    tokens: list[str], length: int, statistics: _Statistics, wanted: Sequence[str]
) -> tuple[tuple[str, float], ...]:
    """What each wanted token adds: BM25 with an idf that never goes below zero."""
    norm = K1 * (1 - B + B * length / statistics.mean_length)
    parts = []
    for token in wanted:
        times = tokens.count(token)
        if times:
            parts.append((token, statistics.weight(token) * times * (K1 + 1) / (times + norm)))
    return tuple(parts)


def _told(what: str, rows: Iterable[Sequence[Any]], names: dict[int, str] | None = None) -> Iterator[str]:
    for row in rows:
        if names is None or row[0] in names.values():
            yield f"{what}: {row!r}"
