"""The passages of an index in memory, as columns: what a vector search filters and tilts by, kept current by sequence.

Rows of an atom that changed are struck out and written anew at the end, so a write costs what it changed. Vectors come
when a model has made them. A large board is saved beside the index and mapped by whoever opens the store next. Nothing
here is the truth; a board in doubt is thrown away.
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
"""Passages from which on a board is saved."""
CLOSER = 4
"""So many times as many passages as are wanted are compared exactly, where a scan tells about how near they are."""
_ABOUT = 0.1
"""How far a scan in two bits is off at the most, but for one in millions."""
_AT_ONCE = 20_000
_FORMAT = 4
_NEAR = ("scope", "status", "layer", "origin", "recorded", "speaker", "at", "asks", "text", "tells_of")


class Board:
    """Columns over passages, and the vectors of each model that was asked for."""

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
        """Whether what was read here is still what stands there."""
        return self._db is db and self._edition == edition

    def follow(self, applied: int) -> bool:
        """Come up to a journal position; False if this board cannot and must be thrown away."""
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
        first = not self._seq
        if not first:
            changed = self._db.rows("SELECT atom_id FROM atoms WHERE seq>?", (self._seq,))
            self._rows.strike(AtomId(row[0]) for row in changed)
        for found in self._changed_since(self._seq):
            for digest in self._rows.append(found):
                self._doubt(digest)
        self._seq = applied
        if first or self._rows.is_unsettled:
            self.settle()

    def _doubt(self, digest: bytes) -> None:
        # Its words may have been gone meanwhile, and what a model made of them with them.
        number = self._rows.texts.number(digest)
        for model in self._models.values():
            if number is not None:
                model.doubt(digest, number)

    def _changed_since(self, seq: int) -> Iterator[list[tuple[Any, ...]]]:
        """The passages of every atom that changed since, some at a time, in the order of their keys."""
        last: tuple[str, int] = ("", 0)
        index = "INDEXED BY atoms_by_seq" if seq else ""
        while found := self._db.rows(
            f"SELECT {TOLD} FROM atoms a {index} JOIN passages p ON p.atom=a.id "
            "WHERE a.seq>? AND a.atom_id>=? AND (a.atom_id, p.n)>(?,?) ORDER BY a.atom_id, p.n LIMIT ?",
            (seq, last[0], *last, _AT_ONCE),
        ):
            yield found
            if len(found) < _AT_ONCE:
                return
            last = found[-1][0], found[-1][1]

    def settle(self) -> None:
        """Put everything in order, so that it can be saved and takes no more room than it needs."""
        old, self._is_new = self._rows.settle(), True
        self._models = {name: each for name, each in self._models.items() if each.renumber(old)}
        self._forget_what_was_worked_out()

    @property
    def is_worth_saving(self) -> bool:
        """Whether it is large, and whoever opens the store next would have much to do that is done here."""
        taken_in = max((model.taken_in for model in self._models.values() if not model.is_exact), default=0)
        return self._rows.count >= SAVED_FROM and (self._is_new or 4 * taken_in > self._rows.count)

    def save(self) -> None:
        """Leave it for whoever opens the store next."""
        self.settle()
        arrays, told = self._rows.saved()
        kept = [each for each in (model.saved() for model in self._models.values()) if each is not None]
        for number, (some, _) in enumerate(kept):
            arrays |= {f"{number}.{name}": array for name, array in some.items()}
        told |= {"format": _FORMAT, "models": [each for _, each in kept]}
        self._is_new = False
        for each in self._models.values():
            each.taken_in = 0
        save(self._folder, f"{self._edition}-{self._seq}", arrays, told)

    def _open(self, applied: int) -> None:
        """Begin with what was saved, if it is of this index and not of a later moment."""
        found = [name.removeprefix(f"{self._edition}-") for name in names(self._folder)]
        seqs = [int(each) for each in found if each.isdecimal() and int(each) <= applied]
        saved = load(self._folder, f"{self._edition}-{max(seqs)}") if seqs else None
        if saved is None or saved.told.get("format") != _FORMAT:
            return
        self._rows, self._seq = Rows.of(saved), max(seqs)
        self._scopes = {number: Scope(scope) for number, scope in self._db.rows("SELECT id, scope FROM scopes")}
        for number, told in enumerate(saved.told["models"]):
            self._models[told["model"]] = ModelVectors.of(self._db, _part(saved, f"{number}.", told))

    def nearest(self, query: NearQuery) -> list[Near]:
        """The best passages with their neighbours, and those asked for besides."""
        model, allowed = self._model(query.model), self._allowed(query)
        texts = {row: query.texts[key] for key, row in self._rows.of_keys(query.texts).items()}
        rows = set(self._best(query, model, allowed, texts)) if query.limit else set()
        places = Places(self._order_of, allowed)
        if query.beside:
            rows |= {row for each in rows for row in places.beside(each, query.beside)}
        rows |= {row for row in self._rows.of_keys(query.also).values() if allowed[row]}
        return self._told(np.array(sorted(rows), dtype=np.int64), places, query, model, texts)

    def _best(
        self, query: NearQuery, model: ModelVectors, allowed: NDArray[np.bool_], texts: Mapping[int, float]
    ) -> list[int]:
        """The rows with the best scores among those that have a vector or words of the question."""
        rows = np.flatnonzero(allowed)
        if len(rows) == len(allowed):
            cosine = model.about(query.asked, self._rows["text"])
        else:
            cosine = model.about(query.asked, self._rows["text"][rows])
        unknown = np.isnan(cosine)
        if unknown.any():
            worded = np.zeros(len(allowed), dtype=np.bool_)
            worded[list(texts)] = True
            kept = ~unknown | worded[rows]
            rows, cosine = rows[kept], np.where(unknown, np.float32(0), cosine)[kept]
        score = self._scores(query, rows, cosine, texts)[0]
        if model.is_exact:
            return self._first(rows, score, query.limit)
        near = np.sort(np.array(self._first(rows, score, CLOSER * query.limit), dtype=np.int64))
        exact = model.exactly(query.asked, self._rows["text"][near])
        return self._first(near, self._scores(query, near, exact, texts)[0], query.limit)

    def _scores(
        self, query: NearQuery, rows: NDArray[np.int64], cosine: Floats, texts: Mapping[int, float]
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """The score of some rows, in order; which of them were said in time, and which tell of it."""
        in_time = self._in_time(query, "at", rows)
        tells_of = self._in_time(query, "tells_of", rows) & ~in_time
        score = cosine * np.float32(query.vector) + self._tilt(query, rows, in_time, tells_of)
        if texts:
            worded = np.array(list(texts), dtype=np.int64)
            amounts = np.array(list(texts.values()), dtype=np.float32) * np.float32(query.text)
            places = np.searchsorted(rows, worded)
            here = places < len(rows)
            here[here] = rows[places[here]] == worded[here]
            score[places[here]] += amounts[here]
        weights = np.array([query.statuses.get(status, 0.0) for status in STATUSES], dtype=np.float32)
        weighed = np.flatnonzero(weights[self._of("status", rows)] != 1)
        less = score[weighed]
        score[weighed] = np.where(less > 0, less * weights[self._rows["status"][rows[weighed]]], less)
        return score, in_time, tells_of

    def _of(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """A column of some rows, in order; of all rows it is the column itself."""
        column = self._rows[name]
        return column if len(rows) == len(column) else column[rows]

    def withheld(self, query: NearQuery, above: float) -> dict[str, int]:
        """How many passages that lie at least so near were filtered out, by what kept them out."""
        model, rows = self._model(query.model), np.flatnonzero(self._here(query.scopes) & ~self._allowed(query))
        near = model.about(query.asked, self._rows["text"][rows])
        rows = rows[near >= (above if model.is_exact else above - _ABOUT)]
        if not model.is_exact:
            rows = rows[model.exactly(query.asked, self._rows["text"][rows]) >= above]
        why = Counter(self._kept_out(int(row), query) for row in rows)
        return dict(sorted(why.items()))

    def _kept_out(self, row: int, query: NearQuery) -> str:
        status, kind = STATUSES[self._rows["status"][row]], TYPES[self._rows["type"][row]]
        if status not in query.statuses:
            return str(status.value)
        return "not of this mode" if kind not in query.memory_types else "not valid then"

    def _first(self, rows: NDArray[np.int64], score: Floats, limit: int) -> list[int]:
        """The rows with the best scores. Those that tie at the cut are all taken; if too many, the youngest.

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
        at, rows = millis(query.known_by or query.true_at or query.valid_at), self._rows
        if query.known_by is not None:
            allowed = self._here(query.scopes) & (rows["recorded"] <= at)
        else:
            starts, ends = ("starts", "ends") if query.true_at is None else ("begins", "until")
            allowed = self._here(query.scopes) & (rows[starts] <= at) & (rows[ends] > at)
        allowed &= self._chosen("status", STATUSES, query.statuses)
        allowed &= self._chosen("type", TYPES, query.memory_types)
        return allowed

    def _in_time(self, query: NearQuery, column: str, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows were said at, or tell of, the time in question."""
        inside = np.zeros(len(rows), dtype=np.bool_)
        if query.tilts.when is not None:
            times = self._of(column, rows)
            known = times != ALWAYS
            inside[known] = query.tilts.when.contains(times[known])
        return inside

    def _tilt(
        self, query: NearQuery, rows: NDArray[np.int64], in_time: NDArray[np.bool_], tells_of: NDArray[np.bool_]
    ) -> Floats:
        known = self._rows.speakers
        speakers = {known[each]: amount for each, amount in query.tilts.speakers.items() if each in known}
        tilt = np.zeros(len(rows), dtype=np.float32)
        if any(speakers.values()):
            by_speaker = np.zeros(len(known), dtype=np.float32)
            by_speaker[list(speakers)] = list(speakers.values())
            tilt += by_speaker[self._of("speaker", rows)]
        if query.tilts.when is not None:
            tilt += np.where(in_time, np.float32(query.tilts.in_time), np.float32(0))
            tilt += np.where(tells_of, np.float32(query.tilts.tells_of), np.float32(0))
        return tilt

    def _order_of(self, row: int) -> Order:
        """The rows of a row's session, in order; worked out when it is first asked for."""
        if row not in self._orders:
            order = Order(self._rows.of_session(row))
            self._orders |= dict.fromkeys(order.rows, order)
        return self._orders[row]

    def _told(
        self, rows: NDArray[np.int64], places: Places, query: NearQuery, model: ModelVectors, texts: Mapping[int, float]
    ) -> list[Near]:
        """The rows with all that is known of them, their cosines exact."""
        cosine = model.exactly(query.asked, self._rows["text"][rows])
        score, in_time, tells_of = self._scores(query, rows, cosine, texts)
        columns: list[NDArray[Any]] = [
            rows,
            cosine,
            score,
            in_time,
            tells_of,
            *(self._rows[name][rows] for name in _NEAR),
        ]
        told = []
        for row, near, first, timely, telling, *place in zip(*(column.tolist() for column in columns), strict=True):
            scope, status, layer, origin, recorded, speaker, at, asks, text, when = place
            told.append(
                Near(
                    self._rows.key(row),
                    self._scopes[scope],
                    near,
                    first,
                    STATUSES[status],
                    LAYERS[layer],
                    ORIGINS[origin],
                    recorded,
                    self._rows.names[speaker],
                    at,
                    timely,
                    telling,
                    when != ALWAYS,
                    asks,
                    self._rows.session(row),
                    places.of(row),
                    self._rows.texts.digest(text),
                )
            )
        return told

    def cosines(self, model: str, asked: Asked, keys: Sequence[Key]) -> list[float]:
        """The cosine of each passage's nearest chunk; 0 where it has none."""
        found = self._rows.of_keys(keys)
        texts = np.array([self._rows["text"][found[key]] if key in found else -1 for key in keys], dtype=np.int64)
        return [float(each) for each in self._model(model).exactly(asked, texts)]

    def speakers(self, scopes: Sequence[Scope]) -> frozenset[str]:
        """Whoever said something in these scopes that recall searches."""
        wanted = frozenset(scopes)
        if wanted not in self._spoke:
            here = self._here(scopes) & self._chosen("status", STATUSES, RECALL_WEIGHT)
            spoke = np.unique(self._rows["speaker"][here])
            self._spoke[wanted] = frozenset(self._rows.names[each] for each in spoke) - {""}
        return self._spoke[wanted]

    def coverage(self, model: str, scopes: Sequence[Scope]) -> tuple[int, int]:
        """How many passages of these scopes have a vector, and how many there are; counted once until that changes."""
        made, wanted = self._model(model), (model, frozenset(scopes))
        if wanted not in self._covered or self._covered[wanted][0] != made.edition:
            here = self._here(scopes)
            known = here & made.known(self._rows["text"])
            self._covered[wanted] = made.edition, int(np.count_nonzero(known)), int(np.count_nonzero(here))
        return self._covered[wanted][1:]

    def _here(self, scopes: Sequence[Scope]) -> NDArray[np.bool_]:
        """Which rows stand and lie in these scopes; worked out once until something is written."""
        wanted = frozenset(scopes)
        if wanted not in self._lies_here:
            numbers = [number for number, scope in self._scopes.items() if scope in wanted]
            chosen = np.zeros(max(self._scopes, default=0) + 1, dtype=np.bool_)
            chosen[numbers] = True
            self._lies_here[wanted] = chosen[self._rows["scope"]] & self._rows["alive"]
        return self._lies_here[wanted]

    def _chosen(self, name: str, family: Sequence[object], chosen: Collection[object]) -> NDArray[np.bool_]:
        """Which rows have one of the chosen values in a column; worked out once until something is written."""
        wanted = name, frozenset(chosen)
        if wanted not in self._chosen_rows:
            self._chosen_rows[wanted] = np.array([each in chosen for each in family], dtype=np.bool_)[self._rows[name]]
        return self._chosen_rows[wanted]

    def _model(self, model: str) -> ModelVectors:
        made = self._models.setdefault(model, ModelVectors(self._db, model))
        made.follow(self._rows.texts)
        return made


def _part(saved: Saved, prefix: str, told: dict[str, Any]) -> Saved:
    """Those of the arrays whose names begin so."""
    arrays = {name.removeprefix(prefix): each for name, each in saved.arrays.items() if name.startswith(prefix)}
    lengths = {name.removeprefix(prefix): each for name, each in saved.lengths.items() if name.startswith(prefix)}
    return Saved(arrays, lengths, told)


def _numbers(rows: NDArray[np.int64]) -> list[int]:
    numbers: list[int] = rows.tolist()
    return numbers
