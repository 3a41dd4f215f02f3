"""Vector search over the passages of an index, in memory: filters and compares by columns of numbers.

It follows the journal position of the index. Rows of a changed atom are marked as deleted and appended anew, so a write
costs only what it changed. Vectors are added when a model has computed them. A large search is saved beside the index
and memory-mapped by the next process that opens the store. It is a cache: when in doubt, it is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from heapq import nsmallest
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope, agent_name
from lamina.atom.status import RECALL_WEIGHT
from lamina.store.encodings import PassageKey
from lamina.store.passages import NearPassage, Partition, PassageFilter, VectorQuery
from lamina.store.sqlite.array_files import SavedArrays, list_saved, load, save
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.in_memory_vectors import ModelVectors, SearchLimits
from lamina.store.sqlite.index import IndexState
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
from lamina.text.time_windows import TimeWindows
from lamina.text.timestamps import to_millis
from lamina.vectors.integer_vectors import Floats, QueryVector

T = TypeVar("T")

EXACT_FACTOR = 4
"""How many times the limit are compared exactly, if a scan returns approximate cosines."""
_SCAN_ERROR = 0.1
"""The largest error of a cosine from a 2-bit scan, except for one in millions."""
_READ_BATCH = 20_000
_FORMAT = 5


class VectorSearch:
    """Columns over passages, and the vectors of each model that was searched. `state` is the state of the index that
    the vectors of a model follow when they are needed."""

    def __init__(self, db: Database, edition: int, folder: Path, limits: SearchLimits) -> None:
        self.db, self._edition, self._folder, self._limits = db, edition, folder, limits
        self._seq, self._is_unsaved = 0, False
        self._columns = PassageColumns()
        self._models: dict[str, ModelVectors] = {}
        self.state = IndexState()
        self._scopes: dict[int, Scope] = {}
        self._clear_caches()

    def _clear_caches(self) -> None:
        self._session_orders: dict[int, SessionRows] = {}
        self._selected: tuple[PassageFilter, NDArray[np.bool_], SessionOrder] | None = None
        self._speakers_by_scopes: dict[frozenset[Scope], frozenset[str]] = {}
        self._rows_by_scopes: dict[frozenset[Scope], NDArray[np.bool_]] = {}
        self._rows_by_values: dict[tuple[str, frozenset[object]], NDArray[np.bool_]] = {}
        self._encoded_counts: dict[tuple[str, frozenset[Scope]], tuple[int, int]] = {}

    def belongs_to(self, db: Database, edition: int) -> bool:
        """Return whether what was read is still what the index contains."""
        return self.db is db and self._edition == edition

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
            self._scopes = {number: Scope(scope) for number, scope in self.db.rows("SELECT id, scope FROM scopes")}
            self._apply_since(position)
            self._clear_caches()
        return True

    def _apply_since(self, position: int) -> None:
        """Read the passages of all atoms that changed up to a position."""
        is_first = not self._seq
        if not is_first:
            changed = self.db.rows("SELECT atom_id FROM atoms WHERE seq>?", (self._seq,))
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
        while rows := self.db.rows(
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
        self._scopes = {number: Scope(scope) for number, scope in self.db.rows("SELECT id, scope FROM scopes")}
        for number, metadata in enumerate(saved.metadata["models"]):
            self._models[metadata["model"]] = ModelVectors.from_arrays(
                self.db, _select_arrays(saved, f"{number}.", metadata), self._limits
            )

    def find_nearest(self, query: VectorQuery) -> list[NearPassage]:
        """Return the nearest passages of each part, the named ones, and the neighbours of others."""
        model, (allowed, positions) = self._model_vectors(query.model), self._select(query.filter)
        centres = self._allowed_keys(query.neighbours_of, allowed)
        rows = {neighbour for row in centres for neighbour in positions.neighbours(row, query.reach)} - centres
        rows |= self._allowed_keys(query.keys, allowed)
        rows.update(self._nearest_rows(query, model, allowed) if query.limit else ())
        sorted_rows = np.array(sorted(rows), dtype=np.int64)
        cosines = model.exact_cosines(query.query_vector, self._columns["text"][sorted_rows])
        return self._to_passages(sorted_rows, cosines, positions)

    def _allowed_keys(self, keys: Collection[PassageKey], allowed: NDArray[np.bool_]) -> set[int]:
        """Return the rows of those passages that exist and are allowed."""
        return {row for row in self._columns.rows_of_keys(keys).values() if allowed[row]}

    def _nearest_rows(self, query: VectorQuery, model: ModelVectors, allowed: NDArray[np.bool_]) -> Iterator[int]:
        """Yield the rows of each part whose vectors are nearest."""
        rows, texts = np.flatnonzero(allowed), self._columns["text"]
        cosines = model.approximate_cosines(query.query_vector, texts if len(rows) == len(texts) else texts[rows])
        unknown = np.isnan(cosines)
        if unknown.any():
            rows, cosines = rows[~unknown], cosines[~unknown]
        for part in self._divide(query.partition, rows):
            part_rows, part_cosines = rows[part], cosines[part]
            if not model.is_exact:
                part_rows = self._top_rows(part_rows, part_cosines, EXACT_FACTOR * query.limit)
                part_cosines = model.exact_cosines(query.query_vector, texts[part_rows])
            yield from self._top_rows(part_rows, part_cosines, query.limit).tolist()

    def _divide(self, partition: Partition, rows: NDArray[np.int64]) -> list[NDArray[np.int64] | slice]:
        """Return the indexes of the rows of each part."""
        numbers = np.zeros(len(rows), dtype=np.int64)
        for column, values, sets in (
            ("status", STATUSES, partition.statuses),
            ("speaker", self._columns.speaker_names, partition.speakers),
        ):
            set_numbers = _number_sets(values, sets)
            if set_numbers.any():
                numbers = numbers * (len(sets) + 1) + set_numbers[self._columns[column][rows]]
        if partition.window is not None:
            is_said = self._is_in_window(partition.window, "at", rows)
            is_mentioned = self._is_in_window(partition.window, "tells_of", rows)
            numbers = numbers * 3 + np.where(is_said, 2, is_mentioned)
        used = np.unique(numbers)
        return [np.flatnonzero(numbers == number) for number in used] if len(used) > 1 else [slice(None)]

    def _is_in_window(self, window: TimeWindows, column: str, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        times = self._columns[column][rows]
        is_inside, has_time = np.zeros(len(rows), dtype=np.bool_), times != ALWAYS
        is_inside[has_time] = window.contains(times[has_time])
        return is_inside

    def count_filtered_out(self, query: VectorQuery, min_cosine: float) -> dict[str, int]:
        """Return how many passages with at least this cosine were filtered out, by the reason."""
        model, rows = (
            self._model_vectors(query.model),
            np.flatnonzero(self._scope_rows(query.filter.scopes) & ~self._select(query.filter)[0]),
        )
        cosines = model.approximate_cosines(query.query_vector, self._columns["text"][rows])
        rows = rows[cosines >= (min_cosine if model.is_exact else min_cosine - _SCAN_ERROR)]
        if not model.is_exact:
            rows = rows[model.exact_cosines(query.query_vector, self._columns["text"][rows]) >= min_cosine]
        reasons = Counter(self._filter_reason(int(row), query.filter) for row in rows)
        return dict(sorted(reasons.items()))

    def _filter_reason(self, row: int, passage_filter: PassageFilter) -> str:
        status, kind = STATUSES[self._columns["status"][row]], TYPES[self._columns["type"][row]]
        if status not in passage_filter.statuses:
            return str(status.value)
        if passage_filter.agent is not None and not self._agent_rows(passage_filter.agent)[row]:
            return "not learnt by this agent"
        if kind not in passage_filter.memory_types:
            return "not of this mode"
        layers = passage_filter.layers
        is_in_layer = layers is None or LAYERS[self._columns["layer"][row]] in layers
        return "not valid then" if is_in_layer else "not in this layer"

    def _top_rows(self, rows: NDArray[np.int64], cosines: Floats, limit: int) -> NDArray[np.int64]:
        """Return the nearest of the rows, including all that tie at the cut; if too many, the newest.

        Never by row number, which differs between two indexes of the same journal.
        """
        if len(rows) <= limit:
            return rows
        cut = np.partition(cosines, len(cosines) - limit)[len(cosines) - limit]
        best, tied = rows[cosines > cut], rows[cosines == cut]
        if len(best) + len(tied) > 2 * limit:
            recorded, key = self._columns["recorded"], self._columns.key
            newest = nsmallest(limit - len(best), tied.tolist(), key=lambda row: (-recorded[row], key(row)))
            tied = np.array(newest, dtype=np.int64)
        return np.concatenate([best, tied])

    def _select(self, passage_filter: PassageFilter) -> tuple[NDArray[np.bool_], SessionOrder]:
        """Return which rows pass a filter, and their order in sessions; cached for the queries of one recall."""
        if self._selected is None or self._selected[0] != passage_filter:
            allowed = self._allowed_rows(passage_filter)
            self._selected = passage_filter, allowed, SessionOrder(self._session_order, allowed)
        return self._selected[1:]

    def _allowed_rows(self, passage_filter: PassageFilter) -> NDArray[np.bool_]:
        columns, is_in_scope = self._columns, self._scope_rows(passage_filter.scopes)
        at = to_millis(passage_filter.known_by or passage_filter.true_at or passage_filter.valid_at)
        if passage_filter.known_by is not None:
            allowed = is_in_scope & (columns["recorded"] <= at)
        else:
            start_column, end_column = ("starts", "ends") if passage_filter.true_at is None else ("begins", "until")
            allowed = is_in_scope & (columns[start_column] <= at) & (columns[end_column] > at)
        allowed &= self._rows_with("status", STATUSES, passage_filter.statuses)
        allowed &= self._rows_with("type", TYPES, passage_filter.memory_types)
        if passage_filter.layers is not None:
            allowed &= self._rows_with("layer", LAYERS, passage_filter.layers)
        return allowed if passage_filter.agent is None else allowed & self._agent_rows(passage_filter.agent)

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

    def _to_passages(self, rows: NDArray[np.int64], cosines: Floats, positions: SessionOrder) -> list[NearPassage]:
        """Return the rows as results."""
        columns = self._columns

        def values(name: str) -> list[Any]:
            return columns[name][rows].tolist()  # type: ignore[no-any-return]

        return list(
            map(
                NearPassage,
                columns.keys(rows),
                [self._scopes[scope] for scope in values("scope")],
                cosines.tolist(),
                [STATUSES[status] for status in values("status")],
                [LAYERS[layer] for layer in values("layer")],
                [ORIGINS[origin] for origin in values("origin")],
                values("recorded"),
                [columns.speaker_names[speaker] for speaker in values("speaker")],
                values("at"),
                [None if mentioned_at == ALWAYS else mentioned_at for mentioned_at in values("tells_of")],
                values("asks"),
                columns.session_names(rows),
                [positions.position(row) for row in rows.tolist()],
                [columns.texts.digest(text) for text in values("text")],
            )
        )

    def cosines(self, model: str, query_vector: QueryVector, keys: Sequence[PassageKey]) -> list[float]:
        """Return the cosine of each passage's nearest chunk; 0 if it has none."""
        rows = self._columns.rows_of_keys(keys)
        texts = np.array([self._columns["text"][rows[key]] if key in rows else -1 for key in keys], dtype=np.int64)
        return [float(cosine) for cosine in self._model_vectors(model).exact_cosines(query_vector, texts)]

    def count(self, scopes: Sequence[Scope]) -> int:
        """Return how many passages these scopes have."""
        return int(np.count_nonzero(self._scope_rows(scopes)))

    def speakers(self, scopes: Sequence[Scope]) -> frozenset[str]:
        """Return the speakers of all recallable passages in these scopes; cached."""
        cache_key = frozenset(scopes)
        if cache_key not in self._speakers_by_scopes:
            is_searched = self._scope_rows(scopes) & self._rows_with("status", STATUSES, RECALL_WEIGHT)
            numbers = np.unique(self._columns["speaker"][is_searched])
            self._speakers_by_scopes[cache_key] = frozenset(
                self._columns.speaker_names[number] for number in numbers
            ) - {""}
        return self._speakers_by_scopes[cache_key]

    def count_encoded(self, model: str, scopes: Sequence[Scope]) -> int:
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
        vectors = self._models.setdefault(model, ModelVectors(self.db, model, self._limits))
        vectors.catch_up(self._columns.texts, self.state)
        return vectors


def _select_arrays(saved: SavedArrays, prefix: str, metadata: dict[str, Any]) -> SavedArrays:
    """Return those of the arrays whose names begin with the prefix."""
    arrays = {name.removeprefix(prefix): value for name, value in saved.arrays.items() if name.startswith(prefix)}
    lengths = {name.removeprefix(prefix): value for name, value in saved.lengths.items() if name.startswith(prefix)}
    return SavedArrays(arrays, lengths, metadata)


def _number_sets(values: Sequence[T], sets: Sequence[Collection[T]]) -> NDArray[np.int64]:
    """Return for each value the number of the set that contains it, counted from 1; 0 for none."""
    numbers = np.zeros(len(values), dtype=np.int64)
    for number, members in enumerate(sets, 1):
        numbers[[value in members for value in values]] = number
    return numbers
