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
from lamina.logs import summarise_error
from lamina.store.encodings import (
    MIN_BITS_FOR_STATES,
    EncodingSizes,
    NearPassage,
    PackedStates,
    PassageKey,
    PrecisionChange,
    TextEncoding,
    UnencodedText,
    VectorQuery,
    to_unencoded_text,
)
from lamina.store.sqlite.array_files import remove_all
from lamina.store.sqlite.database import CorruptDatabase, Database
from lamina.store.sqlite.index import SqliteIndex
from lamina.store.sqlite.model_vectors import unpack_vectors
from lamina.store.sqlite.precision import (
    HAS_OTHER_BITS,
    HEADER_BYTES,
    NEEDS_NO_STATES,
    change_precision,
    count_moves,
    read_sizes,
    read_vector_rows,
    read_wanted_bits,
)
from lamina.store.sqlite.vector_search import VectorSearch
from lamina.vectors.levels import Floats, QueryVector
from lamina.vectors.stored_vectors import pack

logger = logging.getLogger(__name__)

T = TypeVar("T")
RunOnIndex = Callable[[Callable[[SqliteIndex], T]], T]

_FROM_PASSAGES = "FROM passages p JOIN atoms a ON a.id=p.atom LEFT JOIN vectors v ON v.digest=p.digest AND v.model=?"
_JOIN_PACKED_STATES = "LEFT JOIN states t INDEXED BY states_by_packing ON t.packing=? AND t.vector=v.id"
_FROM_FIRST_PASSAGES = (
    "FROM atoms a JOIN passages p ON p.atom=a.id AND p.n=(SELECT min(n) FROM passages WHERE atom=a.id) "
    "JOIN vectors v ON v.digest=p.digest AND v.model=?"
)
_COARSE = (
    "SELECT a.atom_id, p.n, v.bits, v.data FROM json_each(?) k CROSS JOIN atoms a ON a.atom_id=k.value->>0 "
    "CROSS JOIN passages p ON p.atom=a.id AND p.n=k.value->>1 "
    "CROSS JOIN vectors v ON v.digest=p.digest AND v.model=? AND v.bits<32"
)
"""The join order is fixed: a planner that begins with the coarse vectors reads all of them."""
_BATCH = 500


class SqliteEncodings:
    """What models computed for the texts, beside the index they belong to."""

    def __init__(
        self,
        run_on_index: RunOnIndex[object],
        read_heads: Callable[[Iterable[AtomId]], dict[AtomId, Atom]],
        folder: Path,
    ) -> None:
        self._run_on_index, self._heads, self._folder = run_on_index, read_heads, folder
        self._search: VectorSearch | None = None
        self._held_search: VectorSearch | None = None
        self._is_held = False

    def find_missing(
        self, model: str, limit: int, scopes: Sequence[Scope] | None = None, packing: str | None = None
    ) -> list[UnencodedText]:
        """Return texts a model has not encoded, recallable passages first; those to recompute last."""
        marks = ",".join("?" * len(scopes or ()))
        scope_condition = "" if scopes is None else f"AND a.scope IN (SELECT id FROM scopes WHERE scope IN ({marks})) "
        missing_clause, values = _missing_clause(model, packing)
        rows = self._on_index(
            lambda index: index.db.rows(
                f"SELECT a.atom_id, p.digest {missing_clause} {scope_condition}"
                f"ORDER BY v.id IS NOT NULL, {HAS_OTHER_BITS}, a.shelf, p.id LIMIT ?",
                (*values, *(scopes or ()), limit),
            )
        )
        digests = {bytes(digest) for _, digest in rows}
        atoms = self._heads(dict.fromkeys(AtomId(atom_id) for atom_id, _ in rows))
        texts = {
            text.digest: text
            for atom in atoms.values()
            for passage in passages_of(atom)
            if (text := to_unencoded_text(atom, passage)).digest in digests
        }
        return [texts[digest] for digest in dict.fromkeys(bytes(row[1]) for row in rows) if digest in texts]

    def count_missing(self, model: str, packing: str | None = None) -> int:
        """Return how many texts are not encoded, or not stored as they should be."""
        missing_clause, values = _missing_clause(model, packing)
        sql = f"SELECT count(DISTINCT p.digest) {missing_clause}"
        return int(self._on_index(lambda index: index.db.rows(sql, values))[0][0])

    def put(self, model: str, encodings: Iterable[TextEncoding]) -> None:
        """Store what a model computed for texts that still exist."""
        by_digest = {encoding.digest: encoding for encoding in encodings}

        def save(index: SqliteIndex) -> None:
            with index.db.write_transaction(durable=False):
                wanted_bits = read_wanted_bits(index.db, by_digest)
                _save_encodings(
                    index.db,
                    model,
                    [encoding for encoding in by_digest.values() if encoding.digest in wanted_bits],
                    wanted_bits,
                )

        self._on_index(save)

    def coverage(self, model: str, scopes: Sequence[Scope]) -> tuple[int, int]:
        """Return how many passages a model has encoded, and how many there are."""
        return self._on_index(lambda index: self._current_search(index).coverage(model, scopes))

    def count_by_model(self) -> dict[str, int]:
        """Return how many texts each model has encoded."""
        return dict(
            self._on_index(lambda index: index.db.rows("SELECT model, count(*) FROM vectors GROUP BY 1 ORDER BY 1"))
        )

    def drop_model(self, model: str) -> None:
        """Delete everything that a model computed."""

        def forget(index: SqliteIndex) -> None:
            with index.db.write_transaction(durable=False):
                index.drop_model(model)

        self._on_index(forget)

    def find_nearest(self, query: VectorQuery) -> list[NearPassage]:
        """Return the best passages for a query vector; save the search if it became large."""

        def find(index: SqliteIndex) -> list[NearPassage]:
            search = self._current_search(index)
            results = search.find_nearest(query)
            if search.is_worth_saving and not index.db.in_transaction:
                self._save_search(search, index)
            return results

        return self._on_index(find)

    def count_filtered_out(self, query: VectorQuery, min_cosine: float) -> dict[str, int]:
        """Return how many passages with at least this cosine were filtered out, by the reason."""
        return self._on_index(lambda index: self._current_search(index).count_filtered_out(query, min_cosine))

    def cosines(self, model: str, query_vector: QueryVector, keys: Sequence[PassageKey]) -> list[float]:
        """Return the cosine of each passage with a query."""
        return self._on_index(lambda index: self._current_search(index).cosines(model, query_vector, keys))

    def speakers(self, scopes: Sequence[Scope]) -> frozenset[str]:
        """Return the speakers of all recallable passages."""
        return self._on_index(lambda index: self._current_search(index).speakers(scopes))

    def vectors(self, model: str, ids: Sequence[AtomId]) -> dict[AtomId, Floats]:
        """Return the vectors of the first passage of each atom."""

        def read(index: SqliteIndex) -> dict[AtomId, Floats]:
            vectors: dict[AtomId, Floats] = {}
            for start in range(0, len(ids), _BATCH):
                batch = ids[start : start + _BATCH]
                rows = index.db.rows(
                    f"SELECT a.atom_id, v.bits, v.data {_FROM_FIRST_PASSAGES}"
                    f" WHERE a.atom_id IN ({','.join('?' * len(batch))})",
                    (model, *batch),
                )
                vectors |= {AtomId(atom_id): unpack_vectors(bits, data) for atom_id, bits, data in rows}
            return vectors

        return self._on_index(read)

    def states(self, model: str, digests: Iterable[bytes]) -> dict[bytes, PackedStates]:
        """Return the token states of texts."""
        batch_digests = list(dict.fromkeys(digests))

        def read(index: SqliteIndex) -> dict[bytes, PackedStates]:
            states: dict[bytes, PackedStates] = {}
            for start in range(0, len(batch_digests), _BATCH):
                batch = batch_digests[start : start + _BATCH]
                rows = index.db.rows(
                    "SELECT v.digest, s.packing, s.checksum, s.data FROM vectors v JOIN states s ON s.vector=v.id "
                    f"WHERE v.model=? AND v.digest IN ({','.join('?' * len(batch))})",
                    (model, *batch),
                )
                states |= {digest: _checked_states(digest, *row) for digest, *row in rows}
            return states

        return self._on_index(read)

    def set_precision(self, bits: Mapping[AtomId, int], *, dry_run: bool = False) -> PrecisionChange:
        """Store the vectors of these atoms in so many bits; return what changes."""
        return self._on_index(lambda index: (count_moves if dry_run else change_precision)(index.db, bits))

    def coarse_vectors(self, model: str, keys: Collection[PassageKey]) -> dict[PassageKey, tuple[int, Floats]]:
        """Return bits and decoded vectors of passages below full precision."""

        def read(index: SqliteIndex) -> dict[PassageKey, tuple[int, Floats]]:
            rows = index.db.rows(_COARSE, (json.dumps(sorted(keys)), model))
            vectors: dict[PassageKey, tuple[int, Floats]] = {}
            for bits in {row[2] for row in rows}:
                same_bits = [row for row in rows if row[2] == bits]
                decoded = _unpack_vectors(bits, [row[3] for row in same_bits])
                vectors |= {
                    (AtomId(row[0]), row[1]): (bits, vector) for row, vector in zip(same_bits, decoded, strict=True)
                }
            return vectors

        return self._on_index(read)

    def sizes(self) -> EncodingSizes:
        """Return the size of all vectors and token states."""
        return self._on_index(lambda index: read_sizes(index.db))

    def token_statistics(
        self, scopes: Sequence[Scope], tokens: Sequence[str]
    ) -> dict[Scope, tuple[int, dict[str, int]]]:
        """Return the number of passages of each scope, and in how many each token occurs."""
        marks = ",".join("?" * len(tokens))

        def read(index: SqliteIndex) -> dict[Scope, tuple[int, dict[str, int]]]:
            statistics = {}
            for scope in scopes:
                scope_row = index.db.one("SELECT id, passages FROM scopes WHERE scope=?", (scope,))
                if scope_row:
                    counts = index.db.rows(
                        f"SELECT term, passages FROM terms WHERE scope=? AND term IN ({marks})", (scope_row[0], *tokens)
                    )
                    statistics[scope] = int(scope_row[1]), dict(counts)
            return statistics

        return self._on_index(read)

    def reset_search(self) -> None:
        """Drop the search in memory; the next query reads the columns again."""
        self._search = self._held_search = None

    def scrub(self) -> None:
        """Delete the saved search and the one in memory."""
        self.reset_search()
        remove_all(self._folder)

    def hold_snapshot(self, is_held: bool) -> None:
        """While a reader sends many queries about one moment, catch up only once."""
        self._is_held, self._held_search = is_held, None

    def _current_search(self, index: SqliteIndex) -> VectorSearch:
        """Return the search, caught up with the index."""
        if self._held_search is not None:
            return self._held_search
        with index.db.read_transaction():
            applied, edition = index.position, index.edition
            if (
                self._search is None
                or not self._search.belongs_to(index.db, edition)
                or not self._search.catch_up(applied)
            ):
                self._search = VectorSearch(index.db, edition, self._folder)
                self._search.catch_up(applied)
            self._held_search = self._search if self._is_held else None
            return self._search

    def _save_search(self, search: VectorSearch, index: SqliteIndex) -> None:
        """Save a large search for the next process; if that fails, every process builds its own."""
        try:
            search.save()
            if not search.belongs_to(index.db, index.edition):
                # Something was erased in the meantime: the saved arrays may contain it.
                remove_all(self._folder)
        except OSError as error:
            logger.warning(
                "the vector search could not be saved, so the next process opens the store more slowly: %s",
                summarise_error(error),
            )

    def _on_index(self, work: Callable[[SqliteIndex], T]) -> T:
        return self._run_on_index(work)  # type: ignore[return-value]


def _save_encodings(
    db: Database, model: str, encodings: Sequence[TextEncoding], wanted_bits: Mapping[bytes, int]
) -> None:
    """Store new vectors and those wanted in other bits, and the token states of those with enough bits."""
    assert all(len(encoding.vectors) for encoding in encodings)
    existing = read_vector_rows(db, model, wanted_bits)
    new_rows = [
        (model, encoding.digest, bits, bits, pack(encoding.vectors, bits).data)
        for encoding in encodings
        if existing.get(encoding.digest, (0, 0, 0))[1:] != ((bits := wanted_bits[encoding.digest]), bits)
    ]
    db.run_many(
        "INSERT INTO vectors(model, digest, bits, wanted, data) VALUES(?,?,?,?,?) "
        "ON CONFLICT DO UPDATE SET bits=excluded.bits, wanted=excluded.wanted, data=excluded.data",
        new_rows,
    )
    rows = {digest: row for digest, (row, _, _) in read_vector_rows(db, model, wanted_bits).items()}
    without_states = [
        (rows[encoding.digest],) for encoding in encodings if wanted_bits[encoding.digest] < MIN_BITS_FOR_STATES
    ]
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
            for encoding in encodings
            if wanted_bits[encoding.digest] >= MIN_BITS_FOR_STATES and (states := encoding.states)
        ],
    )


def _unpack_vectors(bits: int, packed: Sequence[bytes]) -> list[Floats]:
    """Return the vectors of texts of one model and precision; decoding many costs little more than one."""
    joined = unpack_vectors(bits, packed[0][:HEADER_BYTES] + b"".join(data[HEADER_BYTES:] for data in packed))
    sizes = [len(data) - HEADER_BYTES for data in packed]
    rows = [len(joined) * size // sum(sizes) for size in sizes]
    return np.split(joined, np.cumsum(rows)[:-1])


def _checked_states(digest: bytes, packing: object, checksum: object, data: object) -> PackedStates:
    """Return the states of a text; `CorruptDatabase` if the checksum is wrong.

    SQLite does not notice when the pages of a long blob were overwritten.
    """
    if isinstance(packing, str) and isinstance(data, bytes) and checksum == _checksum(digest, packing, data):
        return PackedStates(packing, data)
    raise CorruptDatabase("index.db is damaged: the checksum of token states is wrong")


def _checksum(digest: bytes, packing: str, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(digest + packing.encode()))


def _missing_clause(model: str, packing: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the FROM and WHERE clauses for texts not encoded, or not in this packing or precision."""
    if packing is None:
        return f"{_FROM_PASSAGES} WHERE v.id IS NULL", (model,)
    lacks_states = f"(t.vector IS NULL AND NOT {NEEDS_NO_STATES})"
    return f"{_FROM_PASSAGES} {_JOIN_PACKED_STATES} WHERE (v.id IS NULL OR {lacks_states} OR {HAS_OTHER_BITS})", (
        model,
        packing,
    )
