"""The passages of an index in memory, as columns: what a vector search filters and tilts by, kept current by sequence.

Rows of an atom that changed are struck out and written anew at the end, so a write costs what it changed. Vectors come
when a model has made them. Nothing here is the truth; a board in doubt is thrown away.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import nsmallest
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.scope import Scope
from lamina.atom.status import ENDED, RECALL_WEIGHT, REPLACED, Status
from lamina.atom.trust import Origin
from lamina.store.encodings import Key, Near, NearQuery
from lamina.store.sqlite.database import Corrupt, Database
from lamina.store.sqlite.history import millis
from lamina.vectors.levels import Asked, Floats, to_rows
from lamina.vectors.table import VectorTable

_STATUSES, _TYPES, _LAYERS, _ORIGINS = tuple(Status), tuple(MemoryType), tuple(Layer), tuple(Origin)
_ALWAYS, _NEVER_ENDS = -(2**62), 2**62
_ROWS = (
    "SELECT p.id, a.id, a.atom_id, p.n, a.scope, a.status, a.memory_type, a.valid_from, a.valid_until, a.recorded_at, "
    "a.session, p.digest, p.speaker, p.at, p.asks, a.layer, a.origin, p.tells_of "
    "FROM atoms a JOIN passages p ON p.atom=a.id "
)
_COLUMNS: dict[str, type[np.generic]] = {
    "alive": np.bool_, "scope": np.int32, "status": np.int8, "type": np.int8, "starts": np.int64, "ends": np.int64,
    "recorded": np.int64, "speaker": np.int32, "at": np.int64, "asks": np.bool_, "text": np.int64,
    "layer": np.int8, "origin": np.int8, "tells_of": np.int64, "begins": np.int64, "until": np.int64,
}  # fmt: skip

_TOLD = ("scope", "status", "layer", "origin", "recorded", "speaker", "at", "asks", "text", "tells_of")


class Board:
    """Columns over passages, and a table of vectors for each model that was asked for."""

    def __init__(self, db: Database, edition: int) -> None:
        self._db, self._edition = db, edition
        self._seq = 0
        self._columns = {name: np.empty(0, dtype=kind) for name, kind in _COLUMNS.items()}
        self._count = self._struck = 0
        self._keys: list[Key] = []
        self._row_of: dict[Key, int] = {}
        self._rows_of: dict[int, list[int]] = {}
        self._sessions: dict[tuple[int, str], set[str]] = defaultdict(set)
        self._session_of: dict[AtomId, tuple[int, str]] = {}
        self._atoms: dict[AtomId, list[int]] = {}
        self._orders: dict[tuple[int, str], _Order] = {}
        self._texts: dict[bytes, int] = {}
        self._digests: list[bytes] = []
        self._speakers: dict[str, int] = {}
        self._names: tuple[str, ...] = ()
        self._spoke: dict[frozenset[Scope], frozenset[str]] = {}
        self._lies_here: dict[frozenset[Scope], NDArray[np.bool_]] = {}
        self._scopes: dict[int, Scope] = {}
        self._tables: dict[str, _ModelTable] = {}

    def is_of(self, db: Database, edition: int) -> bool:
        """Whether what was read here is still what stands there."""
        return self._db is db and self._edition == edition

    def follow(self, applied: int) -> bool:
        """Come up to a journal position; False if this board cannot and must be thrown away."""
        if applied < self._seq or self._struck > 1000 + self._count // 2:
            return False
        if applied > self._seq:
            self._scopes = {number: Scope(scope) for number, scope in self._db.rows("SELECT id, scope FROM scopes")}
            changed = [row[0] for row in self._db.rows("SELECT id FROM atoms WHERE seq>?", (self._seq,))]
            for atom in changed if self._seq else ():
                self._strike(atom)
            self._append(self._db.rows(f"{_ROWS} WHERE a.seq>? ORDER BY a.atom_id, p.n", (self._seq,)))
            self._names, self._spoke, self._lies_here, self._seq = tuple(self._speakers), {}, {}, applied
        return True

    def _strike(self, atom: int) -> None:
        for row in self._rows_of.pop(atom, ()):
            key = self._keys[row]
            self._columns["alive"][row] = False
            self._row_of.pop(key, None)
            self._atoms.pop(key[0], None)
            session = self._session_of.pop(key[0], None)
            if session is not None:
                self._sessions[session].discard(key[0])
                self._orders.pop(session, None)
            self._struck += 1

    def _append(self, found: Sequence[tuple[Any, ...]]) -> None:
        start = self._count
        self._count += len(found)
        for name, column in self._columns.items():
            if self._count > len(column):
                grown = np.empty(max(self._count, 2 * len(column), 64), dtype=column.dtype)
                grown[:start] = column[:start]
                self._columns[name] = grown
        values: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        for row, each in enumerate(found, start):
            _, atom, atom_id, n, scope, status, kind, starts, ends, recorded, session, digest = each[:12]
            speaker, at, asks, layer, origin, tells_of = each[12:]
            ended = Status(status) in ENDED
            told = (
                True, scope, _STATUSES.index(Status(status)), _TYPES.index(MemoryType(kind)),
                _ALWAYS if starts is None or ended else starts, _NEVER_ENDS if ends is None or ended else ends,
                recorded, self._speakers.setdefault(speaker, len(self._speakers)), at, bool(asks), self._text(digest),
                _LAYERS.index(Layer(layer)), _ORIGINS.index(Origin(origin)), _ALWAYS if tells_of is None else tells_of,
                at if starts is None else starts, _until(Status(status), ends),
            )  # fmt: skip
            for name, value in zip(_COLUMNS, told, strict=True):
                values[name].append(value)
            self._place(row, atom, (AtomId(atom_id), n), (scope, session))
        for name, told_column in values.items():
            self._columns[name][start : self._count] = told_column

    def _place(self, row: int, atom: int, key: Key, session: tuple[int, str]) -> None:
        self._keys.append(key)
        self._row_of[key] = row
        self._rows_of.setdefault(atom, []).append(row)
        self._atoms.setdefault(key[0], []).append(row)
        self._sessions[session].add(key[0])
        self._session_of[key[0]] = session
        self._orders.pop(session, None)

    def _text(self, digest: bytes) -> int:
        if digest in self._texts:
            # Its words may have been gone meanwhile, and what a model made of them with them.
            for table in self._tables.values():
                table.doubt(digest)
        else:
            self._texts[digest] = len(self._digests)
            self._digests.append(digest)
        return self._texts[digest]

    def nearest(self, query: NearQuery) -> list[Near]:
        """The best passages with their neighbours, and those asked for besides."""
        near = self._model(query.model).per_text(query.asked, len(self._digests))
        cosine = near[self._columns["text"][: self._count]] if self._count else np.empty(0, dtype=np.float32)
        known = ~np.isnan(cosine)
        cosine = np.where(known, cosine, np.float32(0))
        allowed, in_time = self._allowed(query), self._in_time(query, "at")
        tells_of = self._in_time(query, "tells_of") & ~in_time
        texts = self._rows_of_keys(query.texts)
        score = cosine * np.float32(query.vector) + self._tilt(query, in_time, tells_of)
        score[list(texts)] += np.array(list(texts.values()), dtype=np.float32) * np.float32(query.text)
        known[list(texts)] = True
        weights = np.array([query.statuses.get(each, 0.0) for each in _STATUSES], dtype=np.float32)
        score = np.where(score > 0, score * weights[self._columns["status"][: self._count]], score)
        rows = set(self._best(score, allowed & known, query.limit)) if query.limit else set()
        places = _Places(self._order_of, allowed)
        if query.beside:
            rows |= {row for each in rows for row in places.beside(each, query.beside)}
        rows |= {row for row in self._rows_of_keys(dict.fromkeys(query.also, 0.0)) if allowed[row]}
        return self._told(sorted(rows), places, cosine, score, in_time, tells_of)

    def withheld(self, query: NearQuery, above: float) -> dict[str, int]:
        """How many passages that lie at least so near were filtered out, by what kept them out."""
        near = self._model(query.model).per_text(query.asked, len(self._digests))
        here = self._here(query.scopes) & ~self._allowed(query)
        rows = np.flatnonzero(here)
        rows = rows[near[self._columns["text"][rows]] >= above]
        why = Counter(self._kept_out(int(row), query) for row in rows)
        return dict(sorted(why.items()))

    def _kept_out(self, row: int, query: NearQuery) -> str:
        status, kind = _STATUSES[self._columns["status"][row]], _TYPES[self._columns["type"][row]]
        if status not in query.statuses:
            return str(status.value)
        return "not of this mode" if kind not in query.memory_types else "not valid then"

    def _best(self, score: Floats, allowed: NDArray[np.bool_], limit: int) -> list[int]:
        """The rows with the best scores. Those that tie at the cut are all taken; if too many, the youngest.

        Never by row number, which differs between two indexes of the same journal.
        """
        rows = np.flatnonzero(allowed)
        if len(rows) <= limit:
            return _numbers(rows)
        chosen = score[rows]
        cut = np.partition(chosen, len(chosen) - limit)[len(chosen) - limit]
        best, tied = rows[chosen > cut], rows[chosen == cut]
        if len(best) + len(tied) <= 2 * limit:
            return _numbers(best) + _numbers(tied)
        recorded, keys = self._columns["recorded"], self._keys
        youngest = nsmallest(limit - len(best), _numbers(tied), key=lambda row: (-recorded[row], keys[row]))
        return _numbers(best) + youngest

    def _rows_of_keys(self, keys: Mapping[Key, float]) -> dict[int, float]:
        row_of = self._row_of
        return {row_of[key]: value for key, value in keys.items() if key in row_of}

    def _allowed(self, query: NearQuery) -> NDArray[np.bool_]:
        at = millis(query.known_by or query.true_at or query.valid_at)
        columns = {name: column[: self._count] for name, column in self._columns.items()}
        if query.known_by is not None:
            allowed = self._here(query.scopes) & (columns["recorded"] <= at)
        else:
            starts, ends = ("starts", "ends") if query.true_at is None else ("begins", "until")
            allowed = self._here(query.scopes) & (columns[starts] <= at) & (columns[ends] > at)
        allowed &= _chosen(columns["status"], _STATUSES, query.statuses)
        return allowed & _chosen(columns["type"], _TYPES, query.memory_types)

    def _in_time(self, query: NearQuery, column: str) -> NDArray[np.bool_]:
        """Which rows were said at, or tell of, the time in question."""
        inside = np.zeros(self._count, dtype=np.bool_)
        if query.tilts.when is not None:
            times = self._columns[column][: self._count]
            known = times != _ALWAYS
            inside[known] = query.tilts.when.contains(times[known])
        return inside

    def _tilt(self, query: NearQuery, in_time: NDArray[np.bool_], tells_of: NDArray[np.bool_]) -> Floats:
        by_speaker = np.zeros(len(self._speakers) + 1, dtype=np.float32)
        for speaker, amount in query.tilts.speakers.items():
            if speaker in self._speakers:
                by_speaker[self._speakers[speaker]] = amount
        tilt = by_speaker[self._columns["speaker"][: self._count]]
        tilt += np.where(in_time, np.float32(query.tilts.in_time), np.float32(0))
        return tilt + np.where(tells_of, np.float32(query.tilts.tells_of), np.float32(0))

    def _order_of(self, row: int) -> _Order:
        """The rows of a row's session, in order; worked out when it is first asked for."""
        session = self._session_of[self._keys[row][0]]
        if session not in self._orders:
            self._orders[session] = _Order(
                [each for atom in sorted(self._sessions[session]) for each in self._atoms[AtomId(atom)]]
            )
        return self._orders[session]

    def _told(self, rows: Sequence[int], places: _Places, *found: NDArray[Any]) -> list[Near]:
        """The rows with what was found out about them: cosine, score, said in time, telling of it."""
        chosen = np.array(rows, dtype=np.int64)
        columns = [*found, *(self._columns[name] for name in _TOLD)]
        told = []
        for row, *values in zip(rows, *(column[chosen].tolist() for column in columns), strict=True):
            near, first, timely, tells_of, scope, status, layer, origin, recorded, speaker, at, asks, text, when = (
                values
            )
            key = self._keys[row]
            number, session = self._session_of[key[0]]
            told.append(
                Near(
                    key, self._scopes[scope], near, first, _STATUSES[status], _LAYERS[layer], _ORIGINS[origin],
                    recorded, self._names[speaker], at, timely, tells_of, when != _ALWAYS,
                    asks, f"{number}/{session}", places.of(row),
                    self._digests[text],
                )
            )  # fmt: skip
        return told

    def cosines(self, model: str, asked: Asked, keys: Sequence[Key]) -> list[float]:
        """The cosine of each passage's nearest chunk; 0 where it has none."""
        rows = [self._row_of.get(key) for key in keys]
        texts = np.array([-1 if row is None else self._columns["text"][row] for row in rows], dtype=np.int64)
        return [float(each) for each in self._model(model).of(asked, texts)]

    def speakers(self, scopes: Sequence[Scope]) -> frozenset[str]:
        """Whoever said something in these scopes that recall searches."""
        wanted = frozenset(scopes)
        if wanted not in self._spoke:
            here = self._here(scopes) & _chosen(self._columns["status"][: self._count], _STATUSES, RECALL_WEIGHT)
            spoke = np.unique(self._columns["speaker"][: self._count][here])
            self._spoke[wanted] = frozenset(self._names[each] for each in spoke) - {""}
        return self._spoke[wanted]

    def coverage(self, model: str, scopes: Sequence[Scope]) -> tuple[int, int]:
        """How many passages of these scopes have a vector, and how many there are."""
        here = self._here(scopes)
        known = here & self._model(model).known(self._columns["text"][: self._count])
        return int(np.count_nonzero(known)), int(np.count_nonzero(here))

    def _here(self, scopes: Sequence[Scope]) -> NDArray[np.bool_]:
        """Which rows stand and lie in these scopes; worked out once until something is written."""
        wanted = frozenset(scopes)
        if wanted not in self._lies_here:
            numbers = [number for number, scope in self._scopes.items() if scope in wanted]
            chosen = np.zeros(max(self._scopes, default=0) + 1, dtype=np.bool_)
            chosen[numbers] = True
            here = chosen[self._columns["scope"][: self._count]] & self._columns["alive"][: self._count]
            self._lies_here[wanted] = here
        return self._lies_here[wanted]

    def _model(self, model: str) -> _ModelTable:
        table = self._tables.setdefault(model, _ModelTable(self._db, model))
        table.follow(self._texts)
        return table


class _Order:
    """The rows of a session, in order, and the place of each."""

    __slots__ = ("place_of", "rows")

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows
        self.place_of = {row: place for place, row in enumerate(rows)}


class _Places:
    """Where rows stand in their sessions, among those a query lets through: what it may not see moves nothing."""

    def __init__(self, order_of: Callable[[int], _Order], allowed: NDArray[np.bool_]) -> None:
        self._order_of, self._allowed = order_of, allowed
        self._orders: dict[int, _Order] = {}

    def of(self, row: int) -> int:
        """The place of a row that is let through."""
        return self._found(row).place_of[row]

    def beside(self, row: int, reach: int) -> list[int]:
        """The rows before and after one."""
        found = self._found(row)
        order, place = found.rows, found.place_of[row]
        return order[max(0, place - reach) : place] + order[place + 1 : place + 1 + reach]

    def _found(self, row: int) -> _Order:
        whole = self._order_of(row)
        if len(whole.rows) == 1:
            return whole
        first = whole.rows[0]
        if first not in self._orders:
            let_through = self._allowed[whole.rows]
            self._orders[first] = (
                whole if let_through.all() else _Order(list(compress(whole.rows, let_through.tolist())))
            )
        return self._orders[first]


class _ModelTable:
    """The vectors of one model: which run belongs to which text."""

    def __init__(self, db: Database, model: str) -> None:
        self._db, self._model = db, model
        self._last = 0
        self._table: VectorTable | None = None
        self._run_of: dict[bytes, int] = {}
        self._runs: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._doubted: set[bytes] = set()
        self._scanned: tuple[Asked, Floats] | None = None

    def doubt(self, digest: bytes) -> None:
        """Look again whether this text still has its vectors before the next answer."""
        if digest in self._run_of:
            self._doubted.add(digest)

    def follow(self, texts: dict[bytes, int]) -> None:
        """Take in what the model has made since, and texts that have come."""
        found = self._db.rows(
            "SELECT id, digest, data FROM vectors WHERE model=? AND id>? ORDER BY id", (self._model, self._last)
        )
        gone = [digest for digest in self._doubted if not self._is_there(digest)]
        for digest in gone:
            del self._run_of[digest]
        self._doubted.clear()
        if found:
            self._take_in(found)
        if found or gone or len(self._runs) != len(texts):
            self._scanned = None
            self._runs = np.fromiter((self._run_of.get(each, -1) for each in texts), dtype=np.int64, count=len(texts))

    def _is_there(self, digest: bytes) -> bool:
        found = self._db.one("SELECT 1 FROM vectors WHERE digest=? AND model=?", (digest, self._model))
        return found is not None

    def _take_in(self, found: Sequence[tuple[int, bytes, bytes]]) -> None:
        dimensions = int.from_bytes(found[0][2][:2], "little")
        vectors = [_vectors(data, dimensions) for _, _, data in found]
        if self._table is None:
            self._table = VectorTable(dimensions)
        first = len(self._table)
        self._table.append(to_rows(np.concatenate(vectors)), np.array([len(each) for each in vectors], dtype=np.int64))
        self._run_of |= {digest: run for run, (_, digest, _) in enumerate(found, first)}
        self._last = found[-1][0]

    def known(self, texts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the texts have a vector."""
        return self._runs[texts] >= 0

    def per_text(self, asked: Asked, count: int) -> Floats:
        """The cosine of every text, not-a-number where it has no vector yet; asked again it is not counted again."""
        if self._scanned is None or self._scanned[0] is not asked or len(self._scanned[1]) != count:
            self._scanned = asked, self._scan(asked, count)
        return self._scanned[1]

    def _scan(self, asked: Asked, count: int) -> Floats:
        near = np.full(count, np.nan, dtype=np.float32)
        if self._table is not None:
            known = self._runs >= 0
            near[known] = self._table.scan(asked)[self._runs[known]]
        return near

    def of(self, asked: Asked, texts: NDArray[np.int64]) -> Floats:
        """The cosine of some texts, 0 where there is no vector."""
        if self._table is None:
            return np.zeros(len(texts), dtype=np.float32)
        return self._table.of(asked, np.where(texts >= 0, self._runs[texts], -1))


def _until(status: Status, ends: int | None) -> int:
    """Until when an atom held; one that was replaced without a word of when never did for sure."""
    if ends is not None:
        return ends
    return _ALWAYS if status in REPLACED else _NEVER_ENDS


def vectors_in(data: bytes) -> Floats:
    """The vectors of a text as wide as it says itself."""
    return _vectors(data, int.from_bytes(data[:2], "little"))


def _vectors(data: bytes, dimensions: int) -> Floats:
    """The vectors of a text; SQLite does not notice when the pages of a long blob were overwritten."""
    whole = len(data) > 2 and dimensions > 0 and (len(data) - 2) % (4 * dimensions) == 0
    if not whole or int.from_bytes(data[:2], "little") != dimensions:
        raise Corrupt("index.db is damaged: a vector is not as it was written")
    found = np.frombuffer(data, dtype="<f4", offset=2).reshape(-1, dimensions)
    if not np.isfinite(found).all():
        raise Corrupt("index.db is damaged: a vector holds what is no number")
    return found


def _chosen(column: NDArray[Any], family: Sequence[object], chosen: Collection[object]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.array([each in chosen for each in family], dtype=np.bool_)[column]
    return found


def _numbers(rows: NDArray[np.int64]) -> list[int]:
    numbers: list[int] = rows.tolist()
    return numbers
