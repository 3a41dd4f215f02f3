"""Vectors and token states as index.db keeps them, and how they come to be kept in fewer bits or more.

Every atom says in how many bits it wants its vectors. A row is coded at once where it holds the whole vector; a row in
fewer bits than that is only marked, and whoever encodes makes it again from the text. It keeps its number; moves are
counted, and who holds vectors in memory reads them again when the count has changed.
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
"""What takes room is counted as it comes and goes: nobody reads a million vectors to tell how large they are."""
KEPT = ("vectors", "states", "room")
"""What a text gave a model outlives the rows around it: an index made anew need not encode it again."""

IS_UNWANTED = (
    "EXISTS(SELECT 1 FROM vectors o INDEXED BY vectors_to_make_anew "
    "WHERE o.digest=v.digest AND o.model=v.model AND o.bits<>o.wanted)"
)
"""Whether a vector is kept in other than the wanted bits, told without reading it."""
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
"""Bytes before the vectors of a text that say how wide they are."""


@dataclass(frozen=True, slots=True)
class _Move:
    """A row of vectors, the bits it is in and those it is wanted in, and whether it loses its states."""

    row: int
    bits: int
    wanted: int
    loses_states: bool


def wanted_for(db: Database, digests: Iterable[bytes]) -> dict[bytes, int]:
    """The most bits that an atom with each text wants; a text that none has is left out."""
    return dict(
        db.rows(
            "SELECT p.digest, max(a.bits) FROM passages p JOIN atoms a ON a.id=p.atom "
            f"WHERE p.digest {_AMONG_TEXTS} GROUP BY 1",
            (_listed(digests),),
        )
    )


def rows_of(db: Database, model: str, digests: Iterable[bytes]) -> dict[bytes, tuple[int, int, int]]:
    """The rows a model has of texts, each with the bits it is in and those it is wanted in."""
    found = db.rows(
        f"SELECT digest, id, bits, wanted FROM vectors WHERE digest {_AMONG_TEXTS} AND model=?",
        (_listed(digests), model),
    )
    return {digest: (row, bits, wanted) for digest, row, bits, wanted in found}


def _listed(digests: Iterable[bytes]) -> str:
    return json.dumps([digest.hex() for digest in digests])


def would_move(db: Database, bits: Mapping[AtomId, int]) -> Moved:
    """What keeping the vectors of these atoms in so many bits comes to."""
    return _counted(move for some in _batches(bits) for move in _moves(db, some, bits))


def move(db: Database, bits: Mapping[AtomId, int]) -> Moved:
    """Keep the vectors of these atoms in so many bits, some at a time; each text is moved whole or not at all."""
    done = list[_Move]()
    for some in _batches(bits):
        with db.writing(durable=False):
            done += move_some(db, some, bits)
    return _counted(done)


def move_some(db: Database, ids: Iterable[AtomId], bits: Mapping[AtomId, int]) -> list[_Move]:
    """Move the texts of some of the atoms; the caller holds the write transaction."""
    some = list(ids)
    moves = _moves(db, some, bits)
    db.run_many(
        "UPDATE atoms SET bits=? WHERE atom_id=? AND bits<>?",
        [(bits[atom_id], atom_id, bits[atom_id]) for atom_id in some],
    )
    for wanted in {each.wanted for each in moves}:
        to_code = [each.row for each in moves if each.wanted == wanted != each.bits == WHOLE]
        _code(db, to_code, wanted)
    db.run_many("UPDATE vectors SET wanted=? WHERE id=?", [(each.wanted, each.row) for each in moves])
    db.run_many("DELETE FROM states WHERE vector=?", [(each.row,) for each in moves if each.loses_states])
    return moves


def move_all(db: Database, bits: Mapping[AtomId, int]) -> None:
    """Let an index made anew keep everything as its atoms want it; the caller holds the write transaction."""
    for some in _batches(bits):
        move_some(db, some, bits)
    db.run(
        "UPDATE vectors SET wanted=32 WHERE wanted<32 AND digest NOT IN "
        "(SELECT p.digest FROM passages p JOIN atoms a ON a.id=p.atom WHERE a.bits<32)"
    )


def room(db: Database) -> Room:
    """What vectors and token states take."""
    found = {(what, bits): (texts, size) for what, bits, texts, size in db.rows("SELECT * FROM room")}
    vectors = {bits: each for (what, bits), each in sorted(found.items(), reverse=True) if what == "vectors"}
    return Room({bits: each for bits, each in vectors.items() if each[0]}, found.get(("states", 0), (0, 0)))


def _moves(db: Database, ids: Iterable[AtomId], bits: Mapping[AtomId, int]) -> list[_Move]:
    wanted = dict[bytes, int]()
    for digest, atom_id, noted in db.rows(_WANTED, (json.dumps(list(ids)),)):
        wanted[digest] = max(wanted.get(digest, 0), bits.get(AtomId(atom_id), noted))
    return [
        _Move(row, kept, most, bool(states) and most < STATES_FROM)
        for digest, most in wanted.items()
        for row, kept, before, states in db.rows(_ROWS, (digest,))
        if most != before or (states and most < STATES_FROM)
    ]


def _code(db: Database, rows: Sequence[int], bits: int) -> None:
    """Keep whole vectors in few bits: many together, which costs little more than one, each as if it were alone."""
    found = db.rows(f"SELECT id, data FROM vectors WHERE id {_AMONG}", (json.dumps(list(rows)),))
    for head in {data[:HEAD] for _, data in found}:
        own = [(row, data[HEAD:]) for row, data in found if data[:HEAD] == head]
        try:
            vectors = unpack(Kept(WHOLE, head + b"".join(data for _, data in own)))
        except Damaged as error:
            raise Corrupt(f"index.db is damaged: {error}") from error
        coded, whole = pack(vectors, bits).data[HEAD:], vectors.nbytes
        ends = [len(coded) * end // whole for end in accumulate(len(data) for _, data in own)]
        db.run_many(
            "UPDATE vectors SET bits=?, data=? WHERE id=?",
            [
                (bits, head + coded[start:end], row)
                for (row, _), start, end in zip(own, [0, *ends[:-1]], ends, strict=True)
            ],
        )


def _counted(moves: Iterable[_Move]) -> Moved:
    every = {each.row: each for each in moves}.values()
    counted = Counter(each.wanted for each in every if each.wanted != each.bits)
    return Moved(dict(sorted(counted.items(), reverse=True)), sum(each.loses_states for each in every))


def _batches(bits: Mapping[AtomId, int]) -> Iterator[list[AtomId]]:
    ids = list(bits)
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
