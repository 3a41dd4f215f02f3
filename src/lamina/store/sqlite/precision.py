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

from lamina.atom.identity import AtomId
from lamina.store.encodings import STATES_FROM, WHOLE, Moved, Room
from lamina.store.sqlite.database import Corrupt, Database
from lamina.vectors.kept import Damaged, Kept, pack, unpack

VECTORS = """
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
KEPT = ("vectors", "states", "room")
"""Tables that survive a rebuild of the index: texts need not be encoded again."""

IS_UNWANTED = (
    "EXISTS(SELECT 1 FROM vectors o INDEXED BY vectors_to_make_anew "
    "WHERE o.digest=v.digest AND o.model=v.model AND o.bits<>o.wanted)"
)
"""Whether a vector is stored in other than the wanted bits; an index answers it without reading the vector."""
NEEDS_NO_STATES = (
    "EXISTS(SELECT 1 FROM vectors c INDEXED BY vectors_in_few_bits "
    f"WHERE c.id=v.id AND c.wanted<32 AND c.wanted<{STATES_FROM})"
)

_AMONG = "IN (SELECT value FROM json_each(?))"
_AMONG_TEXTS = "IN (SELECT unhex(value) FROM json_each(?))"
_WANTED = (
    "SELECT p.digest, a.atom_id, a.bits FROM passages p JOIN atoms a ON a.id=p.atom WHERE p.digest IN "
    f"(SELECT q.digest FROM atoms b JOIN passages q ON q.atom=b.id WHERE b.atom_id {_AMONG})"
)
_ROWS = (
    "SELECT v.id, v.bits, v.wanted, EXISTS(SELECT 1 FROM states s WHERE s.vector=v.id) FROM vectors v WHERE v.digest=?"
)
_AT_ONCE = 500
HEAD = 2
"""Bytes before the vectors of a text that contain their width."""


@dataclass(frozen=True, slots=True)
class _Move:
    """A row of vectors, its bits, the wanted bits, and whether it loses its token states."""

    row: int
    bits: int
    wanted: int
    loses_states: bool


def wanted_for(db: Database, digests: Iterable[bytes]) -> dict[bytes, int]:
    """Return the most bits that any atom with each text wants; texts without an atom are left out."""
    return dict(
        db.rows(
            "SELECT p.digest, max(a.bits) FROM passages p JOIN atoms a ON a.id=p.atom "
            f"WHERE p.digest {_AMONG_TEXTS} GROUP BY 1",
            (_listed(digests),),
        )
    )


def rows_of(db: Database, model: str, digests: Iterable[bytes]) -> dict[bytes, tuple[int, int, int]]:
    """Return a model's rows for texts, each with its bits and the wanted bits."""
    rows = db.rows(
        f"SELECT digest, id, bits, wanted FROM vectors WHERE digest {_AMONG_TEXTS} AND model=?",
        (_listed(digests), model),
    )
    return {digest: (row, bits, wanted_bits) for digest, row, bits, wanted_bits in rows}


def _listed(digests: Iterable[bytes]) -> str:
    return json.dumps([digest.hex() for digest in digests])


def would_move(db: Database, bits: Mapping[AtomId, int]) -> Moved:
    """Return what storing the vectors of these atoms in so many bits would change."""
    return _counted(vector for batch in _batches(bits) for vector in _moves(db, batch, bits))


def move(db: Database, bits: Mapping[AtomId, int]) -> Moved:
    """Store the vectors of these atoms in so many bits, in batches; each text changes completely or not at all."""
    moves = list[_Move]()
    for batch in _batches(bits):
        with db.writing(durable=False):
            moves += move_some(db, batch, bits)
    return _counted(moves)


def move_some(db: Database, ids: Iterable[AtomId], bits: Mapping[AtomId, int]) -> list[_Move]:
    """Change the precision of some atoms' texts; the caller has the write transaction open."""
    batch = list(ids)
    moves = _moves(db, batch, bits)
    db.run_many(
        "UPDATE atoms SET bits=? WHERE atom_id=? AND bits<>?",
        [(bits[atom_id], atom_id, bits[atom_id]) for atom_id in batch],
    )
    for wanted_bits in {vector.wanted for vector in moves}:
        to_code = [vector.row for vector in moves if vector.wanted == wanted_bits != vector.bits == WHOLE]
        _code(db, to_code, wanted_bits)
    db.run_many("UPDATE vectors SET wanted=? WHERE id=?", [(vector.wanted, vector.row) for vector in moves])
    db.run_many("DELETE FROM states WHERE vector=?", [(vector.row,) for vector in moves if vector.loses_states])
    return moves


def move_all(db: Database, bits: Mapping[AtomId, int]) -> None:
    """Apply all wanted bits to a rebuilt index; the caller has the write transaction open."""
    for batch in _batches(bits):
        move_some(db, batch, bits)
    db.run(
        "UPDATE vectors SET wanted=32 WHERE wanted<32 AND digest NOT IN "
        "(SELECT p.digest FROM passages p JOIN atoms a ON a.id=p.atom WHERE a.bits<32)"
    )


def room(db: Database) -> Room:
    """Return the size of vectors and token states."""
    sizes = {(what, bits): (texts, bytes_used) for what, bits, texts, bytes_used in db.rows("SELECT * FROM room")}
    vectors = {bits: size for (what, bits), size in sorted(sizes.items(), reverse=True) if what == "vectors"}
    return Room({bits: size for bits, size in vectors.items() if size[0]}, sizes.get(("states", 0), (0, 0)))


def _moves(db: Database, ids: Iterable[AtomId], bits: Mapping[AtomId, int]) -> list[_Move]:
    """Return the rows whose wanted bits change, or that lose their token states."""
    wanted_bits = dict[bytes, int]()
    for digest, atom_id, atom_bits in db.rows(_WANTED, (json.dumps(list(ids)),)):
        wanted_bits[digest] = max(wanted_bits.get(digest, 0), bits.get(AtomId(atom_id), atom_bits))
    return [
        _Move(row, stored_bits, most_bits, bool(states) and most_bits < STATES_FROM)
        for digest, most_bits in wanted_bits.items()
        for row, stored_bits, old_wanted, states in db.rows(_ROWS, (digest,))
        if most_bits != old_wanted or (states and most_bits < STATES_FROM)
    ]


def _code(db: Database, rows: Sequence[int], bits: int) -> None:
    """Convert full vectors to few bits: many together cost little more than one, with the same result for each."""
    rows_found = db.rows(f"SELECT id, data FROM vectors WHERE id {_AMONG}", (json.dumps(list(rows)),))
    for head in {data[:HEAD] for _, data in rows_found}:
        same_width = [(row, data[HEAD:]) for row, data in rows_found if data[:HEAD] == head]
        try:
            vectors = unpack(Kept(WHOLE, head + b"".join(data for _, data in same_width)))
        except Damaged as error:
            raise Corrupt(f"index.db is damaged: {error}") from error
        coded, total_bytes = pack(vectors, bits).data[HEAD:], vectors.nbytes
        ends = [len(coded) * end // total_bytes for end in accumulate(len(data) for _, data in same_width)]
        db.run_many(
            "UPDATE vectors SET bits=?, data=? WHERE id=?",
            [
                (bits, head + coded[start:end], row)
                for (row, _), start, end in zip(same_width, [0, *ends[:-1]], ends, strict=True)
            ],
        )


def _counted(moves: Iterable[_Move]) -> Moved:
    """Return the number of vectors by their new bits, and of lost token states."""
    vectors = {vector.row: vector for vector in moves}.values()
    counts = Counter(vector.wanted for vector in vectors if vector.wanted != vector.bits)
    return Moved(dict(sorted(counts.items(), reverse=True)), sum(vector.loses_states for vector in vectors))


def _batches(bits: Mapping[AtomId, int]) -> Iterator[list[AtomId]]:
    ids = list(bits)
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
