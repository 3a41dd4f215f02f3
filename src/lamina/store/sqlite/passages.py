"""The passages port in SQLite: text search in index.db, vector search in memory.

FTS5 finds candidates; BM25 with the statistics of each scope scores them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from lamina.atom.atom import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.provenance import Origin, Scope, is_of_agent
from lamina.atom.status import ENDED, RECALL_WEIGHT, REPLACED, Status
from lamina.store.encodings import PassageKey
from lamina.store.passages import NearPassage, PassageFilter, PassageStatistics, TextMatch, TextQuery, VectorQuery
from lamina.store.sqlite.current_index import CurrentIndex
from lamina.store.sqlite.database import CorruptDatabase, Database
from lamina.store.sqlite.encodings import SqliteEncodings
from lamina.store.sqlite.index import SqliteIndex
from lamina.store.sqlite.index_rows import past_table, text_table
from lamina.store.sqlite.vector_search import VectorSearch
from lamina.text.timestamps import to_millis
from lamina.vectors.integer_vectors import QueryVector

K1, B = 1.2, 0.75
SELECTIVE_SHARE = 0.05
SELECTIVE_COUNT = 1000
"""A word in more passages than both limits does not select candidates; it still counts in their scores."""
MAX_MATCHES = 20_000
"""Nor does a word that would select so many passages together with rarer ones: FTS5 scores each of them."""
MIN_CANDIDATES = 100


_STATISTICS = (
    "SELECT s.scope, s.id, s.passages, s.tokens, t.term, t.passages FROM scopes s LEFT JOIN terms t "
    "ON t.scope=s.id AND t.term IN (SELECT value FROM json_each(?)) WHERE s.scope IN (SELECT value FROM json_each(?))"
)
_TIME_COLUMNS = "a.valid_from, a.valid_until, p.at, a.recorded_at"
_PAST_COLUMNS = "a.recorded_at, a.origin, p.speaker, p.at, p.asks, p.tells_of, p.digest"


@dataclass(frozen=True, slots=True)
class ScopeStatistics:
    """Of one scope: its number in the index, the number of passages, their mean length, and in how many each of the
    tokens of a query occurs."""

    scope: Scope
    number: int
    passages: int
    mean_length: float
    document_counts: dict[str, int]

    def counts(self, tokens: Iterable[str]) -> tuple[int, dict[str, int]]:
        """Return the number of passages, and in how many each of the tokens occurs."""
        return self.passages, {token: count for token in tokens if (count := self.document_counts[token])}

    def weight(self, token: str) -> float:
        """Return the inverse document frequency of a token."""
        n = self.document_counts.get(token, 0)
        return math.log(1 + (self.passages - n + 0.5) / (n + 0.5))


class _TextTable(NamedTuple):
    """A text table, the table of its passages, and the columns to read of them."""

    name: str
    passages: str = "passages"
    columns: str = _TIME_COLUMNS


class SqlitePassages:
    """Searches index.db and the columns in memory."""

    def __init__(self, index: CurrentIndex, encodings: SqliteEncodings) -> None:
        self._index, self.encodings = index, encodings
        self._read_statistics: tuple[object, dict[Scope, ScopeStatistics]] = None, {}

    def search_text(self, query: TextQuery) -> list[TextMatch]:
        """Return the best passages of each scope, by BM25 with its statistics; past ones as if they were current."""

        def search(index: SqliteIndex) -> list[TextMatch]:
            searches = (_search_scope,) if query.filter.known_by is None else (_search_scope, _search_scope_past)
            return [
                match
                for statistics in self._token_statistics(index.db, query.filter.scopes, query.tokens).values()
                for search_scope in searches
                for match in search_scope(index.db, statistics, query)
            ]

        return self._index.run(search) if query.tokens else []

    def find_nearest(self, query: VectorQuery) -> list[NearPassage]:
        """Return the best passages for a query vector; save the search if it became large."""
        results = self._index.search(lambda search: search.find_nearest(query))
        self._index.save_search()
        return results

    def count_filtered_out(self, query: VectorQuery, min_cosine: float) -> dict[str, int]:
        return self._index.search(lambda search: search.count_filtered_out(query, min_cosine))

    def cosines(self, model: str, query_vector: QueryVector, keys: Sequence[PassageKey]) -> list[float]:
        return self._index.search(lambda search: search.cosines(model, query_vector, keys))

    def statistics(
        self, scopes: Sequence[Scope], models: Sequence[str] = (), tokens: Sequence[str] | None = None
    ) -> PassageStatistics:
        def read(search: VectorSearch) -> PassageStatistics:
            token_counts = {} if tokens is None else self._token_statistics(search.db, scopes, tokens)
            return PassageStatistics(
                search.speakers(scopes),
                search.count(scopes),
                {model: search.count_encoded(model, scopes) for model in models},
                {scope: statistics.counts(tokens or ()) for scope, statistics in token_counts.items()},
            )

        return self._index.search(read)

    def _token_statistics(
        self, db: Database, scopes: Sequence[Scope], tokens: Sequence[str]
    ) -> dict[Scope, ScopeStatistics]:
        """Return the statistics of the scopes that exist; within a snapshot, tokens are read once."""
        snapshot, read = self._read_statistics
        if snapshot is None or snapshot is not self._index.snapshot_id or not _contains(read, scopes, tokens):
            rows: dict[Scope, list[tuple[Any, ...]]] = {}
            for scope, *row in db.rows(_STATISTICS, (json.dumps(list(tokens)), json.dumps(list(scopes)))):
                rows.setdefault(Scope(scope), []).append(tuple(row))
            read = {scope: _to_statistics(scope, scope_rows, tokens) for scope, scope_rows in rows.items()}
            self._read_statistics = self._index.snapshot_id, read
        return {scope: read[scope] for scope in dict.fromkeys(scopes) if scope in read}


def _contains(read: dict[Scope, ScopeStatistics], scopes: Sequence[Scope], tokens: Sequence[str]) -> bool:
    return all(scope in read and read[scope].document_counts.keys() >= set(tokens) for scope in scopes)


def _to_statistics(scope: Scope, rows: Sequence[tuple[Any, ...]], tokens: Sequence[str]) -> ScopeStatistics:
    number, passages, total = rows[0][:3]
    counts = dict.fromkeys(tokens, 0) | {term: count for *_, term, count in rows if term is not None}
    return ScopeStatistics(scope, number, passages, total / passages if total else 1.0, counts)


def _search_scope(db: Database, statistics: ScopeStatistics, query: TextQuery) -> list[TextMatch]:
    matches: list[TextMatch] = []

    def score(rows: Iterable[tuple[Any, ...]]) -> list[TextMatch]:
        return _score_passages(db, rows, statistics, query)

    if query.filter.statuses & RECALL_WEIGHT.keys():
        table = _TextTable(text_table(statistics.number, is_shelved=False))
        expression = _any_of(query.tokens) if query.is_exhaustive else _prune_tokens(query.tokens, statistics)
        matches += _search_table(db, table, statistics.scope, expression, score, query)
    if query.filter.statuses - RECALL_WEIGHT.keys():
        table = _TextTable(text_table(statistics.number, is_shelved=True))
        matches += _search_table(db, table, statistics.scope, _any_of(query.tokens), score, query)
    return matches


def _search_table(
    db: Database,
    table: _TextTable,
    scope: Scope,
    expression: str,
    score: Callable[[Iterable[tuple[Any, ...]]], list[TextMatch]],
    query: TextQuery,
) -> list[TextMatch]:
    """Return the scored matches of one text table, enough of them to be sure of the best."""
    if not expression:
        return []
    if query.required_tokens:
        expression = f"({_all_of(query.required_tokens)}) AND ({expression})"
    limit = max(MIN_CANDIDATES, 2 * query.limit)
    while True:
        ranked = db.rows(
            f"SELECT f.rank, a.agents, a.atom_id, p.n, p.length, p.tokens, a.status, a.memory_type, a.layer, "
            f"{table.columns} "
            f"FROM (SELECT rowid, rank FROM {table.name} WHERE {table.name} MATCH ? ORDER BY rank LIMIT ?) f "
            f"CROSS JOIN {table.passages} p ON p.id=f.rowid CROSS JOIN atoms a ON a.id=p.atom "
            # The table's number was read before: if the index was rebuilt since, it may be that of another scope.
            "WHERE a.scope=(SELECT id FROM scopes WHERE scope=?) ORDER BY p.id",
            (expression, limit + 1, scope),
        )
        is_complete = len(ranked) <= limit
        # Passages that tie at the cut are all taken or none, else the result would depend on row numbers.
        worst = max((row[0] for row in ranked), default=0.0)
        matches = score(
            row[2:]
            for row in ranked
            if (is_complete or row[0] < worst)
            and (query.filter.agent is None or is_of_agent(query.filter.agent, scope, row[1].splitlines()))
        )
        if is_complete or (len(matches) >= query.limit and _is_settled(matches, query.limit)):
            return matches
        limit *= 4


def _is_settled(matches: Sequence[TextMatch], limit: int) -> bool:
    """Return whether no other passage can still be among the best once every status has its weight."""
    weighted = sorted((match.score * RECALL_WEIGHT.get(match.status, 1.0) for match in matches), reverse=True)
    return min(match.score for match in matches) <= weighted[limit - 1]


def _score_passages(
    db: Database, rows: Iterable[tuple[Any, ...]], statistics: ScopeStatistics, query: TextQuery
) -> list[TextMatch]:
    passes, weights = _time_filter(query.filter), _token_weights(statistics, query)
    statuses = {status.value: status for status in query.filter.statuses}
    matches: list[TextMatch] = []
    layers = frozenset(Layer) if query.filter.layers is None else query.filter.layers
    for atom_id, n, length, tokens, status, memory_type, layer, *times in rows:
        if status not in statuses or memory_type not in query.filter.memory_types or layer not in layers:
            continue
        if not passes(statuses[status], *times):
            continue
        parts = _score_tokens(db, atom_id, n, length, tokens, statistics, weights)
        matches.append(TextMatch(atom_id, n, statuses[status], sum([part for _, part in parts]), parts))
    return matches


def _time_filter(passage_filter: PassageFilter) -> Callable[..., bool]:
    """Return a function that decides whether a passage passes by its valid time, time and record time."""
    at = to_millis(passage_filter.known_by or passage_filter.true_at or passage_filter.valid_at)
    if passage_filter.known_by is not None:
        return lambda status, start, end, observed, recorded: recorded <= at
    if passage_filter.true_at is not None:
        return lambda status, start, end, observed, recorded: (
            (observed if start is None else start) <= at and (status not in REPLACED if end is None else at < end)
        )
    return lambda status, start, end, observed, recorded: (
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


def _search_scope_past(db: Database, statistics: ScopeStatistics, query: TextQuery) -> list[TextMatch]:
    table = _TextTable(past_table(statistics.number), "former", _PAST_COLUMNS)

    def score(rows: Iterable[tuple[Any, ...]]) -> list[TextMatch]:
        return list(_score_past(db, rows, statistics, query))

    return _search_table(db, table, statistics.scope, _any_of(query.tokens), score, query)


def _score_past(
    db: Database, rows: Iterable[tuple[Any, ...]], statistics: ScopeStatistics, query: TextQuery
) -> Iterator[TextMatch]:
    by, weights = to_millis(query.filter.known_by or query.filter.valid_at), _token_weights(statistics, query)
    for atom_id, n, length, tokens, status, _, layer, recorded, origin, *details in rows:
        if recorded > by:
            continue
        speaker, at, asks, tells_of, digest = details
        parts = _score_tokens(db, atom_id, n, length, tokens, statistics, weights)
        passage = NearPassage(
            (AtomId(atom_id), n),
            statistics.scope,
            0.0,
            Status(status),
            Layer(layer),
            Origin(origin),
            recorded,
            speaker,
            at,
            tells_of,
            bool(asks),
            f"former/{atom_id}",
            n,
            digest,
        )
        yield TextMatch(atom_id, n, passage.status, sum([part for _, part in parts]), parts, passage)


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
