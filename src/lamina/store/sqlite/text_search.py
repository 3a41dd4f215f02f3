"""Text search: FTS5 finds candidates, BM25 with the statistics of each scope scores them."""

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
from lamina.store.base import TextMatch, TextQuery
from lamina.store.encodings import NearPassage
from lamina.store.sqlite.database import CorruptDatabase, Database
from lamina.store.sqlite.journal import to_millis
from lamina.store.sqlite.past_passages import past_table

K1, B = 1.2, 0.75
SELECTIVE_SHARE = 0.05
SELECTIVE_COUNT = 1000
"""A word in more passages than both limits does not select candidates; it still counts in their scores."""
MAX_MATCHES = 20_000
"""Nor does a word that would select so many passages together with rarer ones: FTS5 scores each of them."""
MIN_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class ScopeStatistics:
    """Of one scope: the number of passages, their mean length, and in how many each token occurs."""

    passages: int
    mean_length: float
    document_counts: dict[str, int]

    def weight(self, token: str) -> float:
        """Return the inverse document frequency of a token."""
        n = self.document_counts.get(token, 0)
        return math.log(1 + (self.passages - n + 0.5) / (n + 0.5))


def search(db: Database, query: TextQuery) -> list[TextMatch]:
    """Return the best passages of each scope, by BM25 with its statistics; more than the limit if some tie."""
    matches: list[TextMatch] = []
    for scope in dict.fromkeys(query.scopes):
        row = db.one("SELECT id, passages, tokens FROM scopes WHERE scope=?", (scope,))
        if row:
            matches += _search_scope(db, row[0], row[1], row[2], query)
    return matches


def _statistics(db: Database, scope: int, passages: int, total: int, query: TextQuery) -> ScopeStatistics:
    marks = ",".join("?" * len(query.tokens))
    holding = dict(
        db.rows(f"SELECT term, passages FROM terms WHERE scope=? AND term IN ({marks})", (scope, *query.tokens))
    )
    return ScopeStatistics(passages, total / passages if total else 1.0, holding)


def _search_scope(db: Database, scope: int, passages: int, total: int, query: TextQuery) -> list[TextMatch]:
    statistics = _statistics(db, scope, passages, total, query)
    matches: list[TextMatch] = []
    if query.statuses & RECALL_WEIGHT.keys():
        expression = _any_of(query.tokens) if query.is_exhaustive else _prune_tokens(query.tokens, statistics)
        matches += _search_table(
            db, text_table(scope, is_shelved=False), expression, _scorer(db, statistics, query), query
        )
    if query.statuses - RECALL_WEIGHT.keys():
        table, expression = text_table(scope, is_shelved=True), _any_of(query.tokens)
        matches += _search_table(db, table, expression, _scorer(db, statistics, query), query)
    return matches


def _scorer(db: Database, statistics: ScopeStatistics, query: TextQuery) -> Callable[[Sequence[int]], list[TextMatch]]:
    return lambda ids: _score_passages(db, ids, statistics, query)


def _search_table(
    db: Database, table: str, expression: str, score: Callable[[Sequence[int]], list[TextMatch]], query: TextQuery
) -> list[TextMatch]:
    """Return the scored matches of one text table, enough of them to be sure of the best."""
    if not expression:
        return []
    if query.required_tokens:
        expression = f"({_all_of(query.required_tokens)}) AND ({expression})"
    limit = max(MIN_CANDIDATES, 2 * query.limit)
    while True:
        ranked = db.rows(
            f"SELECT rowid, rank FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT ?", (expression, limit + 1)
        )
        is_complete = len(ranked) <= limit
        # Passages that tie at the cut are all taken or none, else the result would depend on row numbers.
        if not is_complete:
            ranked = [row for row in ranked if row[1] < ranked[-1][1]]
        matches = score([row[0] for row in ranked])
        if is_complete or (len(matches) >= query.limit and _is_settled(matches, query.limit)):
            return matches
        limit *= 4


def _is_settled(matches: Sequence[TextMatch], limit: int) -> bool:
    """Return whether no other passage can still be among the best once every status has its weight."""
    weighted = sorted((match.score * RECALL_WEIGHT.get(match.status, 1.0) for match in matches), reverse=True)
    return min(match.score for match in matches) <= weighted[limit - 1]


def _score_passages(db: Database, ids: Sequence[int], statistics: ScopeStatistics, query: TextQuery) -> list[TextMatch]:
    passes, weights = _time_filter(query), _token_weights(statistics, query)
    statuses = {status.value: status for status in query.statuses}
    matches: list[TextMatch] = []
    for atom_id, n, length, tokens, status, memory_type, *times in _fetch(db, ids, "passages", _TIME_COLUMNS):
        if status not in statuses or memory_type not in query.memory_types:
            continue
        if not passes(statuses[status], *times):
            continue
        parts = _score_tokens(db, atom_id, n, length, tokens, statistics, weights)
        matches.append(TextMatch(atom_id, n, statuses[status], sum([part for _, part in parts]), parts))
    return matches


def _time_filter(query: TextQuery) -> Callable[..., bool]:
    """Return a function that tells whether a passage passes by its valid time, time and record time."""
    at = to_millis(query.known_by or query.true_at or query.valid_at)
    if query.known_by is not None:
        return lambda status, start, end, said, recorded: recorded <= at
    if query.true_at is not None:
        return lambda status, start, end, said, recorded: (
            (said if start is None else start) <= at and (status not in REPLACED if end is None else at < end)
        )
    return lambda status, start, end, said, recorded: (
        status in ENDED or ((start is None or start <= at) and (end is None or at < end))
    )


def _token_weights(statistics: ScopeStatistics, query: TextQuery) -> list[tuple[str, float]]:
    return [(token, statistics.weight(token) * (K1 + 1)) for token in query.tokens]


def _score_tokens(
    db: Database,
    atom_id: str,
    n: int,
    length: int,
    tokens: str,
    statistics: ScopeStatistics,
    weights: Sequence[tuple[str, float]],
) -> tuple[tuple[str, float], ...]:
    """Return what each token adds to a passage; `CorruptDatabase` if the stored tokens are damaged."""
    words = tokens.split()
    if len(words) != length:
        # SQLite does not notice when the pages of a long text were overwritten.
        raise CorruptDatabase(f"{db.path.name} is damaged: passage {n} of {atom_id} has the wrong length")
    return _token_scores(words, K1 * (1 - B + B * length / statistics.mean_length), weights)


def search_past(db: Database, query: TextQuery) -> list[tuple[TextMatch, NearPassage]]:
    """Return the best past passages, scored as if they were among the current ones of their scope."""
    matches: list[tuple[TextMatch, NearPassage]] = []
    for scope in dict.fromkeys(query.scopes):
        row = db.one("SELECT id, passages, tokens FROM scopes WHERE scope=?", (scope,))
        if row:
            matches += _search_scope_past(db, scope, row[0], _statistics(db, row[0], row[1], row[2], query), query)
    return matches


def _search_scope_past(
    db: Database, scope: Scope, number: int, statistics: ScopeStatistics, query: TextQuery
) -> list[tuple[TextMatch, NearPassage]]:
    matches: list[tuple[TextMatch, NearPassage]] = []

    def scored(ids: Sequence[int]) -> list[TextMatch]:
        matches[:] = _score_past(db, ids, scope, statistics, query)
        return [match for match, _ in matches]

    _search_table(db, past_table(number), _any_of(query.tokens), scored, query)
    return matches


def _score_past(
    db: Database, ids: Sequence[int], scope: Scope, statistics: ScopeStatistics, query: TextQuery
) -> Iterator[tuple[TextMatch, NearPassage]]:
    by, weights = to_millis(query.known_by or query.valid_at), _token_weights(statistics, query)
    for atom_id, n, length, tokens, status, _, recorded, layer, origin, *details in _fetch(
        db, ids, "former", _CANDIDATE_COLUMNS
    ):
        if recorded > by:
            continue
        speaker, at, asks, tells_of, digest = details
        parts = _score_tokens(db, atom_id, n, length, tokens, statistics, weights)
        match = TextMatch(atom_id, n, Status(status), sum([part for _, part in parts]), parts)
        yield (
            match,
            NearPassage(
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


_TIME_COLUMNS = "a.valid_from, a.valid_until, p.at, a.recorded_at"
_CANDIDATE_COLUMNS = "a.recorded_at, a.layer, a.origin, p.speaker, p.at, p.asks, p.tells_of, p.digest"


def _fetch(db: Database, ids: Sequence[int], table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(ids), 500):
        chunk = ids[start : start + 500]
        yield from db.rows(
            f"SELECT a.atom_id, p.n, p.length, p.tokens, a.status, a.memory_type, {columns} "
            f"FROM {table} p JOIN atoms a ON a.id=p.atom WHERE p.id IN ({','.join('?' * len(chunk))})",
            chunk,
        )


def text_table(scope: int, *, is_shelved: bool) -> str:
    """Return the name of a scope's text table: of its recallable passages, or of the others."""
    return f"{'shelf' if is_shelved else 'text'}_{scope}"


def _all_of(tokens: Iterable[str]) -> str:
    return " AND ".join(f'"{token}"' for token in tokens)


def _any_of(tokens: Iterable[str]) -> str:
    return " OR ".join(f'"{token}"' for token in tokens)


def _prune_tokens(tokens: Sequence[str], statistics: ScopeStatistics) -> str:
    """Return an FTS5 expression for passages with a selective word; common words only add to their scores.

    FTS5 scores every match of a common word, and a passage with nothing but common words of the query is hardly ever
    among the best. If all words are common, the rarest selects the candidates.
    """
    known_tokens = sorted(
        (token for token in tokens if statistics.document_counts.get(token)),
        key=lambda token: (statistics.document_counts[token], token),
    )
    ceiling = max(SELECTIVE_SHARE * statistics.passages, SELECTIVE_COUNT)
    matches = accumulate(statistics.document_counts[token] for token in known_tokens)
    selective = [
        token
        for token, so_far in zip(known_tokens, matches, strict=True)
        if statistics.document_counts[token] <= ceiling and so_far <= MAX_MATCHES
    ] or known_tokens[:1]
    if len(selective) == len(known_tokens):
        return _any_of(selective)
    return f"({_any_of(selective)}) AND ({_any_of(known_tokens)})"


def _token_scores(
    tokens: list[str], norm: float, weights: Sequence[tuple[str, float]]
) -> tuple[tuple[str, float], ...]:
    """Return what each token adds: BM25 with an idf that is never negative."""
    return tuple(
        [(token, weight * times / (times + norm)) for token, weight in weights if (times := tokens.count(token))]
    )
