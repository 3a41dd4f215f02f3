"""Vectors and token states in index.db, and the precision of the vectors."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from lamina.atom.atom import AtomId
from lamina.atom.passage import passages_of
from lamina.atom.provenance import Scope
from lamina.store.encodings import (
    EncodingCounts,
    PackedStates,
    PassageKey,
    PassageVectors,
    TextEncoding,
    UnencodedText,
    to_unencoded_text,
)
from lamina.store.precision import FULL_BITS, MIN_BITS_FOR_STATES, EncodingSizes, PrecisionChange
from lamina.store.sqlite.current_index import CurrentIndex
from lamina.store.sqlite.database import CorruptDatabase, Database
from lamina.store.sqlite.history import HistoryFile
from lamina.store.sqlite.in_memory_vectors import unpack_vectors
from lamina.store.sqlite.index import SqliteIndex
from lamina.store.sqlite.precision import (
    HAS_OTHER_BITS,
    HEADER_BYTES,
    NEEDS_NO_STATES,
    change_precision,
    count_moves,
    read_sizes,
    read_vector_rows,
    read_wanted_bits,
    reclaim_unused_bytes,
)
from lamina.vectors.integer_vectors import Floats
from lamina.vectors.stored_vectors import pack

_FROM_PASSAGES = "FROM passages p JOIN atoms a ON a.id=p.atom LEFT JOIN vectors v ON v.digest=p.digest AND v.model=?"
_JOIN_PACKED_STATES = "LEFT JOIN states t INDEXED BY states_by_packing ON t.packing=? AND t.vector=v.id"
_VECTORS = (
    "SELECT a.atom_id, p.n, v.bits, v.data FROM json_each(?) k CROSS JOIN atoms a ON a.atom_id=k.value->>0 "
    "CROSS JOIN passages p ON p.atom=a.id AND p.n=k.value->>1 "
    "CROSS JOIN vectors v ON v.digest=p.digest AND v.model=?"
)
"""The join order is fixed: a planner that begins with the vectors reads all of them."""
_STATES = (
    "SELECT v.model, v.digest, s.packing, s.checksum, s.data FROM vectors v JOIN states s ON s.vector=v.id "
    "WHERE v.digest IN (SELECT unhex(value) FROM json_each(?)) AND v.model IN (SELECT value FROM json_each(?))"
)


class SqliteEncodings:
    """Results of models for the texts, beside the index they belong to."""

    def __init__(self, index: CurrentIndex, history: HistoryFile) -> None:
        self._index, self._history = index, history
        self.precision = SqlitePrecision(index)

    def find_missing(
        self, model: str, limit: int, scopes: Sequence[Scope] | None = None, packing: str | None = None
    ) -> list[UnencodedText]:
        marks = ",".join("?" * len(scopes or ()))
        scope_condition = "" if scopes is None else f"AND a.scope IN (SELECT id FROM scopes WHERE scope IN ({marks})) "
        missing_clause, values = missing_texts_clause(model, packing)
        rows = self._index.run(
            lambda index: index.db.rows(
                f"SELECT a.atom_id, p.digest {missing_clause} {scope_condition}"
                f"ORDER BY v.id IS NOT NULL, {HAS_OTHER_BITS}, a.shelf, p.id LIMIT ?",
                (*values, *(scopes or ()), limit),
            )
        )
        digests = {bytes(digest) for _, digest in rows}
        atoms = self._history.heads.get(dict.fromkeys(AtomId(atom_id) for atom_id, _ in rows))
        texts = {
            text.digest: text
            for atom in atoms.values()
            for passage in passages_of(atom)
            if (text := to_unencoded_text(atom, passage)).digest in digests
        }
        return [texts[digest] for digest in dict.fromkeys(bytes(row[1]) for row in rows) if digest in texts]

    def count(self, packings: Mapping[str, str | None] | None = None) -> EncodingCounts:
        def read(index: SqliteIndex) -> EncodingCounts:
            missing = {}
            for model, packing in (packings or {}).items():
                missing_clause, values = missing_texts_clause(model, packing)
                ((missing[model],),) = index.db.rows(f"SELECT count(DISTINCT p.digest) {missing_clause}", values)
            encoded = index.db.rows("SELECT model, count(*) FROM vectors GROUP BY 1 ORDER BY 1")
            return EncodingCounts(dict(encoded), missing)

        return self._index.run(read)

    def put(self, model: str, encodings: Iterable[TextEncoding]) -> None:
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

        self._index.run(save)
        self._index.note_vectors()

    def drop_model(self, model: str) -> None:
        def forget(index: SqliteIndex) -> None:
            with index.db.write_transaction(durable=False):
                index.drop_model(model)

        self._index.run(forget)
        self._index.note_vectors()

    def vectors(
        self, model: str, keys: Collection[PassageKey], *, only_reduced: bool = False
    ) -> dict[PassageKey, PassageVectors]:
        def read(index: SqliteIndex) -> dict[PassageKey, PassageVectors]:
            if not keys or (only_reduced and not index.state.coarse_count):
                return {}
            condition = f" AND v.bits<{FULL_BITS}" if only_reduced else ""
            rows = index.db.rows(_VECTORS + condition, (json.dumps(sorted(keys)), model))
            vectors: dict[PassageKey, PassageVectors] = {}
            for bits in {row[2] for row in rows}:
                same_bits = [row for row in rows if row[2] == bits]
                decoded = _unpack_vectors(bits, [row[3] for row in same_bits])
                vectors |= {
                    (AtomId(row[0]), row[1]): PassageVectors(bits, vector)
                    for row, vector in zip(same_bits, decoded, strict=True)
                }
            return vectors

        return self._index.run(read)

    def states(self, models: Sequence[str], digests: Iterable[bytes]) -> dict[str, dict[bytes, PackedStates]]:
        def read(index: SqliteIndex) -> dict[str, dict[bytes, PackedStates]]:
            states: dict[str, dict[bytes, PackedStates]] = {model: {} for model in models}
            values = json.dumps([digest.hex() for digest in digests]), json.dumps(list(models))
            for model, digest, *row in index.db.rows(_STATES, values):
                states[model][digest] = _checked_states(digest, *row)
            return states

        return self._index.run(read)


class SqlitePrecision:
    """The bits that the vectors in index.db are stored in."""

    def __init__(self, index: CurrentIndex) -> None:
        self._index = index

    def change(self, bits: Mapping[AtomId, int], *, dry_run: bool = False) -> PrecisionChange:
        change = self._index.run(lambda index: (count_moves if dry_run else change_precision)(index.db, bits))
        self._index.note_vectors()
        return change

    def sizes(self) -> EncodingSizes:
        return self._index.run(lambda index: read_sizes(index.db))

    def reclaim(self) -> int:
        """Rewrite index.db without its unused bytes if they are a fifth of it; return how many were given back."""
        return self._index.run(lambda index: reclaim_unused_bytes(index.db))


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


def missing_texts_clause(model: str, packing: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the FROM and WHERE clauses for texts not encoded, or not in this packing or precision."""
    if packing is None:
        return f"{_FROM_PASSAGES} WHERE v.id IS NULL", (model,)
    lacks_states = f"(t.vector IS NULL AND NOT {NEEDS_NO_STATES})"
    return f"{_FROM_PASSAGES} {_JOIN_PACKED_STATES} WHERE (v.id IS NULL OR {lacks_states} OR {HAS_OTHER_BITS})", (
        model,
        packing,
    )
