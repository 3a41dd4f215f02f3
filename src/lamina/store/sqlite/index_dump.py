"""The content of an index in an order that does not depend on row numbers: equal dumps mean equal indexes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lamina.store.sqlite.database import Database
from lamina.store.sqlite.index_rows import past_table, text_table

_DUMP_QUERIES = {
    "atom": "SELECT a.atom_id, s.scope, a.status, a.memory_type, a.valid_from, a.valid_until, a.recorded_at, "
    "a.shelf, a.session, a.layer, a.origin, a.agents "
    "FROM atoms a JOIN scopes s ON s.id=a.scope ORDER BY 1",
    "passage": "SELECT a.atom_id, p.n, p.length, p.tokens, hex(p.digest), p.speaker, p.at, p.asks, p.tells_of "
    "FROM passages p JOIN atoms a ON a.id=p.atom ORDER BY 1, 2",
    "former": "SELECT a.atom_id, f.n, f.length, f.tokens, hex(f.digest), f.speaker, f.at, f.asks, f.tells_of "
    "FROM former f JOIN atoms a ON a.id=f.atom ORDER BY 1, 2, 4, 5, 6, 7",
    "term": "SELECT s.scope, t.term, t.passages FROM terms t JOIN scopes s ON s.id=t.scope ORDER BY 1, 2",
    "edge": "SELECT e.source, e.name, e.target, s.scope, e.confidence FROM edges e JOIN scopes s ON s.id=e.scope "
    "ORDER BY 1, 2, 3",
    "rest": "SELECT r.segment, r.n, r.start, r.end, r.atom_id, s.scope FROM rests r JOIN scopes s ON s.id=r.scope "
    "ORDER BY 1, 2, 3, 4, 5",
}


def dump(db: Database) -> Iterator[str]:
    """Yield every row and every word of an index."""
    scopes = db.rows("SELECT scope, id, passages, tokens FROM scopes WHERE id IN (SELECT scope FROM atoms) ORDER BY 1")
    yield from _format_rows("scope", [(scope, passages, tokens) for scope, _, passages, tokens in scopes])
    for what, sql in _DUMP_QUERIES.items():
        yield from _format_rows(what, db.rows(sql))
    for scope, number, _, _ in scopes:
        for name, table, rows in (
            ("current", text_table(number, is_shelved=False), "passages"),
            ("shelf", text_table(number, is_shelved=True), "passages"),
            ("former", past_table(number), "former"),
        ):
            yield from _dump_text(db, f"text {scope} {name}", table, rows)


def _dump_text(db: Database, label: str, table: str, passages: str) -> Iterator[str]:
    db.run(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, '{table}', 'instance')")
    rows = db.rows(
        "SELECT v.term, a.atom_id, p.n, count(*) FROM temp.vocabulary v "
        f"LEFT JOIN {passages} p ON p.id=v.doc LEFT JOIN atoms a ON a.id=p.atom GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    db.run("DROP TABLE temp.vocabulary")
    yield from _format_rows(label, rows)


def _format_rows(label: str, rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    for row in rows:
        yield f"{label}: {row!r}"
