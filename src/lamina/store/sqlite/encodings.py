"""Vectors and token states in index.db, and the board that is searched."""

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
"""In this order: a planner that begins with the vectors in few bits reads them all."""
_AT_ONCE = 500


class SqliteEncodings:
    """What models made of the texts, beside the index they belong to."""

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
        """Texts a model has not seen, those of recallable passages first; those to be made anew last."""
        marks = ",".join("?" * len(scopes or ()))
        chosen = "" if scopes is None else f"AND a.scope IN (SELECT id FROM scopes WHERE scope IN ({marks})) "
        unread, values = _unread(model, packing)
        rows = self._on(
            lambda index: index.db.rows(
                f"SELECT a.atom_id, p.digest {unread} {chosen}"
                f"ORDER BY v.id IS NOT NULL, {IS_UNWANTED}, a.shelf, p.id LIMIT ?",
                (*values, *(scopes or ()), limit),
            )
        )
        wanted = {bytes(digest) for _, digest in rows}
        atoms = self._heads(dict.fromkeys(AtomId(atom_id) for atom_id, _ in rows))
        found = {
            text.digest: text
            for atom in atoms.values()
            for passage in passages_of(atom)
            if (text := unencoded(atom, passage)).digest in wanted
        }
        return [found[digest] for digest in dict.fromkeys(bytes(row[1]) for row in rows) if digest in found]

    def how_many_missing(self, model: str, packing: str | None = None) -> int:
        """How many texts a model has not seen, or are not kept as they should be."""
        unread, values = _unread(model, packing)
        sql = f"SELECT count(DISTINCT p.digest) {unread}"
        return int(self._on(lambda index: index.db.rows(sql, values))[0][0])

    def put(self, model: str, encodings: Iterable[Encoding]) -> None:
        """Keep what a model made of texts that are still there."""
        made = {encoding.digest: encoding for encoding in encodings}

        def keep(index: Index) -> None:
            with index.db.writing(durable=False):
                wanted = wanted_for(index.db, made)
                _put(index.db, model, [each for each in made.values() if each.digest in wanted], wanted)

        self._on(keep)

    def coverage(self, model: str, scopes: Sequence[Scope]) -> tuple[int, int]:
        """How many passages a model has encoded, and how many there are."""
        return self._on(lambda index: self._current(index).coverage(model, scopes))

    def models(self) -> dict[str, int]:
        """How many texts each model has encoded."""
        return dict(self._on(lambda index: index.db.rows("SELECT model, count(*) FROM vectors GROUP BY 1 ORDER BY 1")))

    def drop(self, model: str) -> None:
        """Forget all that a model made."""

        def forget(index: Index) -> None:
            with index.db.writing(durable=False):
                index.drop_model(model)

        self._on(forget)

    def nearest(self, query: NearQuery) -> list[Near]:
        """The best passages for a vector."""

        def find(index: Index) -> list[Near]:
            board = self._current(index)
            found = board.nearest(query)
            if board.is_worth_saving and not index.db.in_transaction:
                self._save(board, index)
            return found

        return self._on(find)

    def withheld(self, query: NearQuery, above: float) -> dict[str, int]:
        """What was filtered out though it lies as near."""
        return self._on(lambda index: self._current(index).withheld(query, above))

    def cosines(self, model: str, asked: Asked, keys: Sequence[Key]) -> list[float]:
        """The cosine of each passage with a question."""
        return self._on(lambda index: self._current(index).cosines(model, asked, keys))

    def speakers(self, scopes: Sequence[Scope]) -> frozenset[str]:
        """Whoever said something here."""
        return self._on(lambda index: self._current(index).speakers(scopes))

    def vectors(self, model: str, ids: Sequence[AtomId]) -> dict[AtomId, Floats]:
        """The vectors of the first passage of each atom."""

        def read(index: Index) -> dict[AtomId, Floats]:
            found: dict[AtomId, Floats] = {}
            for start in range(0, len(ids), _AT_ONCE):
                batch = ids[start : start + _AT_ONCE]
                rows = index.db.rows(
                    f"SELECT a.atom_id, v.bits, v.data {_FIRST} WHERE a.atom_id IN ({','.join('?' * len(batch))})",
                    (model, *batch),
                )
                found |= {AtomId(atom_id): vectors_in(bits, data) for atom_id, bits, data in rows}
            return found

        return self._on(read)

    def states(self, model: str, digests: Iterable[bytes]) -> dict[bytes, States]:
        """The token states of texts."""
        wanted = list(dict.fromkeys(digests))

        def read(index: Index) -> dict[bytes, States]:
            found: dict[bytes, States] = {}
            for start in range(0, len(wanted), _AT_ONCE):
                batch = wanted[start : start + _AT_ONCE]
                rows = index.db.rows(
                    "SELECT v.digest, s.packing, s.checksum, s.data FROM vectors v JOIN states s ON s.vector=v.id "
                    f"WHERE v.model=? AND v.digest IN ({','.join('?' * len(batch))})",
                    (model, *batch),
                )
                found |= {digest: _states(digest, *row) for digest, *row in rows}
            return found

        return self._on(read)

    def set_precision(self, bits: Mapping[AtomId, int], *, dry_run: bool = False) -> Moved:
        """Keep the vectors of these atoms in so many bits."""
        return self._on(lambda index: (would_move if dry_run else move)(index.db, bits))

    def coarse(self, model: str, keys: Collection[Key]) -> dict[Key, tuple[int, Floats]]:
        """In how many bits vectors are kept that are not whole, and what these tell."""

        def read(index: Index) -> dict[Key, tuple[int, Floats]]:
            rows = index.db.rows(_COARSE, (json.dumps(sorted(keys)), model))
            found: dict[Key, tuple[int, Floats]] = {}
            for bits in {row[2] for row in rows}:
                own = [row for row in rows if row[2] == bits]
                told = _vectors_of(bits, [row[3] for row in own])
                found |= {(AtomId(row[0]), row[1]): (bits, each) for row, each in zip(own, told, strict=True)}
            return found

        return self._on(read)

    def room(self) -> Room:
        """What all vectors and token states take."""
        return self._on(lambda index: room(index.db))

    def rarity(self, scopes: Sequence[Scope], tokens: Sequence[str]) -> dict[Scope, tuple[int, dict[str, int]]]:
        """How many passages each scope has, and in how many each token stands."""
        marks = ",".join("?" * len(tokens))

        def read(index: Index) -> dict[Scope, tuple[int, dict[str, int]]]:
            found = {}
            for scope in scopes:
                known = index.db.one("SELECT id, passages FROM scopes WHERE scope=?", (scope,))
                if known:
                    held = index.db.rows(
                        f"SELECT term, passages FROM terms WHERE scope=? AND term IN ({marks})", (known[0], *tokens)
                    )
                    found[scope] = int(known[1]), dict(held)
            return found

        return self._on(read)

    def forget_board(self) -> None:
        """Whoever asks next reads the columns anew."""
        self._board = self._followed = None

    def scrub(self) -> None:
        """Leave nothing of what was saved for others, nor of what is held."""
        self.forget_board()
        remove_all(self._folder)

    def hold_still(self, still: bool) -> None:
        """While a reader asks many things of one moment, the board need be brought there but once."""
        self._still, self._followed = still, None

    def _current(self, index: Index) -> Board:
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
        """Leave a large board for whoever opens the store next; where that cannot be, everybody makes their own."""
        try:
            board.save()
            if not board.is_of(index.db, index.edition):
                # Somebody erased meanwhile: what was just saved may hold what is gone.
                remove_all(self._folder)
        except OSError as error:
            logger.warning(
                "what a search needs could not be saved, the next to open the store waits longer: %s", wordless(error)
            )

    def _on(self, work: Callable[[Index], T]) -> T:
        return self._follow(work)  # type: ignore[return-value]


def _put(db: Database, model: str, made: Sequence[Encoding], wanted: Mapping[bytes, int]) -> None:
    """Keep what is new or wanted in other bits, and the token states of what is not kept in few."""
    assert all(len(encoding.vectors) for encoding in made)
    known = rows_of(db, model, wanted)
    kept = [
        (model, encoding.digest, bits, bits, pack(encoding.vectors, bits).data)
        for encoding in made
        if known.get(encoding.digest, (0, 0, 0))[1:] != ((bits := wanted[encoding.digest]), bits)
    ]
    db.run_many(
        "INSERT INTO vectors(model, digest, bits, wanted, data) VALUES(?,?,?,?,?) "
        "ON CONFLICT DO UPDATE SET bits=excluded.bits, wanted=excluded.wanted, data=excluded.data",
        kept,
    )
    rows = {digest: row for digest, (row, _, _) in rows_of(db, model, wanted).items()}
    cold = [(rows[encoding.digest],) for encoding in made if wanted[encoding.digest] < STATES_FROM]
    db.run_many("DELETE FROM states WHERE vector=?", cold)
    db.run_many(
        "INSERT INTO states VALUES(?,?,?,?) "
        "ON CONFLICT DO UPDATE SET packing=excluded.packing, checksum=excluded.checksum, data=excluded.data",
        [
            (rows[encoding.digest], own.packing, _checksum(encoding.digest, own.packing, own.data), own.data)
            for encoding in made
            if wanted[encoding.digest] >= STATES_FROM and (own := encoding.states)
        ],
    )


def _vectors_of(bits: int, kept: Sequence[bytes]) -> list[Floats]:
    """The vectors of texts of one model and precision; together they cost little more than one."""
    joined = vectors_in(bits, kept[0][:HEAD] + b"".join(each[HEAD:] for each in kept))
    sizes = [len(each) - HEAD for each in kept]
    rows = [len(joined) * size // sum(sizes) for size in sizes]
    return np.split(joined, np.cumsum(rows)[:-1])


def _states(digest: bytes, packing: object, checksum: object, data: object) -> States:
    """The states of a text; SQLite does not notice when the pages of a long blob were overwritten."""
    if isinstance(packing, str) and isinstance(data, bytes) and checksum == _checksum(digest, packing, data):
        return States(packing, data)
    raise Corrupt("index.db is damaged: token states are not as they were written")


def _checksum(digest: bytes, packing: str, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(digest + packing.encode()))


def _unread(model: str, packing: str | None) -> tuple[str, tuple[str, ...]]:
    """What to select from to have the texts a model has not seen, or not in this packing or precision."""
    if packing is None:
        return f"{_READ} WHERE v.id IS NULL", (model,)
    lacks_states = f"(t.vector IS NULL AND NOT {NEEDS_NO_STATES})"
    return f"{_READ} {_PACKED} WHERE (v.id IS NULL OR {lacks_states} OR {IS_UNWANTED})", (model, packing)
