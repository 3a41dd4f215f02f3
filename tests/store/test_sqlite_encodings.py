"""Stored encodings of models, and the columns in memory that follow them.

Covers `lamina.store.sqlite.passages`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest

from lamina.atom.status import Status
from lamina.clock import FixedClock
from lamina.store.base import TransactionMode
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.encodings import missing_texts_clause
from lamina.testing import ANN, LOCAL, NOON, STATUS_TRANSITIONS, StoreHarness
from lamina.testing.store_harness import coverage, token_states
from lamina.testing.stored_encodings import commit_random_atoms
from lamina.testing.vector_reference import (
    MODEL,
    OTHER_MODEL,
    encode_missing,
    make_states,
    nearest_cosines,
    nearest_passages,
    text_digests,
)

MODELS = {"limit": 1000, "statuses": frozenset(Status)}


@contextmanager
def open_store(folder: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    store = SqliteStore(folder, clock)
    try:
        yield StoreHarness(store, clock)
    finally:
        store.close()


def rows(folder: Path) -> tuple[int, int, int, int]:
    """Vectors, states, and how many of each belong to nothing."""
    db = apsw.Connection(str(folder / "index.db"))
    try:
        result: tuple[Any, ...] | None = db.execute(
            "SELECT (SELECT count(*) FROM vectors), (SELECT count(*) FROM states), "
            "(SELECT count(*) FROM vectors WHERE digest NOT IN (SELECT digest FROM passages)), "
            "(SELECT count(*) FROM states WHERE vector NOT IN (SELECT id FROM vectors))"
        ).fetchone()
    finally:
        db.close()
    assert result is not None
    vectors, states, missing, stray = result
    return vectors, states, missing, stray


def test_no_row_survives_its_passage(tmp_path: Path) -> None:
    random = Random(3)
    with open_store(tmp_path) as harness:
        for step in range(120):
            atoms = harness.read(LOCAL, ANN)
            text = " ".join(random.choices(("tea", "milk", "honey"), k=random.randint(1, 3)))
            if atoms and random.random() < 0.7:
                atom = random.choice(atoms)
                new = Status(random.choice([*STATUS_TRANSITIONS[atom.status].split(), atom.status]))
                harness.commit(atom.with_(content=text, status=new), scope=atom.scope)
            else:
                harness.add(text, scope=random.choice((LOCAL, ANN)))
            if step % 3 == 0:
                encode_missing(harness), encode_missing(harness, OTHER_MODEL)
            nearest_passages(harness, "tea")
            vectors, states, row, stray = rows(tmp_path)
            assert (row, stray) == (0, 0)
            assert vectors == states
        encode_missing(harness)
        harness.store.passages.encodings.drop_model(OTHER_MODEL)
        assert rows(tmp_path) == (harness.store.passages.encodings.count().encoded[MODEL],) * 2 + (0, 0)
        harness.store.passages.encodings.drop_model(MODEL)
        assert rows(tmp_path) == (0, 0, 0, 0)


def test_an_index_ahead_of_its_journal_keeps_no_encoding_unknown_to_the_journal(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        harness.add("first")
        encode_missing(harness)
    shutil.copy(tmp_path / "history.db", tmp_path / "backup")
    with open_store(tmp_path) as harness:
        harness.add("later")
        encode_missing(harness)
    shutil.copy(tmp_path / "backup", tmp_path / "history.db")
    with open_store(tmp_path) as harness:
        assert len(nearest_passages(harness, "later")) == 1
        assert harness.store.passages.encodings.count().encoded == {MODEL: 1}
    assert rows(tmp_path) == (1, 1, 0, 0)


def test_after_a_lost_or_damaged_index_everything_is_encoded_again(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, Random(4), 40)
        count = encode_missing(harness)
        before = nearest_cosines(harness, "tea", LOCAL, ANN, **MODELS)
        for data in (None, b"", b"noise" * 3000):
            for suffix in ("-wal", "-shm", ""):
                (tmp_path / f"index.db{suffix}").unlink(missing_ok=True)
            if data is not None:
                (tmp_path / "index.db").write_bytes(data)
            assert nearest_passages(harness, "tea", LOCAL, ANN, **MODELS) == {}
            assert encode_missing(harness) == count
            assert nearest_cosines(harness, "tea", LOCAL, ANN, **MODELS) == before


def test_an_index_lost_under_a_reader_is_recreated(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        atom = harness.add("tea")
        encode_missing(harness)
        with harness.store.transaction(TransactionMode.SNAPSHOT):
            assert nearest_passages(harness, "tea").keys() == {(atom.id, 1)}
            for suffix in ("-wal", "-shm", ""):
                (tmp_path / f"index.db{suffix}").unlink(missing_ok=True)
            assert coverage(harness.store, MODEL, [LOCAL]) == (0, 1)
            encode_missing(harness)
            assert nearest_passages(harness, "tea").keys() == {(atom.id, 1)}


def test_incrementally_updated_columns_equal_freshly_read_ones(tmp_path: Path) -> None:
    random = Random(5)
    with open_store(tmp_path) as harness:
        for step in range(60):
            commit_random_atoms(harness, random, 3)
            for atom in random.sample(harness.read(LOCAL, ANN), 3):
                new = Status(random.choice([*STATUS_TRANSITIONS[atom.status].split(), atom.status]))
                if not atom.is_episode:
                    harness.commit(atom.with_(content=f"changed {step}", status=new), scope=atom.scope)
            encode_missing(harness) if step % 2 else None
            if step % 10 == 3:
                harness.store.admin.rebuild_index()
            stored = nearest_passages(harness, "tea", LOCAL, ANN, **MODELS)
            with open_store(tmp_path) as fresh:
                assert nearest_passages(fresh, "tea", LOCAL, ANN, **MODELS) == stored


def test_columns_with_too_many_deleted_rows_are_read_again(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        atoms = list(harness.commit(*[harness.new_atom(f"tea {n}") for n in range(700)]).atoms)
        encode_missing(harness)
        before = nearest_cosines(harness, "tea", limit=1000)
        for _ in range(3):
            atoms = list(harness.commit(*[atom.with_(pinned=not atom.pinned) for atom in atoms]).atoms)
            assert nearest_cosines(harness, "tea", limit=1000) == before


@pytest.mark.parametrize("damage", [b"", b"\1", b"\4\0\0", b"\0\0" + bytes(16), b"\4\0" + b"\xff" * 16])
def test_a_corrupt_vector_costs_the_index_and_no_answer(tmp_path: Path, damage: bytes) -> None:
    with open_store(tmp_path) as harness:
        harness.add("tea is ready")
        harness.add("the train is late")
        encode_missing(harness)
    db = apsw.Connection(str(tmp_path / "index.db"))
    db.execute("UPDATE vectors SET data=? WHERE id=(SELECT max(id) FROM vectors WHERE model=?)", (damage, MODEL))
    db.close()
    with open_store(tmp_path) as harness:
        assert coverage(harness.store, MODEL, [LOCAL]) == (0, 2)
        encode_missing(harness)
        assert coverage(harness.store, MODEL, [LOCAL]) == (2, 2)
        assert len(harness.find_ids("tea")) == 1


@pytest.mark.parametrize(
    "damage",
    [
        "data=zeroblob(length(data))",
        "data=substr(data, 2)",
        "data=x''",
        "data='text'",
        "data=7",
        "packing='others'",
        "packing=7",
        "checksum=checksum+1",
        "checksum='?'",
        "data=(SELECT data FROM states ORDER BY vector LIMIT 1)",
    ],
)
def test_corrupt_states_cost_the_index_and_no_answer(tmp_path: Path, damage: str) -> None:
    with open_store(tmp_path) as harness:
        atoms = [harness.add("tea is ready"), harness.add("the train is late")]
        encode_missing(harness)
    db = apsw.Connection(str(tmp_path / "index.db"))
    db.execute(f"UPDATE states SET {damage} WHERE vector=(SELECT max(vector) FROM states)")
    db.close()
    wanted = [text_digests(atom)[0] for atom in atoms]
    with open_store(tmp_path) as harness:
        assert token_states(harness.store, MODEL, wanted) == {}
        assert coverage(harness.store, MODEL, [LOCAL]) == (0, 2)
        encode_missing(harness)
        assert token_states(harness.store, MODEL, wanted) == {
            digest: make_states(atom.content) for digest, atom in zip(wanted, atoms, strict=True)
        }


def test_missing_states_are_counted_without_reading_them(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        harness.add("tea")
        encode_missing(harness)
        db = apsw.Connection(str(tmp_path / "index.db"))
        plan = db.execute(
            f"EXPLAIN QUERY PLAN SELECT count(DISTINCT p.digest) {missing_texts_clause(MODEL, 'fine')[0]}", ("", "")
        )
        result = [str(step[3]) for step in plan]
        db.close()
    assert any("t USING COVERING INDEX states_by_packing" in item for item in result)
