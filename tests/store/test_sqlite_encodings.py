"""What stands in the file of what models made, and how the columns in memory keep up with it."""

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
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.encodings import _missing_clause
from lamina.testing import ANN, LOCAL, NOON, STATUS_TRANSITIONS, StoreHarness
from lamina.testing.stored_encodings import commit_random_atoms
from lamina.testing.vector_reference import (
    MODEL,
    OTHER_MODEL,
    encode_missing,
    make_states,
    nearest_passages,
    nearest_scores,
    text_digests,
)

WANTED = {"limit": 1000, "neighbours": 2, "status_weights": dict.fromkeys(Status, 0.5)}


@contextmanager
def opened(folder: Path) -> Iterator[StoreHarness]:
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
        found: tuple[Any, ...] | None = db.execute(
            "SELECT (SELECT count(*) FROM vectors), (SELECT count(*) FROM states), "
            "(SELECT count(*) FROM vectors WHERE digest NOT IN (SELECT digest FROM passages)), "
            "(SELECT count(*) FROM states WHERE vector NOT IN (SELECT id FROM vectors))"
        ).fetchone()
    finally:
        db.close()
    assert found is not None
    vectors, states, lost, stray = found
    return vectors, states, lost, stray


def test_no_row_outlives_its_words(tmp_path: Path) -> None:
    random = Random(3)
    with opened(tmp_path) as hand:
        for step in range(120):
            atoms = hand.read(LOCAL, ANN)
            text = " ".join(random.choices(("tea", "milk", "honey"), k=random.randint(1, 3)))
            if atoms and random.random() < 0.7:
                atom = random.choice(atoms)
                new = Status(random.choice([*STATUS_TRANSITIONS[atom.status].split(), atom.status]))
                hand.commit(atom.with_(content=text, status=new), scope=atom.scope)
            else:
                hand.add(text, scope=random.choice((LOCAL, ANN)))
            if step % 3 == 0:
                encode_missing(hand), encode_missing(hand, OTHER_MODEL)
            nearest_passages(hand, "tea")
            vectors, states, lost, stray = rows(tmp_path)
            assert (lost, stray) == (0, 0)
            assert vectors == states
        encode_missing(hand)
        hand.store.encodings.drop_model(OTHER_MODEL)
        assert rows(tmp_path) == (hand.store.encodings.count_by_model()[MODEL],) * 2 + (0, 0)
        hand.store.encodings.drop_model(MODEL)
        assert rows(tmp_path) == (0, 0, 0, 0)


def test_an_index_ahead_of_its_journal_keeps_no_encoding_of_words_the_journal_does_not_have(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        hand.add("first")
        encode_missing(hand)
    shutil.copy(tmp_path / "history.db", tmp_path / "backup")
    with opened(tmp_path) as hand:
        hand.add("later")
        encode_missing(hand)
    shutil.copy(tmp_path / "backup", tmp_path / "history.db")
    with opened(tmp_path) as hand:
        assert len(nearest_passages(hand, "later")) == 1
        assert hand.store.encodings.count_by_model() == {MODEL: 1}
    assert rows(tmp_path) == (1, 1, 0, 0)


def test_a_lost_or_damaged_index_has_everything_encoded_again_and_answers_as_before(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, Random(4), 40)
        made = encode_missing(hand)
        before = nearest_scores(hand, "tea", LOCAL, ANN, **WANTED)
        for data in (None, b"", b"noise" * 3000):
            for suffix in ("-wal", "-shm", ""):
                (tmp_path / f"index.db{suffix}").unlink(missing_ok=True)
            if data is not None:
                (tmp_path / "index.db").write_bytes(data)
            assert nearest_passages(hand, "tea", LOCAL, ANN, **WANTED) == {}
            assert encode_missing(hand) == made
            assert nearest_scores(hand, "tea", LOCAL, ANN, **WANTED) == before


def test_an_index_lost_under_a_reader_who_asks_many_things_is_made_anew(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        atom = hand.add("tea")
        encode_missing(hand)
        with hand.store.read_snapshot():
            assert nearest_passages(hand, "tea").keys() == {(atom.id, 1)}
            for suffix in ("-wal", "-shm", ""):
                (tmp_path / f"index.db{suffix}").unlink(missing_ok=True)
            assert hand.store.encodings.coverage(MODEL, [LOCAL]) == (0, 1)
            encode_missing(hand)
            assert nearest_passages(hand, "tea").keys() == {(atom.id, 1)}


def test_columns_that_followed_every_change_say_what_columns_read_anew_say(tmp_path: Path) -> None:
    random = Random(5)
    with opened(tmp_path) as hand:
        for step in range(60):
            commit_random_atoms(hand, random, 3)
            for atom in random.sample(hand.read(LOCAL, ANN), 3):
                new = Status(random.choice([*STATUS_TRANSITIONS[atom.status].split(), atom.status]))
                if not atom.is_episode:
                    hand.commit(atom.with_(content=f"changed {step}", status=new), scope=atom.scope)
            encode_missing(hand) if step % 2 else None
            if step % 10 == 3:
                hand.store.rebuild_index()
            kept = nearest_passages(hand, "tea", LOCAL, ANN, **WANTED)
            with opened(tmp_path) as fresh:
                assert nearest_passages(fresh, "tea", LOCAL, ANN, **WANTED) == kept


def test_columns_with_too_many_struck_rows_are_read_anew(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        atoms = list(hand.commit(*[hand.new_atom(f"tea {n}") for n in range(700)]).atoms)
        encode_missing(hand)
        before = nearest_scores(hand, "tea", limit=1000)
        for _ in range(3):
            atoms = list(hand.commit(*[atom.with_(pinned=not atom.pinned) for atom in atoms]).atoms)
            assert nearest_scores(hand, "tea", limit=1000) == before


@pytest.mark.parametrize("damage", [b"", b"\1", b"\4\0\0", b"\0\0" + bytes(16), b"\4\0" + b"\xff" * 16])
def test_a_vector_that_is_not_as_it_was_written_costs_the_index_and_no_answer(tmp_path: Path, damage: bytes) -> None:
    with opened(tmp_path) as hand:
        hand.add("tea is ready")
        hand.add("the train is late")
        encode_missing(hand)
    db = apsw.Connection(str(tmp_path / "index.db"))
    db.execute("UPDATE vectors SET data=? WHERE id=(SELECT max(id) FROM vectors WHERE model=?)", (damage, MODEL))
    db.close()
    with opened(tmp_path) as hand:
        assert hand.store.encodings.coverage(MODEL, [LOCAL]) == (0, 2)
        encode_missing(hand)
        assert hand.store.encodings.coverage(MODEL, [LOCAL]) == (2, 2)
        assert len(hand.find_ids("tea")) == 1


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
def test_states_that_are_not_as_they_were_written_cost_the_index_and_no_answer(tmp_path: Path, damage: str) -> None:
    with opened(tmp_path) as hand:
        atoms = [hand.add("tea is ready"), hand.add("the train is late")]
        encode_missing(hand)
    db = apsw.Connection(str(tmp_path / "index.db"))
    db.execute(f"UPDATE states SET {damage} WHERE vector=(SELECT max(vector) FROM states)")
    db.close()
    wanted = [text_digests(atom)[0] for atom in atoms]
    with opened(tmp_path) as hand:
        assert hand.store.encodings.states(MODEL, wanted) == {}
        assert hand.store.encodings.coverage(MODEL, [LOCAL]) == (0, 2)
        encode_missing(hand)
        assert hand.store.encodings.states(MODEL, wanted) == {
            digest: make_states(atom.content) for digest, atom in zip(wanted, atoms, strict=True)
        }


def test_how_many_states_are_missing_is_counted_without_reading_them(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        hand.add("tea")
        encode_missing(hand)
        db = apsw.Connection(str(tmp_path / "index.db"))
        plan = db.execute(
            f"EXPLAIN QUERY PLAN SELECT count(DISTINCT p.digest) {_missing_clause(MODEL, 'fine')[0]}", ("", "")
        )
        told = [str(step[3]) for step in plan]
        db.close()
    assert any("t USING COVERING INDEX states_by_packing" in each for each in told)
