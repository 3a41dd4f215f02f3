"""Text search: FTS5 brings candidates, BM25 with the scope's own statistics scores them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lamina.atom.status import ENDED, RECALL_WEIGHT
from lamina.store.base import Match, TextQuery
from lamina.store.sqlite.database import Corrupt, Database
from lamina.store.sqlite.history import millis

K1, B = 1.2, 0.75
SELECTIVE_SHARE = 0.05
SELECTIVE_COUNT = 1000
"""A word in more passages than both does not bring candidates; it still counts in their scores."""
CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of one scope: how many passages, how long on average, and in how many each token stands."""

    passages: int
    mean_length: float
    holding: dict[str, int]

    def weight(self, token: str) -> float:
        n = self.holding.get(token, 0)
        return math.log(1 + (self.passages - n + 0.5) / (n + 0.5))


def search(db: Database, query: TextQuery) -> list[Match]:
    """The best passages of each scope, by BM25 with that scope's statistics; more than the limit where they tie."""
    found: list[Match] = []
    for scope in dict.fromkeys(query.scopes):
        known = db.one("SELECT id, passages, tokens FROM scopes WHERE scope=?", (scope,))
        if known:
            found += _search_scope(db, known[0], known[1], known[2], query)
    return found


def _search_scope(db: Database, scope: int, passages: int, total: int, query: TextQuery) -> list[Match]:
    marks = ",".join("?" * len(query.tokens))
    holding = dict(
        db.rows(f"SELECT term, passages FROM terms WHERE scope=? AND term IN ({marks})", (scope, *query.tokens))
    )
    statistics = Statistics(passages, total / passages if total else 1.0, holding)
    found: list[Match] = []
    if query.statuses & RECALL_WEIGHT.keys():
        found += _search_table(db, scope, False, statistics, query)
    if query.statuses - RECALL_WEIGHT.keys():
        found += _search_table(db, scope, True, statistics, query)
    return found


def _search_table(db: Database, scope: int, shelf: bool, statistics: Statistics, query: TextQuery) -> list[Match]:
    table = text_table(scope, shelf=shelf)
    expression = _any_of(query.tokens) if shelf or query.exhaustive else _pruned(query.tokens, statistics)
    if not expression:
        return []
    limit = max(CANDIDATES, 2 * query.limit)
    while True:
        ranked = db.rows(
            f"SELECT rowid, rank FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT ?", (expression, limit + 1)
        )
        complete = len(ranked) <= limit
        # Passages that tie at the cut are all taken or none, else the choice would hang on row numbers.
        if not complete:
            ranked = [row for row in ranked if row[1] < ranked[-1][1]]
        found = _scored(db, [row[0] for row in ranked], statistics, query)
        if complete or (len(found) >= query.limit and _is_settled(found, query.limit)):
            return found
        limit *= 4


def _is_settled(found: Sequence[Match], limit: int) -> bool:
    """Whether nothing beyond these can still come out on top once every status has its weight."""
    weighted = sorted((match.score * RECALL_WEIGHT.get(match.status, 1.0) for match in found), reverse=True)
    return min(match.score for match in found) <= weighted[limit - 1]


def _scored(db: Database, ids: Sequence[int], statistics: Statistics, query: TextQuery) -> list[Match]:
    at = millis(query.valid_at)
    weights = [(token, statistics.weight(token) * (K1 + 1)) for token in query.tokens]
    statuses = {each.value: each for each in query.statuses}
    found: list[Match] = []
    for atom_id, n, length, tokens, status, memory_type, start, end in _fetch(db, ids):
        if status not in statuses or memory_type not in query.memory_types:
            continue
        if (
            ((start is not None and at < start) or (end is not None and at >= end))
            and statuses[status] not in ENDED
        ):  # fmt: skip
            continue
        words = tokens.split()
        if len(words) != length:
            # SQLite does not notice when the pages of a long text were overwritten.
            raise Corrupt(f"{db.path.name} is damaged: passage {n} of {atom_id} is not as it was written")
        parts = _parts(words, K1 * (1 - B + B * length / statistics.mean_length), weights)
        score = sum([part for _, part in parts])
        found.append(Match(atom_id, n, statuses[status], score, parts))
    return found


def _fetch(db: Database, ids: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(ids), 500):
        chunk = ids[start : start + 500]
        yield from db.rows(
            "SELECT a.atom_id, p.n, p.length, p.tokens, a.status, a.memory_type, a.valid_from, a.valid_until "
            f"FROM passages p JOIN atoms a ON a.id=p.atom WHERE p.id IN ({','.join('?' * len(chunk))})",
            chunk,
        )


def text_table(scope: int, *, shelf: bool) -> str:
    return f"{'shelf' if shelf else 'text'}_{scope}"


def _any_of(tokens: Iterable[str]) -> str:
    return " OR ".join(f'"{token}"' for token in tokens)


def _pruned(tokens: Sequence[str], statistics: Statistics) -> str:
    """Passages that hold a selective word; common words then only add to their scores.

    FTS5 scores every match of a common word, and a passage that holds nothing but common words of the question
    hardly ever comes out on top. Where all words are common the rarest brings the candidates.
    """
    known = sorted(
        (token for token in tokens if statistics.holding.get(token)), key=lambda each: (statistics.holding[each], each)
    )
    ceiling = max(SELECTIVE_SHARE * statistics.passages, SELECTIVE_COUNT)
    selective = [token for token in known if statistics.holding[token] <= ceiling] or known[:1]
    if len(selective) == len(known):
        return _any_of(selective)
    return f"({_any_of(selective)}) AND ({_any_of(known)})"


def _parts(tokens: list[str], norm: float, weights: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """What each wanted token adds: BM25 with an idf that never goes below zero."""
    return tuple(
        [(token, weight * times / (times + norm)) for token, weight in weights if (times := tokens.count(token))]
    )
