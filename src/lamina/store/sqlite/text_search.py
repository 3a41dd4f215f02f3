"""Text search: FTS5 brings candidates, BM25 with the scope's own statistics scores them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.scope import Scope
from lamina.atom.status import ENDED, RECALL_WEIGHT, REPLACED, Status
from lamina.atom.trust import Origin
from lamina.store.base import Match, TextQuery
from lamina.store.encodings import Near
from lamina.store.sqlite.database import Corrupt, Database
from lamina.store.sqlite.former import former_table
from lamina.store.sqlite.history import millis

K1, B = 1.2, 0.75
SELECTIVE_SHARE = 0.05
SELECTIVE_COUNT = 1000
"""A word in more passages than both does not bring candidates; it still counts in their scores."""
MOST_MATCHES = 20_000
"""Nor does one that would bring so many passages together with the rarer ones: FTS5 scores each of them."""
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


def _statistics(db: Database, scope: int, passages: int, total: int, query: TextQuery) -> Statistics:
    marks = ",".join("?" * len(query.tokens))
    holding = dict(
        db.rows(f"SELECT term, passages FROM terms WHERE scope=? AND term IN ({marks})", (scope, *query.tokens))
    )
    return Statistics(passages, total / passages if total else 1.0, holding)


def _search_scope(db: Database, scope: int, passages: int, total: int, query: TextQuery) -> list[Match]:
    statistics = _statistics(db, scope, passages, total, query)
    found: list[Match] = []
    if query.statuses & RECALL_WEIGHT.keys():
        expression = _any_of(query.tokens) if query.exhaustive else _pruned(query.tokens, statistics)
        found += _search_table(db, text_table(scope, shelf=False), expression, _scorer(db, statistics, query), query)
    if query.statuses - RECALL_WEIGHT.keys():
        table, expression = text_table(scope, shelf=True), _any_of(query.tokens)
        found += _search_table(db, table, expression, _scorer(db, statistics, query), query)
    return found


def _scorer(db: Database, statistics: Statistics, query: TextQuery) -> Callable[[Sequence[int]], list[Match]]:
    return lambda ids: _scored(db, ids, statistics, query)


def _search_table(
    db: Database, table: str, expression: str, scored: Callable[[Sequence[int]], list[Match]], query: TextQuery
) -> list[Match]:
    if not expression:
        return []
    if query.holding:
        expression = f"({_all_of(query.holding)}) AND ({expression})"
    limit = max(CANDIDATES, 2 * query.limit)
    while True:
        ranked = db.rows(
            f"SELECT rowid, rank FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT ?", (expression, limit + 1)
        )
        complete = len(ranked) <= limit
        # Passages that tie at the cut are all taken or none, else the choice would hang on row numbers.
        if not complete:
            ranked = [row for row in ranked if row[1] < ranked[-1][1]]
        found = scored([row[0] for row in ranked])
        if complete or (len(found) >= query.limit and _is_settled(found, query.limit)):
            return found
        limit *= 4


def _is_settled(found: Sequence[Match], limit: int) -> bool:
    """Whether nothing beyond these can still come out on top once every status has its weight."""
    weighted = sorted((match.score * RECALL_WEIGHT.get(match.status, 1.0) for match in found), reverse=True)
    return min(match.score for match in found) <= weighted[limit - 1]


def _scored(db: Database, ids: Sequence[int], statistics: Statistics, query: TextQuery) -> list[Match]:
    passes, weights = _passes(query), _token_weights(statistics, query)
    statuses = {each.value: each for each in query.statuses}
    found: list[Match] = []
    for atom_id, n, length, tokens, status, memory_type, *times in _fetch(db, ids, "passages", _TIMES):
        if status not in statuses or memory_type not in query.memory_types:
            continue
        if not passes(statuses[status], *times):
            continue
        parts = _parts_of(db, atom_id, n, length, tokens, statistics, weights)
        found.append(Match(atom_id, n, statuses[status], sum([part for _, part in parts]), parts))
    return found


def _passes(query: TextQuery) -> Callable[..., bool]:
    """Whether a passage is let through by when it holds, was said and was recorded."""
    at = millis(query.known_by or query.true_at or query.valid_at)
    if query.known_by is not None:
        return lambda status, start, end, said, recorded: recorded <= at
    if query.true_at is not None:
        return lambda status, start, end, said, recorded: (
            (said if start is None else start) <= at and (status not in REPLACED if end is None else at < end)
        )
    return lambda status, start, end, said, recorded: (
        status in ENDED or ((start is None or start <= at) and (end is None or at < end))
    )


def _token_weights(statistics: Statistics, query: TextQuery) -> list[tuple[str, float]]:
    return [(token, statistics.weight(token) * (K1 + 1)) for token in query.tokens]


def _parts_of(
    db: Database,
    atom_id: str,
    n: int,
    length: int,
    tokens: str,
    statistics: Statistics,
    weights: Sequence[tuple[str, float]],
) -> tuple[tuple[str, float], ...]:
    words = tokens.split()
    if len(words) != length:
        # SQLite does not notice when the pages of a long text were overwritten.
        raise Corrupt(f"{db.path.name} is damaged: passage {n} of {atom_id} is not as it was written")
    return _parts(words, K1 * (1 - B + B * length / statistics.mean_length), weights)


def search_former(db: Database, query: TextQuery) -> list[tuple[Match, Near]]:
    """The best texts that atoms have no longer, scored as if they stood among those of their scope."""
    found: list[tuple[Match, Near]] = []
    for scope in dict.fromkeys(query.scopes):
        known = db.one("SELECT id, passages, tokens FROM scopes WHERE scope=?", (scope,))
        if known:
            found += _search_former(db, scope, known[0], _statistics(db, known[0], known[1], known[2], query), query)
    return found


def _search_former(
    db: Database, scope: Scope, number: int, statistics: Statistics, query: TextQuery
) -> list[tuple[Match, Near]]:
    found: list[tuple[Match, Near]] = []

    def scored(ids: Sequence[int]) -> list[Match]:
        found[:] = _scored_former(db, ids, scope, statistics, query)
        return [match for match, _ in found]

    _search_table(db, former_table(number), _any_of(query.tokens), scored, query)
    return found


def _scored_former(
    db: Database, ids: Sequence[int], scope: Scope, statistics: Statistics, query: TextQuery
) -> Iterator[tuple[Match, Near]]:
    by, weights = millis(query.known_by or query.valid_at), _token_weights(statistics, query)
    for atom_id, n, length, tokens, status, _, recorded, layer, origin, *said in _fetch(db, ids, "former", _PLACE):
        if recorded > by:
            continue
        speaker, at, asks, tells_of, digest = said
        parts = _parts_of(db, atom_id, n, length, tokens, statistics, weights)
        match = Match(atom_id, n, Status(status), sum([part for _, part in parts]), parts)
        yield (
            match,
            Near(
                (AtomId(atom_id), n),
                scope,
                0.0,
                0.0,
                match.status,
                Layer(layer),
                Origin(origin),
                recorded,
                speaker,
                at,
                False,
                False,
                tells_of is not None,
                bool(asks),
                f"former/{atom_id}",
                n,
                digest,
            ),
        )


_TIMES = "a.valid_from, a.valid_until, p.at, a.recorded_at"
_PLACE = "a.recorded_at, a.layer, a.origin, p.speaker, p.at, p.asks, p.tells_of, p.digest"


def _fetch(db: Database, ids: Sequence[int], table: str, more: str) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(ids), 500):
        chunk = ids[start : start + 500]
        yield from db.rows(
            f"SELECT a.atom_id, p.n, p.length, p.tokens, a.status, a.memory_type, {more} "
            f"FROM {table} p JOIN atoms a ON a.id=p.atom WHERE p.id IN ({','.join('?' * len(chunk))})",
            chunk,
        )


def text_table(scope: int, *, shelf: bool) -> str:
    return f"{'shelf' if shelf else 'text'}_{scope}"


def _all_of(tokens: Iterable[str]) -> str:
    return " AND ".join(f'"{token}"' for token in tokens)


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
    matches = accumulate(statistics.holding[token] for token in known)
    selective = [
        token
        for token, so_far in zip(known, matches, strict=True)
        if statistics.holding[token] <= ceiling and so_far <= MOST_MATCHES
    ] or known[:1]
    if len(selective) == len(known):
        return _any_of(selective)
    return f"({_any_of(selective)}) AND ({_any_of(known)})"


def _parts(tokens: list[str], norm: float, weights: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """What each wanted token adds: BM25 with an idf that never goes below zero."""
    return tuple(
        [(token, weight * times / (times + norm)) for token, weight in weights if (times := tokens.count(token))]
    )
