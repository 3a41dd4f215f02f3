"""Vector search over the passages of an index, in memory: filters, scores and ranks by columns of numbers.

It follows the journal position of the index. Rows of a changed atom are marked as deleted and appended anew, so a write
costs only what it changed. Vectors are added when a model has computed them. A large search is saved beside the index
and memory-mapped by the next process that opens the store. It is a cache: when in doubt, it is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import nsmallest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope, agent_name
from lamina.atom.status import RECALL_WEIGHT
from lamina.store.encodings import NearPassage, PassageKey, VectorQuery
from lamina.store.passages import PassageSummary
from lamina.store.sqlite.array_files import SavedArrays, list_saved, load, save
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.in_memory_vectors import ModelVectors, SearchLimits
from lamina.store.sqlite.index import IndexState
from lamina.store.sqlite.millis import to_millis
from lamina.store.sqlite.passage_columns import (
    ALWAYS,
    LAYERS,
    ORIGINS,
    SELECTED,
    STATUSES,
    TYPES,
    PassageColumns,
    SessionOrder,
    SessionRows,
)
from lamina.store.sqlite.row_scores import score_rows
from lamina.vectors.integer_vectors import Floats, QueryVector

EXACT_FACTOR = 4
"""How many times the limit are compared exactly, if a scan returns approximate cosines."""
_SCAN_ERROR = 0.1
"""The largest error of a cosine from a 2-bit scan, except for one in millions."""
_READ_BATCH = 20_000
_FORMAT = 5
_CANDIDATE_COLUMNS = ("scope", "status", "layer", "origin", "recorded", "speaker", "at", "asks", "text", "tells_of")


class VectorSearch:
    """Columns over passages, and the vectors of each model that was searched. `state` is the state of the index that
    the vectors of a model follow when they are needed."""

    def __init__(self, db: Database, edition: int, folder: Path, limits: SearchLimits) -> None:
        self._db, self._edition, self._folder, self._limits = db, edition, folder, limits
        self._seq, self._is_unsaved = 0, False
        self._columns = PassageColumns()
        self._models: dict[str, ModelVectors] = {}
        self.state = IndexState()
        self._scopes: dict[int, Scope] = {}
        self._clear_caches()

    def _clear_caches(self) -> None:
        self._session_orders: dict[int, SessionRows] = {}
        self._speakers_by_scopes: dict[frozenset[Scope], frozenset[str]] = {}
        self._rows_by_scopes: dict[frozenset[Scope], NDArray[np.bool_]] = {}
        self._rows_by_values: dict[tuple[str, frozenset[object]], NDArray[np.bool_]] = {}
        self._encoded_counts: dict[tuple[str, frozenset[Scope]], tuple[int, int]] = {}

    def belongs_to(self, db: Database, edition: int) -> bool:
        """Return whether what was read is still what the index contains."""
        return self._db is db and self._edition == edition

    def is_at(self, db: Database, state: IndexState) -> bool:
        """Return whether the columns are at this state of the index already; vectors follow when they are needed."""
        return bool(self._seq) and self._seq == state.position and self.belongs_to(db, state.edition)

    def catch_up(self, position: int) -> bool:
        """Catch up with a journal position; return False if that is impossible and this must be dropped."""
        if position < self._seq:
            return False
        if not self._seq:
            self._load_saved(position)
        if position > self._seq:
            self._scopes = {number: Scope(scope) for number, scope in self._db.rows("SELECT id, scope FROM scopes")}
            self._apply_since(position)
            self._clear_caches()
        return True

    def _apply_since(self, position: int) -> None:
        """Read the passages of all atoms that changed up to a position."""
        is_first = not self._seq
        if not is_first:
            changed = self._db.rows("SELECT atom_id FROM atoms WHERE seq>?", (self._seq,))
            self._columns.delete_atoms(AtomId(row[0]) for row in changed)
        for rows in self._changed_since(self._seq):
            for digest in self._columns.append(rows):
                self._recheck_text(digest)
        self._seq = position
        if is_first or self._columns.needs_compaction:
            self.compact()

    def _recheck_text(self, digest: bytes) -> None:
        """Check again whether a text has vectors: the text and its vectors may have been deleted in between."""
        number = self._columns.texts.number(digest)
        for model in self._models.values():
            if number is not None:
                model.recheck(digest, number)

    def _changed_since(self, seq: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield batches of the passages of every atom changed since a position, ordered by key."""
        last_key: tuple[str, int] = ("", 0)
        index = "INDEXED BY atoms_by_seq" if seq else ""
        while rows := self._db.rows(
            f"SELECT {SELECTED} FROM atoms a {index} JOIN passages p ON p.atom=a.id "
            "WHERE a.seq>? AND a.atom_id>=? AND (a.atom_id, p.n)>(?,?) ORDER BY a.atom_id, p.n LIMIT ?",
            (seq, last_key[0], *last_key, _READ_BATCH),
        ):
            yield rows
            if len(rows) < _READ_BATCH:
                return
            last_key = rows[-1][0], rows[-1][1]

    def compact(self) -> None:
        """Sort everything and drop deleted rows, so that it can be saved and takes no more memory than needed."""
        old_numbers, self._is_unsaved = self._columns.compact(), True
        self._models = {name: vectors for name, vectors in self._models.items() if vectors.renumber(old_numbers)}
        self._clear_caches()

    @property
    def is_worth_saving(self) -> bool:
        """Return whether it is large and has work in it that the next process would have to repeat."""
        taken_in = max((model.unsaved_count for model in self._models.values() if not model.is_exact), default=0)
        return self._columns.count >= self._limits.save_from and (
            self._is_unsaved or 4 * taken_in > self._columns.count
        )

    def save(self) -> None:
        """Save it for the next process that opens the store."""
        self.compact()
        arrays, metadata = self._columns.to_arrays()
        model_parts = [part for model in self._models.values() if (part := model.to_arrays()) is not None]
        for number, (model_arrays, _) in enumerate(model_parts):
            arrays |= {f"{number}.{name}": array for name, array in model_arrays.items()}
        metadata |= {"format": _FORMAT, "models": [model_metadata for _, model_metadata in model_parts]}
        self._is_unsaved = False
        for model in self._models.values():
            model.unsaved_count = 0
        save(self._folder, f"{self._edition}-{self._seq}", arrays, metadata)

    def _load_saved(self, position: int) -> None:
        """Start from saved arrays, if they belong to this index and are not newer than the position."""
        suffixes = [name.removeprefix(f"{self._edition}-") for name in list_saved(self._folder)]
        seqs = [int(suffix) for suffix in suffixes if suffix.isdecimal() and int(suffix) <= position]
        saved = load(self._folder, f"{self._edition}-{max(seqs)}") if seqs else None
        if saved is None or saved.metadata.get("format") != _FORMAT:
            return
        self._columns, self._seq = PassageColumns.from_arrays(saved), max(seqs)
        self._scopes = {number: Scope(scope) for number, scope in self._db.rows("SELECT id, scope FROM scopes")}
        for number, metadata in enumerate(saved.metadata["models"]):
            self._models[metadata["model"]] = ModelVectors.from_arrays(
                self._db, _select_arrays(saved, f"{number}.", metadata), self._limits
            )

    def find_nearest(self, query: VectorQuery) -> list[NearPassage]:
        """Return the best passages with their neighbours, and the extra ones that the query names."""
        model, allowed = self._model_vectors(query.model), self._allowed_rows(query)
        text_scores = {
            row: query.text_scores[key] for key, row in self._columns.rows_of_keys(query.text_scores).items()
        }
        rows = set(self._best_rows(query, model, allowed, text_scores)) if query.limit else set()
        positions = SessionOrder(self._session_order, allowed)
        if query.neighbours:
            rows |= {neighbour for row in rows for neighbour in positions.neighbours(row, query.neighbours)}
        rows |= {row for row in self._columns.rows_of_keys(query.extra_keys).values() if allowed[row]}
        return self._to_candidates(np.array(sorted(rows), dtype=np.int64), positions, query, model, text_scores)

    def _best_rows(
        self, query: VectorQuery, model: ModelVectors, allowed: NDArray[np.bool_], text_scores: Mapping[int, float]
    ) -> list[int]:
        """Return the rows with the best scores among those that have a vector or a text score."""
        rows = np.flatnonzero(allowed)
        if len(rows) == len(allowed):
            cosine = model.approximate_cosines(query.query_vector, self._columns["text"])
        else:
            cosine = model.approximate_cosines(query.query_vector, self._columns["text"][rows])
        unknown = np.isnan(cosine)
        if unknown.any():
            has_text = np.zeros(len(allowed), dtype=np.bool_)
            has_text[list(text_scores)] = True
            is_scored = ~unknown | has_text[rows]
            rows, cosine = rows[is_scored], np.where(unknown, np.float32(0), cosine)[is_scored]
        score = score_rows(self._columns, query, rows, cosine, text_scores)[0]
        if model.is_exact:
            return self._top_rows(rows, score, query.limit)
        nearest = np.sort(np.array(self._top_rows(rows, score, EXACT_FACTOR * query.limit), dtype=np.int64))
        exact = model.exact_cosines(query.query_vector, self._columns["text"][nearest])
        return self._top_rows(nearest, score_rows(self._columns, query, nearest, exact, text_scores)[0], query.limit)

    def count_filtered_out(self, query: VectorQuery, min_cosine: float) -> dict[str, int]:
        """Return how many passages with at least this cosine were filtered out, by the reason."""
        model, rows = (
            self._model_vectors(query.model),
            np.flatnonzero(self._scope_rows(query.scopes) & ~self._allowed_rows(query)),
        )
        cosines = model.approximate_cosines(query.query_vector, self._columns["text"][rows])
        rows = rows[cosines >= (min_cosine if model.is_exact else min_cosine - _SCAN_ERROR)]
        if not model.is_exact:
            rows = rows[model.exact_cosines(query.query_vector, self._columns["text"][rows]) >= min_cosine]
        reasons = Counter(self._filter_reason(int(row), query) for row in rows)
        return dict(sorted(reasons.items()))

    def _filter_reason(self, row: int, query: VectorQuery) -> str:
        status, kind = STATUSES[self._columns["status"][row]], TYPES[self._columns["type"][row]]
        if status not in query.status_weights:
            return str(status.value)
        if query.agent is not None and not self._agent_rows(query.agent)[row]:
            return "not learnt by this agent"
        if kind not in query.memory_types:
            return "not of this mode"
        is_in_layer = query.layers is None or LAYERS[self._columns["layer"][row]] in query.layers
        return "not valid then" if is_in_layer else "not in this layer"

    def _top_rows(self, rows: NDArray[np.int64], score: Floats, limit: int) -> list[int]:
        """Return the rows with the best scores, including all that tie at the cut; if too many, the newest.

        Never by row number, which differs between two indexes of the same journal.
        """
        if len(rows) <= limit:
            return _to_list(rows)
        cut = np.partition(score, len(score) - limit)[len(score) - limit]
        best, tied = rows[score > cut], rows[score == cut]
        if len(best) + len(tied) <= 2 * limit:
            return _to_list(best) + _to_list(tied)
        recorded, key = self._columns["recorded"], self._columns.key
        youngest = nsmallest(limit - len(best), _to_list(tied), key=lambda row: (-recorded[row], key(row)))
        return _to_list(best) + youngest

    def _allowed_rows(self, query: VectorQuery) -> NDArray[np.bool_]:
        """Return which rows pass the filters of a query."""
        at, columns = to_millis(query.known_by or query.true_at or query.valid_at), self._columns
        if query.known_by is not None:
            allowed = self._scope_rows(query.scopes) & (columns["recorded"] <= at)
        else:
            start_column, end_column = ("starts", "ends") if query.true_at is None else ("begins", "until")
            allowed = self._scope_rows(query.scopes) & (columns[start_column] <= at) & (columns[end_column] > at)
        allowed &= self._rows_with("status", STATUSES, query.status_weights)
        allowed &= self._rows_with("type", TYPES, query.memory_types)
        if query.layers is not None:
            allowed &= self._rows_with("layer", LAYERS, query.layers)
        return allowed if query.agent is None else allowed & self._agent_rows(query.agent)

    def _agent_rows(self, agent: str) -> NDArray[np.bool_]:
        """Return which rows are of what an agent learnt: those of its own scope, and those of others that name it."""
        names_agent = [agent in names.splitlines() for names in self._columns.agent_lists]
        named = np.array([*names_agent, False], dtype=np.bool_)[self._columns["agents"]]
        owners = {number: agent_name(scope) for number, scope in self._scopes.items()}
        is_organisation = np.zeros(max(owners, default=0) + 1, dtype=np.bool_)
        is_own = is_organisation.copy()
        is_organisation[[number for number, owner in owners.items() if owner is None]] = True
        is_own[[number for number, owner in owners.items() if owner == agent]] = True
        scopes = self._columns["scope"]
        result: NDArray[np.bool_] = is_own[scopes] | (named & is_organisation[scopes])
        return result

    def _session_order(self, row: int) -> SessionRows:
        """Return the rows of a row's session, in order; cached."""
        if row not in self._session_orders:
            order = SessionRows(self._columns.rows_of_session(row))
            self._session_orders |= dict.fromkeys(order.rows, order)
        return self._session_orders[row]

    def _to_candidates(
        self,
        rows: NDArray[np.int64],
        positions: SessionOrder,
        query: VectorQuery,
        model: ModelVectors,
        text_scores: Mapping[int, float],
    ) -> list[NearPassage]:
        """Return the rows as results, with exact cosines."""
        cosine = model.exact_cosines(query.query_vector, self._columns["text"][rows])
        score, in_window, mentions_window = score_rows(self._columns, query, rows, cosine, text_scores)
        columns: list[NDArray[Any]] = [
            rows,
            cosine,
            score,
            in_window,
            mentions_window,
            *(self._columns[name][rows] for name in _CANDIDATE_COLUMNS),
        ]
        candidates = []
        for row, row_cosine, row_score, is_in_window, is_mentioning, *values in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            scope, status, layer, origin, recorded, speaker, at, is_question, text, mentioned_at = values
            candidates.append(
                NearPassage(
                    self._columns.key(row),
                    self._scopes[scope],
                    row_cosine,
                    row_score,
                    STATUSES[status],
                    LAYERS[layer],
                    ORIGINS[origin],
                    recorded,
                    self._columns.speaker_names[speaker],
                    at,
                    is_in_window,
                    is_mentioning,
                    mentioned_at != ALWAYS,
                    is_question,
                    self._columns.session_name(row),
                    positions.position(row),
                    self._columns.texts.digest(text),
                )
            )
        return candidates

    def cosines(self, model: str, query_vector: QueryVector, keys: Sequence[PassageKey]) -> list[float]:
        """Return the cosine of each passage's nearest chunk; 0 if it has none."""
        rows = self._columns.rows_of_keys(keys)
        texts = np.array([self._columns["text"][rows[key]] if key in rows else -1 for key in keys], dtype=np.int64)
        return [float(cosine) for cosine in self._model_vectors(model).exact_cosines(query_vector, texts)]

    def summary(self, scopes: Sequence[Scope], models: Sequence[str]) -> PassageSummary:
        """Return the speakers of all recallable passages, and how many passages each model has encoded."""
        count = int(np.count_nonzero(self._scope_rows(scopes)))
        return PassageSummary(
            self._speakers(scopes), count, {model: self._count_encoded(model, scopes) for model in models}
        )

    def _speakers(self, scopes: Sequence[Scope]) -> frozenset[str]:
        """Return the speakers of all recallable passages in these scopes; cached."""
        cache_key = frozenset(scopes)
        if cache_key not in self._speakers_by_scopes:
            is_searched = self._scope_rows(scopes) & self._rows_with("status", STATUSES, RECALL_WEIGHT)
            numbers = np.unique(self._columns["speaker"][is_searched])
            self._speakers_by_scopes[cache_key] = frozenset(
                self._columns.speaker_names[number] for number in numbers
            ) - {""}
        return self._speakers_by_scopes[cache_key]

    def _count_encoded(self, model: str, scopes: Sequence[Scope]) -> int:
        """Return how many passages of these scopes have a vector; cached."""
        vectors, cache_key = self._model_vectors(model), (model, frozenset(scopes))
        if cache_key not in self._encoded_counts or self._encoded_counts[cache_key][0] != vectors.edition:
            has_vector = self._scope_rows(scopes) & vectors.has_vectors(self._columns["text"])
            self._encoded_counts[cache_key] = vectors.edition, int(np.count_nonzero(has_vector))
        return self._encoded_counts[cache_key][1]

    def _scope_rows(self, scopes: Sequence[Scope]) -> NDArray[np.bool_]:
        """Return which rows exist in these scopes; cached until the next write."""
        cache_key = frozenset(scopes)
        if cache_key not in self._rows_by_scopes:
            numbers = [number for number, scope in self._scopes.items() if scope in cache_key]
            is_chosen = np.zeros(max(self._scopes, default=0) + 1, dtype=np.bool_)
            is_chosen[numbers] = True
            self._rows_by_scopes[cache_key] = is_chosen[self._columns["scope"]] & self._columns["alive"]
        return self._rows_by_scopes[cache_key]

    def _rows_with(self, name: str, family: Sequence[object], chosen: Collection[object]) -> NDArray[np.bool_]:
        """Return which rows have one of the chosen values in a column; cached until the next write."""
        cache_key = name, frozenset(chosen)
        if cache_key not in self._rows_by_values:
            self._rows_by_values[cache_key] = np.array([value in chosen for value in family], dtype=np.bool_)[
                self._columns[name]
            ]
        return self._rows_by_values[cache_key]

    def _model_vectors(self, model: str) -> ModelVectors:
        """Return the vectors of a model, caught up with the texts."""
        vectors = self._models.setdefault(model, ModelVectors(self._db, model, self._limits))
        vectors.catch_up(self._columns.texts, self.state)
        return vectors


def _select_arrays(saved: SavedArrays, prefix: str, metadata: dict[str, Any]) -> SavedArrays:
    """Return those of the arrays whose names begin with the prefix."""
    arrays = {name.removeprefix(prefix): value for name, value in saved.arrays.items() if name.startswith(prefix)}
    lengths = {name.removeprefix(prefix): value for name, value in saved.lengths.items() if name.startswith(prefix)}
    return SavedArrays(arrays, lengths, metadata)


def _to_list(rows: NDArray[np.int64]) -> list[int]:
    numbers: list[int] = rows.tolist()
    return numbers
