"""Vectors and token states in index.db, and how their precision is changed.

Every atom has a wanted number of bits. A vector in full precision is converted immediately; a vector in fewer bits is
only marked, and encoded again from the text later. Its row number stays. Changes are counted, and a process that has
vectors in memory reads them again when the count changes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from lamina.atom.atom import AtomId
from lamina.errors import StoreBusy
from lamina.store.precision import FULL_BITS, MIN_BITS_FOR_STATES, EncodingSizes, PrecisionChange
from lamina.store.sqlite.database import CorruptDatabase, Database
from lamina.vectors.stored_vectors import DamagedVectors, StoredVectors, pack, unpack

SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors(
  id INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, digest BLOB NOT NULL, bits INTEGER NOT NULL,
  wanted INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE(digest, model));
CREATE INDEX IF NOT EXISTS vectors_by_model ON vectors(model, id);
CREATE INDEX IF NOT EXISTS vectors_to_make_anew ON vectors(digest, model) WHERE bits<>wanted;
CREATE INDEX IF NOT EXISTS vectors_in_few_bits ON vectors(id, wanted) WHERE wanted<32;
CREATE TABLE IF NOT EXISTS states(
  vector INTEGER PRIMARY KEY, packing TEXT NOT NULL, checksum INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS states_by_packing ON states(packing, vector);
CREATE TABLE IF NOT EXISTS room(
  what TEXT NOT NULL, bits INTEGER NOT NULL, texts INTEGER NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY(what, bits)
) WITHOUT ROWID;
INSERT OR IGNORE INTO room VALUES('vectors', 32, 0, 0), ('vectors', 8, 0, 0), ('vectors', 4, 0, 0),
  ('vectors', 2, 0, 0), ('states', 0, 0, 0), ('moves', 0, 0, 0);
CREATE TRIGGER IF NOT EXISTS vectors_come AFTER INSERT ON vectors BEGIN
  UPDATE room SET texts=texts+1, bytes=bytes+length(new.data) WHERE what='vectors' AND bits=new.bits;
END;
CREATE TRIGGER IF NOT EXISTS vectors_go AFTER DELETE ON vectors BEGIN
  UPDATE room SET texts=texts-1, bytes=bytes-length(old.data) WHERE what='vectors' AND bits=old.bits;
END;
CREATE TRIGGER IF NOT EXISTS vectors_move AFTER UPDATE OF bits, data ON vectors BEGIN
  UPDATE room SET texts=texts-1, bytes=bytes-length(old.data) WHERE what='vectors' AND bits=old.bits;
  UPDATE room SET texts=texts+1, bytes=bytes+length(new.data) WHERE what='vectors' AND bits=new.bits;
  UPDATE room SET texts=texts+1 WHERE what='moves';
END;
CREATE TRIGGER IF NOT EXISTS states_come AFTER INSERT ON states BEGIN
  UPDATE room SET texts=texts+1, bytes=bytes+length(new.data) WHERE what='states';
END;
CREATE TRIGGER IF NOT EXISTS states_go AFTER DELETE ON states BEGIN
  UPDATE room SET texts=texts-1, bytes=bytes-length(old.data) WHERE what='states';
END;
CREATE TRIGGER IF NOT EXISTS states_change AFTER UPDATE OF data ON states BEGIN
  UPDATE room SET bytes=bytes-length(old.data)+length(new.data) WHERE what='states';
END;
"""
"""Sizes are counted by triggers, so that no one has to read a million vectors to know their size."""
KEPT_TABLES = ("vectors", "states", "room")
"""Tables that survive a rebuild of the index: texts need not be encoded again."""

HAS_OTHER_BITS = (
    "EXISTS(SELECT 1 FROM vectors o INDEXED BY vectors_to_make_anew "
    "WHERE o.digest=v.digest AND o.model=v.model AND o.bits<>o.wanted)"
)
"""Whether a vector is stored in other than the wanted bits; an index answers it without reading the vector."""
NEEDS_NO_STATES = (
    "EXISTS(SELECT 1 FROM vectors c INDEXED BY vectors_in_few_bits "
    f"WHERE c.id=v.id AND c.wanted<32 AND c.wanted<{MIN_BITS_FOR_STATES})"
)

_IN_LIST = "IN (SELECT value FROM json_each(?))"
_IN_DIGESTS = "IN (SELECT unhex(value) FROM json_each(?))"
_WANTED = (
    "SELECT p.digest, a.atom_id, a.bits FROM passages p JOIN atoms a ON a.id=p.atom WHERE p.digest IN "
    f"(SELECT q.digest FROM atoms b JOIN passages q ON q.atom=b.id WHERE b.atom_id {_IN_LIST})"
)
_ROWS = (
    "SELECT v.id, v.bits, v.wanted, EXISTS(SELECT 1 FROM states s WHERE s.vector=v.id) FROM vectors v WHERE v.digest=?"
)
_ADD_FREED = (
    "INSERT INTO room VALUES('freed', 0, 0, ?) ON CONFLICT(what, bits) DO UPDATE SET bytes=bytes+excluded.bytes"
)
_BATCH = 500
MIN_RECLAIMED, RECLAIMED_SHARE = 256 * 1024, 5
"""The file is rewritten if at least so many bytes, and one in so many of all its bytes, are unused."""
HEADER_BYTES = 2
"""Bytes before the vectors of a text that contain their width."""


@dataclass(frozen=True, slots=True)
class _VectorMove:
    """A row of vectors, its bits, the wanted bits, and whether it loses its token states."""

    row: int
    bits: int
    wanted_bits: int
    loses_states: bool


def read_wanted_bits(db: Database, digests: Iterable[bytes]) -> dict[bytes, int]:
    """Return the most bits that any atom with each text wants; texts without an atom are left out."""
    return dict(
        db.rows(
            "SELECT p.digest, max(a.bits) FROM passages p JOIN atoms a ON a.id=p.atom "
            f"WHERE p.digest {_IN_DIGESTS} GROUP BY 1",
            (_to_json(digests),),
        )
    )


def read_vector_rows(db: Database, model: str, digests: Iterable[bytes]) -> dict[bytes, tuple[int, int, int]]:
    """Return a model's rows for texts, each with its bits and the wanted bits."""
    rows = db.rows(
        f"SELECT digest, id, bits, wanted FROM vectors WHERE digest {_IN_DIGESTS} AND model=?",
        (_to_json(digests), model),
    )
    return {digest: (row, bits, wanted_bits) for digest, row, bits, wanted_bits in rows}


def _to_json(digests: Iterable[bytes]) -> str:
    return json.dumps([digest.hex() for digest in digests])


def count_moves(db: Database, bits: Mapping[AtomId, int]) -> PrecisionChange:
    """Return what storing the vectors of these atoms in so many bits would change."""
    return _summarise(vector for batch in _batches(bits) for vector in _find_moves(db, batch, bits))


def change_precision(db: Database, bits: Mapping[AtomId, int]) -> PrecisionChange:
    """Store the vectors of these atoms in so many bits, in batches; each text changes completely or not at all."""
    moves = list[_VectorMove]()
    for batch in _batches(bits):
        with db.write_transaction(durable=False):
            before = _stored_bytes(db)
            moves += move_batch(db, batch, bits)
            freed = before - _stored_bytes(db)
            db.run_many(_ADD_FREED, [(freed,)] if freed > 0 else [])
    return _summarise(moves)


def read_unused_bytes(db: Database) -> int:
    """Return about how many bytes hold nothing: free pages, or what shorter vectors left inside of pages."""
    (freed,) = db.one("SELECT bytes FROM room WHERE what='freed'") or (0,)
    return max(int(freed), _pragma(db, "freelist_count") * _pragma(db, "page_size"))


def reclaim_unused_bytes(db: Database) -> int:
    """Rewrite the file if a fifth of it is unused; return by how much it shrinks, 0 if another program is writing."""
    size, unused = _pragma(db, "page_count") * _pragma(db, "page_size"), read_unused_bytes(db)
    if db.in_transaction or unused < MIN_RECLAIMED or unused * RECLAIMED_SHARE < size:
        return 0
    try:
        db.compact()
    except StoreBusy:
        return 0
    with db.write_transaction(durable=False):
        db.run("UPDATE room SET bytes=0 WHERE what='freed'")
    return size - _pragma(db, "page_count") * _pragma(db, "page_size")


def move_batch(db: Database, ids: Iterable[AtomId], bits: Mapping[AtomId, int]) -> list[_VectorMove]:
    """Change the precision of some atoms' texts; the caller has the write transaction open."""
    batch = list(ids)
    moves = _find_moves(db, batch, bits)
    db.run_many(
        "UPDATE atoms SET bits=? WHERE atom_id=? AND bits<>?",
        [(bits[atom_id], atom_id, bits[atom_id]) for atom_id in batch],
    )
    for wanted_bits in {vector.wanted_bits for vector in moves}:
        to_code = [vector.row for vector in moves if vector.wanted_bits == wanted_bits != vector.bits == FULL_BITS]
        _requantise(db, to_code, wanted_bits)
    db.run_many("UPDATE vectors SET wanted=? WHERE id=?", [(vector.wanted_bits, vector.row) for vector in moves])
    db.run_many("DELETE FROM states WHERE vector=?", [(vector.row,) for vector in moves if vector.loses_states])
    return moves


def move_all(db: Database, bits: Mapping[AtomId, int]) -> None:
    """Apply all wanted bits to a rebuilt index; the caller has the write transaction open."""
    for batch in _batches(bits):
        move_batch(db, batch, bits)
    db.run(
        "UPDATE vectors SET wanted=32 WHERE wanted<32 AND digest NOT IN "
        "(SELECT p.digest FROM passages p JOIN atoms a ON a.id=p.atom WHERE a.bits<32)"
    )


def read_sizes(db: Database) -> EncodingSizes:
    """Return the size of vectors and token states, and of what holds nothing."""
    sizes = {(what, bits): (texts, bytes_used) for what, bits, texts, bytes_used in db.rows("SELECT * FROM room")}
    vectors = {bits: size for (what, bits), size in sorted(sizes.items(), reverse=True) if what == "vectors"}
    stored = {bits: size for bits, size in vectors.items() if size[0]}
    return EncodingSizes(stored, sizes.get(("states", 0), (0, 0)), read_unused_bytes(db))


def _stored_bytes(db: Database) -> int:
    row = db.one("SELECT sum(bytes) FROM room WHERE what IN ('vectors', 'states')")
    return int(row[0] or 0) if row else 0


def _pragma(db: Database, name: str) -> int:
    row = db.one(f"PRAGMA {name}")
    return int(row[0]) if row else 0


def _find_moves(db: Database, ids: Iterable[AtomId], bits: Mapping[AtomId, int]) -> list[_VectorMove]:
    """Return the rows whose wanted bits change, or that lose their token states."""
    wanted_bits = dict[bytes, int]()
    for digest, atom_id, atom_bits in db.rows(_WANTED, (json.dumps(list(ids)),)):
        wanted_bits[digest] = max(wanted_bits.get(digest, 0), bits.get(AtomId(atom_id), atom_bits))
    return [
        _VectorMove(row, stored_bits, most_bits, bool(states) and most_bits < MIN_BITS_FOR_STATES)
        for digest, most_bits in wanted_bits.items()
        for row, stored_bits, old_wanted, states in db.rows(_ROWS, (digest,))
        if most_bits != old_wanted or (states and most_bits < MIN_BITS_FOR_STATES)
    ]


def _requantise(db: Database, rows: Sequence[int], bits: int) -> None:
    """Convert full vectors to few bits: many together cost little more than one, with the same result for each."""
    rows_found = db.rows(f"SELECT id, data FROM vectors WHERE id {_IN_LIST}", (json.dumps(list(rows)),))
    for head in {data[:HEADER_BYTES] for _, data in rows_found}:
        same_width = [(row, data[HEADER_BYTES:]) for row, data in rows_found if data[:HEADER_BYTES] == head]
        try:
            vectors = unpack(StoredVectors(FULL_BITS, head + b"".join(data for _, data in same_width)))
        except DamagedVectors as error:
            raise CorruptDatabase(f"index.db is damaged: {error}") from error
        coded, total_bytes = pack(vectors, bits).data[HEADER_BYTES:], vectors.nbytes
        ends = [len(coded) * end // total_bytes for end in accumulate(len(data) for _, data in same_width)]
        db.run_many(
            "UPDATE vectors SET bits=?, data=? WHERE id=?",
            [
                (bits, head + coded[start:end], row)
                for (row, _), start, end in zip(same_width, [0, *ends[:-1]], ends, strict=True)
            ],
        )


def _summarise(moves: Iterable[_VectorMove]) -> PrecisionChange:
    """Return the number of vectors by their new bits, and of lost token states."""
    vectors = {vector.row: vector for vector in moves}.values()
    counts = Counter(vector.wanted_bits for vector in vectors if vector.wanted_bits != vector.bits)
    return PrecisionChange(dict(sorted(counts.items(), reverse=True)), sum(vector.loses_states for vector in vectors))


def _batches(bits: Mapping[AtomId, int]) -> Iterator[list[AtomId]]:
    ids = list(bits)
    return (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))
