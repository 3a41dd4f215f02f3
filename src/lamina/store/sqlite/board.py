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

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.atom.status import RECALL_WEIGHT
from lamina.store.encodings import Key, Near, NearQuery
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.history import millis
from lamina.store.sqlite.model_vectors import ModelVectors
from lamina.store.sqlite.places import Order, Places
from lamina.store.sqlite.rows import ALWAYS, LAYERS, ORIGINS, STATUSES, TOLD, TYPES, Rows
from lamina.store.sqlite.saved import Saved, load, names, save
from lamina.vectors.levels import Asked, Floats

SAVED_FROM = 20_000
"""Number of passages from which on a search is saved."""
CLOSER = 4
"""How many times the limit are compared exactly, if a scan returns approximate cosines."""
_ABOUT = 0.1
"""The largest error of a cosine from a 2-bit scan, except for one in millions."""
_AT_ONCE = 20_000
_FORMAT = 4
_NEAR = ("scope", "status", "layer", "origin", "recorded", "speaker", "at", "asks", "text", "tells_of")


class Board:
    """Columns over passages, and the vectors of each model that was searched."""

    def __init__(self, db: Database, edition: int, folder: Path) -> None:
        self._db, self._edition, self._folder = db, edition, folder
        self._seq, self._is_new = 0, False
        self._rows = Rows()
        self._models: dict[str, ModelVectors] = {}
        self._scopes: dict[int, Scope] = {}
        self._forget_what_was_worked_out()

    def _forget_what_was_worked_out(self) -> None:
        self._orders: dict[int, Order] = {}
        self._spoke: dict[frozenset[Scope], frozenset[str]] = {}
        self._lies_here: dict[frozenset[Scope], NDArray[np.bool_]] = {}
        self._chosen_rows: dict[tuple[str, frozenset[object]], NDArray[np.bool_]] = {}
        self._covered: dict[tuple[str, frozenset[Scope]], tuple[int, int, int]] = {}

    def is_of(self, db: Database, edition: int) -> bool:
        """Return whether what was read is still what the index contains."""
        return self._db is db and self._edition == edition

    def follow(self, applied: int) -> bool:
        """Catch up with a journal position; return False if that is impossible and this must be dropped."""
        if applied < self._seq:
            return False
        if not self._seq:
            self._open(applied)
        if applied > self._seq:
            self._scopes = {number: Scope(scope) for number, scope in self._db.rows("SELECT id, scope FROM scopes")}
            self._take_in(applied)
            self._forget_what_was_worked_out()
        return True

    def _take_in(self, applied: int) -> None:
        """Read the passages of all atoms that changed up to a position."""
        is_first = not self._seq
        if not is_first:
            changed = self._db.rows("SELECT atom_id FROM atoms WHERE seq>?", (self._seq,))
            self._rows.strike(AtomId(row[0]) for row in changed)
        for rows in self._changed_since(self._seq):
            for digest in self._rows.append(rows):
                self._doubt(digest)
        self._seq = applied
        if is_first or self._rows.is_unsettled:
            self.settle()

    def _doubt(self, digest: bytes) -> None:
        """Check again whether a text has vectors: the text and its vectors may have been deleted in between."""
        number = self._rows.texts.number(digest)
        for model in self._models.values():
            if number is not None:
                model.doubt(digest, number)

    def _changed_since(self, seq: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield batches of the passages of every atom changed since a position, ordered by key."""
        last_key: tuple[str, int] = ("", 0)
        index = "INDEXED BY atoms_by_seq" if seq else ""
        while rows := self._db.rows(
            f"SELECT {TOLD} FROM atoms a {index} JOIN passages p ON p.atom=a.id "
            "WHERE a.seq>? AND a.atom_id>=? AND (a.atom_id, p.n)>(?,?) ORDER BY a.atom_id, p.n LIMIT ?",
            (seq, last_key[0], *last_key, _AT_ONCE),
        ):
            yield rows
            if len(rows) < _AT_ONCE:
                return
            last_key = rows[-1][0], rows[-1][1]

    def settle(self) -> None:
        """Sort everything and drop deleted rows, so that it can be saved and takes no more memory than needed."""
        old_numbers, self._is_new = self._rows.settle(), True
        self._models = {name: vectors for name, vectors in self._models.items() if vectors.renumber(old_numbers)}
        self._forget_what_was_worked_out()

    @property
    def is_worth_saving(self) -> bool:
        """Return whether it is large and has work in it that the next process would have to repeat."""
        taken_in = max((model.taken_in for model in self._models.values() if not model.is_exact), default=0)
        return self._rows.count >= SAVED_FROM and (self._is_new or 4 * taken_in > self._rows.count)

    def save(self) -> None:
        """Save it for the next process that opens the store."""
        self.settle()
        arrays, metadata = self._rows.saved()
        model_parts = [part for model in self._models.values() if (part := model.saved()) is not None]
        for number, (model_arrays, _) in enumerate(model_parts):
            arrays |= {f"{number}.{name}": array for name, array in model_arrays.items()}
        metadata |= {"format": _FORMAT, "models": [model_metadata for _, model_metadata in model_parts]}
        self._is_new = False
        for model in self._models.values():
            model.taken_in = 0
        save(self._folder, f"{self._edition}-{self._seq}", arrays, metadata)

    def _open(self, applied: int) -> None:
        """Start from saved arrays, if they belong to this index and are not newer than the position."""
        suffixes = [name.removeprefix(f"{self._edition}-") for name in names(self._folder)]
        seqs = [int(suffix) for suffix in suffixes if suffix.isdecimal() and int(suffix) <= applied]
        saved = load(self._folder, f"{self._edition}-{max(seqs)}") if seqs else None
        if saved is None or saved.told.get("format") != _FORMAT:
            return
        self._rows, self._seq = Rows.of(saved), max(seqs)
        self._scopes = {number: Scope(scope) for number, scope in self._db.rows("SELECT id, scope FROM scopes")}
        for number, metadata in enumerate(saved.told["models"]):
            self._models[metadata["model"]] = ModelVectors.of(self._db, _part(saved, f"{number}.", metadata))

    def nearest(self, query: NearQuery) -> list[Near]:
        """Return the best passages with their neighbours, and the extra ones that the query names."""
        model, allowed = self._model(query.model), self._allowed(query)
        text_scores = {row: query.texts[key] for key, row in self._rows.of_keys(query.texts).items()}
        rows = set(self._best(query, model, allowed, text_scores)) if query.limit else set()
        positions = Places(self._order_of, allowed)
        if query.beside:
            rows |= {neighbour for row in rows for neighbour in positions.beside(row, query.beside)}
        rows |= {row for row in self._rows.of_keys(query.also).values() if allowed[row]}
        return self._told(np.array(sorted(rows), dtype=np.int64), positions, query, model, text_scores)

    def _best(
        self, query: NearQuery, model: ModelVectors, allowed: NDArray[np.bool_], texts: Mapping[int, float]
    ) -> list[int]:
        """Return the rows with the best scores among those that have a vector or a text score."""
        rows = np.flatnonzero(allowed)
        if len(rows) == len(allowed):
            cosine = model.about(query.asked, self._rows["text"])
        else:
            cosine = model.about(query.asked, self._rows["text"][rows])
        unknown = np.isnan(cosine)
        if unknown.any():
            has_text = np.zeros(len(allowed), dtype=np.bool_)
            has_text[list(texts)] = True
            is_scored = ~unknown | has_text[rows]
            rows, cosine = rows[is_scored], np.where(unknown, np.float32(0), cosine)[is_scored]
        score = self._scores(query, rows, cosine, texts)[0]
        if model.is_exact:
            return self._first(rows, score, query.limit)
        nearest = np.sort(np.array(self._first(rows, score, CLOSER * query.limit), dtype=np.int64))
        exact = model.exactly(query.asked, self._rows["text"][nearest])
        return self._first(nearest, self._scores(query, nearest, exact, texts)[0], query.limit)

    def _scores(
        self, query: NearQuery, rows: NDArray[np.int64], cosine: Floats, texts: Mapping[int, float]
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the scores of some rows, in order; which were said in the window, and which mention it."""
        in_window = self._in_time(query, "at", rows)
        mentions_window = self._in_time(query, "tells_of", rows) & ~in_window
        score = cosine * np.float32(query.vector) + self._tilt(query, rows, in_window, mentions_window)
        if texts:
            text_rows = np.array(list(texts), dtype=np.int64)
            amounts = np.array(list(texts.values()), dtype=np.float32) * np.float32(query.text)
            indexes = np.searchsorted(rows, text_rows)
            is_present = indexes < len(rows)
            is_present[is_present] = rows[indexes[is_present]] == text_rows[is_present]
            score[indexes[is_present]] += amounts[is_present]
        weights = np.array([query.statuses.get(status, 0.0) for status in STATUSES], dtype=np.float32)
        weighted = np.flatnonzero(weights[self._of("status", rows)] != 1)
        unweighted = score[weighted]
        score[weighted] = np.where(
            unweighted > 0, unweighted * weights[self._rows["status"][rows[weighted]]], unweighted
        )
        return score, in_window, mentions_window

    def _of(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return a column for some rows, in order; for all rows it is the column itself."""
        column = self._rows[name]
        return column if len(rows) == len(column) else column[rows]

    def withheld(self, query: NearQuery, above: float) -> dict[str, int]:
        """Return how many passages with at least this cosine were filtered out, by the reason."""
        model, rows = self._model(query.model), np.flatnonzero(self._here(query.scopes) & ~self._allowed(query))
        cosines = model.about(query.asked, self._rows["text"][rows])
        rows = rows[cosines >= (above if model.is_exact else above - _ABOUT)]
        if not model.is_exact:
            rows = rows[model.exactly(query.asked, self._rows["text"][rows]) >= above]
        reasons = Counter(self._kept_out(int(row), query) for row in rows)
        return dict(sorted(reasons.items()))

    def _kept_out(self, row: int, query: NearQuery) -> str:
        status, kind = STATUSES[self._rows["status"][row]], TYPES[self._rows["type"][row]]
        if status not in query.statuses:
            return str(status.value)
        return "not of this mode" if kind not in query.memory_types else "not valid then"

    def _first(self, rows: NDArray[np.int64], score: Floats, limit: int) -> list[int]:
        """Return the rows with the best scores, including all that tie at the cut; if too many, the newest.

        Never by row number, which differs between two indexes of the same journal.
        """
        if len(rows) <= limit:
            return _numbers(rows)
        cut = np.partition(score, len(score) - limit)[len(score) - limit]
        best, tied = rows[score > cut], rows[score == cut]
        if len(best) + len(tied) <= 2 * limit:
            return _numbers(best) + _numbers(tied)
        recorded, key = self._rows["recorded"], self._rows.key
        youngest = nsmallest(limit - len(best), _numbers(tied), key=lambda row: (-recorded[row], key(row)))
        return _numbers(best) + youngest

    def _allowed(self, query: NearQuery) -> NDArray[np.bool_]:
        """Return which rows pass the filters of a query."""
        at, columns = millis(query.known_by or query.true_at or query.valid_at), self._rows
        if query.known_by is not None:
            allowed = self._here(query.scopes) & (columns["recorded"] <= at)
        else:
            start_column, end_column = ("starts", "ends") if query.true_at is None else ("begins", "until")
            allowed = self._here(query.scopes) & (columns[start_column] <= at) & (columns[end_column] > at)
        allowed &= self._chosen("status", STATUSES, query.statuses)
        allowed &= self._chosen("type", TYPES, query.memory_types)
        return allowed

    def _in_time(self, query: NearQuery, column: str, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which rows were said in, or mention, the time window of the query."""
        inside = np.zeros(len(rows), dtype=np.bool_)
        if query.tilts.when is not None:
            times = self._of(column, rows)
            has_time = times != ALWAYS
            inside[has_time] = query.tilts.when.contains(times[has_time])
        return inside

    def _tilt(
        self, query: NearQuery, rows: NDArray[np.int64], in_time: NDArray[np.bool_], tells_of: NDArray[np.bool_]
    ) -> Floats:
        """Return the sum of the added terms for each row."""
        speaker_numbers = self._rows.speakers
        speakers = {
            speaker_numbers[speaker]: amount
            for speaker, amount in query.tilts.speakers.items()
            if speaker in speaker_numbers
        }
        total = np.zeros(len(rows), dtype=np.float32)
        if any(speakers.values()):
            by_speaker = np.zeros(len(speaker_numbers), dtype=np.float32)
            by_speaker[list(speakers)] = list(speakers.values())
            total += by_speaker[self._of("speaker", rows)]
        if query.tilts.when is not None:
            total += np.where(in_time, np.float32(query.tilts.in_time), np.float32(0))
            total += np.where(tells_of, np.float32(query.tilts.tells_of), np.float32(0))
        return total

    def _order_of(self, row: int) -> Order:
        """Return the rows of a row's session, in order; cached."""
        if row not in self._orders:
            order = Order(self._rows.of_session(row))
            self._orders |= dict.fromkeys(order.rows, order)
        return self._orders[row]

    def _told(
        self, rows: NDArray[np.int64], places: Places, query: NearQuery, model: ModelVectors, texts: Mapping[int, float]
    ) -> list[Near]:
        """Return the rows as results, with exact cosines."""
        cosine = model.exactly(query.asked, self._rows["text"][rows])
        score, in_window, mentions_window = self._scores(query, rows, cosine, texts)
        columns: list[NDArray[Any]] = [
            rows,
            cosine,
            score,
            in_window,
            mentions_window,
            *(self._rows[name][rows] for name in _NEAR),
        ]
        candidates = []
        for row, row_cosine, row_score, is_in_window, is_mentioning, *values in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            scope, status, layer, origin, recorded, speaker, at, is_question, text, mentioned_at = values
            candidates.append(
                Near(
                    self._rows.key(row),
                    self._scopes[scope],
                    row_cosine,
                    row_score,
                    STATUSES[status],
                    LAYERS[layer],
                    ORIGINS[origin],
                    recorded,
                    self._rows.names[speaker],
                    at,
                    is_in_window,
                    is_mentioning,
                    mentioned_at != ALWAYS,
                    is_question,
                    self._rows.session(row),
                    places.of(row),
                    self._rows.texts.digest(text),
                )
            )
        return candidates

    def cosines(self, model: str, asked: Asked, keys: Sequence[Key]) -> list[float]:
        """Return the cosine of each passage's nearest chunk; 0 if it has none."""
        rows = self._rows.of_keys(keys)
        texts = np.array([self._rows["text"][rows[key]] if key in rows else -1 for key in keys], dtype=np.int64)
        return [float(cosine) for cosine in self._model(model).exactly(asked, texts)]

    def speakers(self, scopes: Sequence[Scope]) -> frozenset[str]:
        """Return the speakers of all recallable passages in these scopes."""
        cache_key = frozenset(scopes)
        if cache_key not in self._spoke:
            is_searched = self._here(scopes) & self._chosen("status", STATUSES, RECALL_WEIGHT)
            numbers = np.unique(self._rows["speaker"][is_searched])
            self._spoke[cache_key] = frozenset(self._rows.names[number] for number in numbers) - {""}
        return self._spoke[cache_key]

    def coverage(self, model: str, scopes: Sequence[Scope]) -> tuple[int, int]:
        """Return how many passages of these scopes have a vector, and how many there are; cached."""
        vectors, cache_key = self._model(model), (model, frozenset(scopes))
        if cache_key not in self._covered or self._covered[cache_key][0] != vectors.edition:
            in_scopes = self._here(scopes)
            has_vector = in_scopes & vectors.known(self._rows["text"])
            self._covered[cache_key] = (
                vectors.edition,
                int(np.count_nonzero(has_vector)),
                int(np.count_nonzero(in_scopes)),
            )
        return self._covered[cache_key][1:]

    def _here(self, scopes: Sequence[Scope]) -> NDArray[np.bool_]:
        """Return which rows exist in these scopes; cached until the next write."""
        cache_key = frozenset(scopes)
        if cache_key not in self._lies_here:
            numbers = [number for number, scope in self._scopes.items() if scope in cache_key]
            is_chosen = np.zeros(max(self._scopes, default=0) + 1, dtype=np.bool_)
            is_chosen[numbers] = True
            self._lies_here[cache_key] = is_chosen[self._rows["scope"]] & self._rows["alive"]
        return self._lies_here[cache_key]

    def _chosen(self, name: str, family: Sequence[object], chosen: Collection[object]) -> NDArray[np.bool_]:
        """Return which rows have one of the chosen values in a column; cached until the next write."""
        cache_key = name, frozenset(chosen)
        if cache_key not in self._chosen_rows:
            self._chosen_rows[cache_key] = np.array([value in chosen for value in family], dtype=np.bool_)[
                self._rows[name]
            ]
        return self._chosen_rows[cache_key]

    def _model(self, model: str) -> ModelVectors:
        """Return the vectors of a model, caught up with the texts."""
        vectors = self._models.setdefault(model, ModelVectors(self._db, model))
        vectors.follow(self._rows.texts)
        return vectors


def _part(saved: Saved, prefix: str, told: dict[str, Any]) -> Saved:
    """Return those of the arrays whose names begin with the prefix."""
    arrays = {name.removeprefix(prefix): value for name, value in saved.arrays.items() if name.startswith(prefix)}
    lengths = {name.removeprefix(prefix): value for name, value in saved.lengths.items() if name.startswith(prefix)}
    return Saved(arrays, lengths, told)


def _numbers(rows: NDArray[np.int64]) -> list[int]:
    numbers: list[int] = rows.tolist()
    return numbers
