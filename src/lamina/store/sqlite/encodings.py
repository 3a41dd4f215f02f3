"""Vectors and token states in index.db, and the search over them."""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.passage import passages_of
from lamina.atom.scope import Scope
from lamina.logs import wordless
from lamina.store.encodings import (
    STATES_FROM,
    Encoding,
    Key,
    Moved,
    Near,
    NearQuery,
    Room,
    States,
    Unencoded,
    unencoded,
)
from lamina.store.sqlite.board import Board
from lamina.store.sqlite.database import Corrupt, Database
from lamina.store.sqlite.index import Index
from lamina.store.sqlite.model_vectors import vectors_in
from lamina.store.sqlite.precision import (
    HEAD,
    IS_UNWANTED,
    NEEDS_NO_STATES,
    move,
    room,
    rows_of,
    wanted_for,
    would_move,
)
from lamina.store.sqlite.saved import remove_all
from lamina.vectors.kept import pack
from lamina.vectors.levels import Asked, Floats

logger = logging.getLogger(__name__)

T = TypeVar("T")
Follow = Callable[[Callable[[Index], T]], T]

_READ = "FROM passages p JOIN atoms a ON a.id=p.atom LEFT JOIN vectors v ON v.digest=p.digest AND v.model=?"
_PACKED = "LEFT JOIN states t INDEXED BY states_by_packing ON t.packing=? AND t.vector=v.id"
_FIRST = (
    "FROM atoms a JOIN passages p ON p.atom=a.id AND p.n=(SELECT min(n) FROM passages WHERE atom=a.id) "
    "JOIN vectors v ON v.digest=p.digest AND v.model=?"
)
_COARSE = (
    "SELECT a.atom_id, p.n, v.bits, v.data FROM json_each(?) k CROSS JOIN atoms a ON a.atom_id=k.value->>0 "
    "CROSS JOIN passages p ON p.atom=a.id AND p.n=k.value->>1 "
    "CROSS JOIN vectors v ON v.digest=p.digest AND v.model=? AND v.bits<32"
)
"""The join order is fixed: a planner that begins with the coarse vectors reads all of them."""
_AT_ONCE = 500


class SqliteEncodings:
    """What models computed for the texts, beside the index they belong to."""

    def __init__(
        self, follow: Follow[object], heads: Callable[[Iterable[AtomId]], dict[AtomId, Atom]], folder: Path
    ) -> None:
        self._follow, self._heads, self._folder = follow, heads, folder
        self._board: Board | None = None
        self._followed: Board | None = None
        self._still = False

    def missing(
        self, model: str, limit: int, scopes: Sequence[Scope] | None = None, packing: str | None = None
    ) -> list[Unencoded]:
        """Return texts a model has not encoded, recallable passages first; those to recompute last."""
        marks = ",".join("?" * len(scopes or ()))
        scope_condition = "" if scopes is None else f"AND a.scope IN (SELECT id FROM scopes WHERE scope IN ({marks})) "
        missing_clause, values = _unread(model, packing)
        rows = self._on(
            lambda index: index.db.rows(
                f"SELECT a.atom_id, p.digest {missing_clause} {scope_condition}"
                f"ORDER BY v.id IS NOT NULL, {IS_UNWANTED}, a.shelf, p.id LIMIT ?",
                (*values, *(scopes or ()), limit),
            )
        )
        digests = {bytes(digest) for _, digest in rows}
        atoms = self._heads(dict.fromkeys(AtomId(atom_id) for atom_id, _ in rows))
        texts = {
            text.digest: text
            for atom in atoms.values()
            for passage in passages_of(atom)
            if (text := unencoded(atom, passage)).digest in digests
        }
        return [texts[digest] for digest in dict.fromkeys(bytes(row[1]) for row in rows) if digest in texts]

    def how_many_missing(self, model: str, packing: str | None = None) -> int:
        """Return how many texts are not encoded, or not stored as they should be."""
        missing_clause, values = _unread(model, packing)
        sql = f"SELECT count(DISTINCT p.digest) {missing_clause}"
        return int(self._on(lambda index: index.db.rows(sql, values))[0][0])

    def put(self, model: str, encodings: Iterable[Encoding]) -> None:
        """Store what a model computed for texts that still exist."""
        by_digest = {encoding.digest: encoding for encoding in encodings}

        def save(index: Index) -> None:
            with index.db.writing(durable=False):
                wanted_bits = wanted_for(index.db, by_digest)
                _put(
                    index.db,
                    model,
                    [encoding for encoding in by_digest.values() if encoding.digest in wanted_bits],
                    wanted_bits,
                )

        self._on(save)

    def coverage(self, model: str, scopes: Sequence[Scope]) -> tuple[int, int]:
        """Return how many passages a model has encoded, and how many there are."""
        return self._on(lambda index: self._current(index).coverage(model, scopes))

    def models(self) -> dict[str, int]:
        """Return how many texts each model has encoded."""
        return dict(self._on(lambda index: index.db.rows("SELECT model, count(*) FROM vectors GROUP BY 1 ORDER BY 1")))

    def drop(self, model: str) -> None:
        """Delete everything that a model computed."""

        def forget(index: Index) -> None:
            with index.db.writing(durable=False):
                index.drop_model(model)

        self._on(forget)

    def nearest(self, query: NearQuery) -> list[Near]:
        """Return the best passages for a query vector; save the search if it became large."""

        def find(index: Index) -> list[Near]:
            search = self._current(index)
            results = search.nearest(query)
            if search.is_worth_saving and not index.db.in_transaction:
                self._save(search, index)
            return results

        return self._on(find)

    def withheld(self, query: NearQuery, above: float) -> dict[str, int]:
        """Return how many passages with at least this cosine were filtered out, by the reason."""
        return self._on(lambda index: self._current(index).withheld(query, above))

    def cosines(self, model: str, asked: Asked, keys: Sequence[Key]) -> list[float]:
        """Return the cosine of each passage with a query."""
        return self._on(lambda index: self._current(index).cosines(model, asked, keys))

    def speakers(self, scopes: Sequence[Scope]) -> frozenset[str]:
        """Return the speakers of all recallable passages."""
        return self._on(lambda index: self._current(index).speakers(scopes))

    def vectors(self, model: str, ids: Sequence[AtomId]) -> dict[AtomId, Floats]:
        """Return the vectors of the first passage of each atom."""

        def read(index: Index) -> dict[AtomId, Floats]:
            vectors: dict[AtomId, Floats] = {}
            for start in range(0, len(ids), _AT_ONCE):
                batch = ids[start : start + _AT_ONCE]
                rows = index.db.rows(
                    f"SELECT a.atom_id, v.bits, v.data {_FIRST} WHERE a.atom_id IN ({','.join('?' * len(batch))})",
                    (model, *batch),
                )
                vectors |= {AtomId(atom_id): vectors_in(bits, data) for atom_id, bits, data in rows}
            return vectors

        return self._on(read)

    def states(self, model: str, digests: Iterable[bytes]) -> dict[bytes, States]:
        """Return the token states of texts."""
        batch_digests = list(dict.fromkeys(digests))

        def read(index: Index) -> dict[bytes, States]:
            states: dict[bytes, States] = {}
            for start in range(0, len(batch_digests), _AT_ONCE):
                batch = batch_digests[start : start + _AT_ONCE]
                rows = index.db.rows(
                    "SELECT v.digest, s.packing, s.checksum, s.data FROM vectors v JOIN states s ON s.vector=v.id "
                    f"WHERE v.model=? AND v.digest IN ({','.join('?' * len(batch))})",
                    (model, *batch),
                )
                states |= {digest: _states(digest, *row) for digest, *row in rows}
            return states

        return self._on(read)

    def set_precision(self, bits: Mapping[AtomId, int], *, dry_run: bool = False) -> Moved:
        """Store the vectors of these atoms in so many bits; return what changes."""
        return self._on(lambda index: (would_move if dry_run else move)(index.db, bits))

    def coarse(self, model: str, keys: Collection[Key]) -> dict[Key, tuple[int, Floats]]:
        """Return bits and decoded vectors of passages below full precision."""

        def read(index: Index) -> dict[Key, tuple[int, Floats]]:
            rows = index.db.rows(_COARSE, (json.dumps(sorted(keys)), model))
            vectors: dict[Key, tuple[int, Floats]] = {}
            for bits in {row[2] for row in rows}:
                same_bits = [row for row in rows if row[2] == bits]
                decoded = _vectors_of(bits, [row[3] for row in same_bits])
                vectors |= {
                    (AtomId(row[0]), row[1]): (bits, vector) for row, vector in zip(same_bits, decoded, strict=True)
                }
            return vectors

        return self._on(read)

    def room(self) -> Room:
        """Return the size of all vectors and token states."""
        return self._on(lambda index: room(index.db))

    def rarity(self, scopes: Sequence[Scope], tokens: Sequence[str]) -> dict[Scope, tuple[int, dict[str, int]]]:
        """Return the number of passages of each scope, and in how many each token occurs."""
        marks = ",".join("?" * len(tokens))

        def read(index: Index) -> dict[Scope, tuple[int, dict[str, int]]]:
            statistics = {}
            for scope in scopes:
                scope_row = index.db.one("SELECT id, passages FROM scopes WHERE scope=?", (scope,))
                if scope_row:
                    counts = index.db.rows(
                        f"SELECT term, passages FROM terms WHERE scope=? AND term IN ({marks})", (scope_row[0], *tokens)
                    )
                    statistics[scope] = int(scope_row[1]), dict(counts)
            return statistics

        return self._on(read)

    def forget_board(self) -> None:
        """Drop the search in memory; the next query reads the columns again."""
        self._board = self._followed = None

    def scrub(self) -> None:
        """Delete the saved search and the one in memory."""
        self.forget_board()
        remove_all(self._folder)

    def hold_still(self, still: bool) -> None:
        """While a reader sends many queries about one moment, catch up only once."""
        self._still, self._followed = still, None

    def _current(self, index: Index) -> Board:
        """Return the search, caught up with the index."""
        if self._followed is not None:
            return self._followed
        with index.db.reading():
            applied, edition = index.applied, index.edition
            if self._board is None or not self._board.is_of(index.db, edition) or not self._board.follow(applied):
                self._board = Board(index.db, edition, self._folder)
                self._board.follow(applied)
            self._followed = self._board if self._still else None
            return self._board

    def _save(self, board: Board, index: Index) -> None:
        """Save a large search for the next process; if that fails, every process builds its own."""
        try:
            board.save()
            if not board.is_of(index.db, index.edition):
                # Something was erased in the meantime: the saved arrays may contain it.
                remove_all(self._folder)
        except OSError as error:
            logger.warning(
                "the vector search could not be saved, so the next process opens the store more slowly: %s",
                wordless(error),
            )

    def _on(self, work: Callable[[Index], T]) -> T:
        return self._follow(work)  # type: ignore[return-value]


def _put(db: Database, model: str, made: Sequence[Encoding], wanted: Mapping[bytes, int]) -> None:
    """Store new vectors and those wanted in other bits, and the token states of those with enough bits."""
    assert all(len(encoding.vectors) for encoding in made)
    existing = rows_of(db, model, wanted)
    new_rows = [
        (model, encoding.digest, bits, bits, pack(encoding.vectors, bits).data)
        for encoding in made
        if existing.get(encoding.digest, (0, 0, 0))[1:] != ((bits := wanted[encoding.digest]), bits)
    ]
    db.run_many(
        "INSERT INTO vectors(model, digest, bits, wanted, data) VALUES(?,?,?,?,?) "
        "ON CONFLICT DO UPDATE SET bits=excluded.bits, wanted=excluded.wanted, data=excluded.data",
        new_rows,
    )
    rows = {digest: row for digest, (row, _, _) in rows_of(db, model, wanted).items()}
    without_states = [(rows[encoding.digest],) for encoding in made if wanted[encoding.digest] < STATES_FROM]
    db.run_many("DELETE FROM states WHERE vector=?", without_states)
    db.run_many(
        "INSERT INTO states VALUES(?,?,?,?) "
        "ON CONFLICT DO UPDATE SET packing=excluded.packing, checksum=excluded.checksum, data=excluded.data",
        [
            (
                rows[encoding.digest],
                states.packing,
                _checksum(encoding.digest, states.packing, states.data),
                states.data,
            )
            for encoding in made
            if wanted[encoding.digest] >= STATES_FROM and (states := encoding.states)
        ],
    )


def _vectors_of(bits: int, kept: Sequence[bytes]) -> list[Floats]:
    """Return the vectors of texts of one model and precision; decoding many costs little more than one."""
    joined = vectors_in(bits, kept[0][:HEAD] + b"".join(data[HEAD:] for data in kept))
    sizes = [len(data) - HEAD for data in kept]
    rows = [len(joined) * size // sum(sizes) for size in sizes]
    return np.split(joined, np.cumsum(rows)[:-1])


def _states(digest: bytes, packing: object, checksum: object, data: object) -> States:
    """Return the states of a text; `CorruptDatabase` if the checksum is wrong.

    SQLite does not notice when the pages of a long blob were overwritten.
    """
    if isinstance(packing, str) and isinstance(data, bytes) and checksum == _checksum(digest, packing, data):
        return States(packing, data)
    raise Corrupt("index.db is damaged: the checksum of token states is wrong")


def _checksum(digest: bytes, packing: str, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(digest + packing.encode()))


def _unread(model: str, packing: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the FROM and WHERE clauses for texts not encoded, or not in this packing or precision."""
    if packing is None:
        return f"{_READ} WHERE v.id IS NULL", (model,)
    lacks_states = f"(t.vector IS NULL AND NOT {NEEDS_NO_STATES})"
    return f"{_READ} {_PACKED} WHERE (v.id IS NULL OR {lacks_states} OR {IS_UNWANTED})", (model, packing)
