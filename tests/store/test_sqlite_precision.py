"""Stored vectors of fewer bits, and recovery from a lost or broken index.

Covers `lamina.store.sqlite.precision`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom.atom import AtomId
from lamina.atom.passage import passage_digest, passages_of
from lamina.atom.status import Status
from lamina.clock import FixedClock
from lamina.store.encodings import PackedStates, TextEncoding
from lamina.store.signals_and_ageing import AgeingState
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.encodings import missing_texts_clause
from lamina.store.sqlite.in_memory_vectors import SEARCH_LIMITS, SearchLimits
from lamina.store.sqlite.signals_and_ageing import _REDUCED_BITS, _UNAPPLIED_BITS
from lamina.testing import ANN, LOCAL, NOON, OTHER, StoreHarness
from lamina.testing.precision import BITS, stored_bits, texts_to_encode
from lamina.testing.store_harness import coverage
from lamina.testing.stored_encodings import commit_random_atoms
from lamina.testing.vector_reference import MODEL, encode_missing, nearest_cosines, nearest_passages, text_digests

SCOPES = (LOCAL, ANN, OTHER)
ALL_STATUSES = frozenset(Status)


@contextmanager
def open_store(folder: Path, limits: SearchLimits = SEARCH_LIMITS) -> Iterator[StoreHarness]:
    store = SqliteStore(folder, clock := FixedClock(NOON), limits=limits)
    try:
        yield StoreHarness(store, clock)
    finally:
        store.close()


def rows(folder: Path) -> list[tuple[Any, ...]]:
    """Each text with the bits it is in, those it is wanted in, the bytes it takes, and whether it has states."""
    db = apsw.Connection(str(folder / "index.db"))
    try:
        return db.execute(
            "SELECT hex(digest), bits, wanted, length(v.data), s.vector IS NOT NULL "
            "FROM vectors v LEFT JOIN states s ON s.vector=v.id ORDER BY 1"
        ).fetchall()
    finally:
        db.close()


def note(harness: StoreHarness, random: Random) -> None:
    """Let atoms want any bits, and the index follow."""
    harness.store.signals.put_ageing(
        {atom.id: AgeingState(atom.revision, bits=random.choice(BITS)) for atom in harness.read(*SCOPES)}
    )
    for scope in SCOPES:
        untold = harness.store.signals.unapplied_bits(scope)
        harness.store.passages.encodings.precision.change(untold)
        harness.store.signals.mark_bits_applied(untold)


def stored_by_text(harness: StoreHarness) -> dict[bytes, int]:
    return {text_digests(atom)[0]: stored_bits(harness, atom)[0] for atom in harness.read(*SCOPES)}


def wanted_by_text(harness: StoreHarness) -> dict[bytes, int]:
    """The most bits that an atom with the text was noted to want."""
    atoms, fields = harness.read(*SCOPES), dict[bytes, int]()
    lives = harness.store.signals.get(atom.id for atom in atoms)[1]
    for atom in atoms:
        bits = lives[atom.id].bits if atom.id in lives else 32
        fields[text_digests(atom)[0]] = max(fields.get(text_digests(atom)[0], 0), bits)
    return fields


def test_a_rebuilt_index_keeps_every_precision(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, Random(5), 40)
        encode_missing(harness)
        note(harness, Random(6))
        encode_missing(harness)
        room = harness.store.passages.encodings.precision.sizes()
    before = rows(tmp_path)
    assert {row[1] for row in before} == set(BITS)
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"index.db{suffix}").unlink(missing_ok=True)
    with open_store(tmp_path) as harness:
        assert encode_missing(harness) == len(before)
        assert harness.store.passages.encodings.precision.sizes() == room and texts_to_encode(harness) == []
    assert rows(tmp_path) == before


def test_requesting_the_current_precision_writes_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, Random(5), 20)
        encode_missing(harness)
        note(harness, Random(6))
        wanted = {
            item: ageing_state.bits
            for item, ageing_state in harness.store.signals.get(a.id for a in harness.read(*SCOPES))[1].items()
        }
        reader = apsw.Connection(str(tmp_path / "index.db"), flags=apsw.SQLITE_OPEN_READONLY)
        version = reader.execute("PRAGMA data_version").fetchall()
        harness.store.passages.encodings.precision.change(wanted)
        assert reader.execute("PRAGMA data_version").fetchall() == version
        harness.store.passages.encodings.precision.change(
            {item: 8 if bits == 4 else 4 for item, bits in wanted.items()}
        )
        assert reader.execute("PRAGMA data_version").fetchall() != version
        reader.close()


def test_the_reported_size_is_the_actual_size(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, Random(5), 40)
        encode_missing(harness)
        note(harness, Random(6))
        encode_missing(harness)
        note(harness, Random(7))
        encoding_sizes = harness.store.passages.encodings.precision.sizes()
    result = rows(tmp_path)
    assert encoding_sizes.vectors == {
        bits: (len(fields), sum(fields)) for bits in BITS if (fields := [row[3] for row in result if row[1] == bits])
    }
    assert encoding_sizes.states[0] == sum(row[4] for row in result)


def test_large_columns_made_before_read_current_precisions(tmp_path: Path) -> None:
    limits = SearchLimits(scan_from=10)
    with open_store(tmp_path, limits) as harness, open_store(tmp_path, limits) as other:
        atoms = [harness.add(f"tea {n}") for n in range(40)]
        encode_missing(harness)
        whole = nearest_passages(other, "tea 7")[atoms[7].id, 1].cosine
        for bits in (8, 2, 4, 32):
            harness.store.passages.encodings.precision.change(dict.fromkeys((atom.id for atom in atoms), bits))
            for item in (harness, other):
                assert abs(nearest_passages(item, "tea 7")[atoms[7].id, 1].cosine - whole) < 0.2
            encode_missing(harness)
        assert nearest_passages(other, "tea 7")[atoms[7].id, 1].cosine == whole


def test_a_journal_of_format_5_keeps_its_ageing_states_and_sends_all_to_the_index(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        atom = harness.add("tea")
        harness.store.signals.put_ageing({atom.id: AgeingState(1, "cold", NOON, 0.25)})
    db = apsw.Connection(str(tmp_path / "history.db"))
    for sql in (
        "DROP INDEX lives_untold",
        "DROP INDEX lives_coded",
        "DROP TRIGGER signals_unwritten",
        "DROP TABLE unwritten_signals",
        "DROP TABLE accepted_files",
    ):
        db.execute(sql)
    for column in ("bits", "told"):
        db.execute(f"ALTER TABLE lives DROP COLUMN {column}")
    db.pragma("user_version", 5)
    db.close()
    for _ in range(2):
        with open_store(tmp_path) as harness:
            assert harness.store.signals.get([atom.id])[1] == {atom.id: AgeingState(1, "cold", NOON, 0.25)}
            assert harness.store.signals.unapplied_bits(LOCAL) == {atom.id: 32} and harness.store.admin.check() == []


def test_vectors_are_not_read_to_decide_whether_to_recompute_them(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        sql, values = missing_texts_clause(MODEL, "bytes")
        index = harness.store.current_index.index  # type: ignore[attr-defined]
        plan = [row[3] for row in index.db.rows(f"EXPLAIN QUERY PLAN SELECT p.digest {sql}", values)]
        other_result = [item for item in plan if " v " in item or " o " in item or " c " in item or " t " in item]
        # Of those to be made anew nobody minds: they will be read in any case.
        assert len(other_result) == 4
        assert all("COVERING INDEX" in item or "INDEX vectors_to_make_anew" in item for item in other_result)
        for result, arguments in ((_UNAPPLIED_BITS, (LOCAL,)), (_REDUCED_BITS, ())):
            actual = harness.store.history.db.rows(f"EXPLAIN QUERY PLAN {result}", arguments)  # type: ignore[attr-defined]
            assert any("INDEX lives_" in row[3] for row in actual)


operations = st.lists(
    st.sampled_from(("write", "change", "end", "want", "encode", "rebuild", "lose the index", "reopen")), max_size=14
)


@settings(max_examples=25, deadline=None)
@given(operations, st.integers(0, 2**32))
def test_every_text_with_a_vector_keeps_one_and_is_found_through_any_changes(texts: list[str], seed: int) -> None:
    random = Random(seed)
    with TemporaryDirectory() as name:
        folder = Path(name)
        opened = open_store(folder)
        harness = opened.__enter__()
        try:
            for n, deed in enumerate(["write", "encode", *texts]):
                had = dict(harness.store.passages.encodings.count().encoded)
                atoms = harness.read(*SCOPES, statuses=frozenset({Status.ACTIVE}))
                match deed:
                    case "write":
                        for scope in SCOPES:
                            harness.add(f"tea {random.randrange(6)}", scope=scope)
                    case "change" if atoms:
                        one = random.choice(atoms)
                        harness.commit(one.with_(content=f"tea {n}"), scope=one.scope)
                    case "end" if atoms:
                        one = random.choice(atoms)
                        harness.commit(one.with_(status=Status.SUPERSEDED), scope=one.scope)
                    case "want":
                        note(harness, random)
                        assert harness.store.passages.encodings.count().encoded == had
                    case "encode":
                        encode_missing(harness)
                        assert texts_to_encode(harness) == []
                    case "rebuild":
                        harness.store.admin.rebuild_index()
                        assert harness.store.passages.encodings.count().encoded == had
                    case "lose the index":
                        for suffix in ("", "-wal", "-shm"):
                            (folder / f"index.db{suffix}").unlink(missing_ok=True)
                        encode_missing(harness)
                    case "reopen":
                        opened.__exit__(None, None, None)
                        opened = open_store(folder)
                        harness = opened.__enter__()
                encoded, there = coverage(harness.store, MODEL, SCOPES)
                assert (
                    len(nearest_passages(harness, "tea 1", *SCOPES, limit=1000, statuses=ALL_STATUSES))
                    == encoded
                    <= there
                )
            harness.store.admin.rebuild_index()
            encode_missing(harness)
            assert stored_by_text(harness) == wanted_by_text(harness)
        finally:
            opened.__exit__(None, None, None)


@pytest.mark.parametrize("large", [False, True])
def test_existing_readers_find_the_same_as_new_ones(tmp_path: Path, large: bool) -> None:
    limits, random = SearchLimits(scan_from=0 if large else 10**6), Random(9)
    with open_store(tmp_path, limits) as harness, open_store(tmp_path, limits) as other:
        commit_random_atoms(harness, random, 40)
        encode_missing(harness)
        before = nearest_cosines(other, "tea milk", *SCOPES, limit=1000, statuses=ALL_STATUSES)
        for _ in range(5):
            note(harness, random)
            result = nearest_cosines(other, "tea milk", *SCOPES, limit=1000, statuses=ALL_STATUSES)
            with open_store(tmp_path, limits) as new:
                assert nearest_cosines(new, "tea milk", *SCOPES, limit=1000, statuses=ALL_STATUSES) == result
            encode_missing(harness)
        assert result.keys() == before.keys()
        assert result != before


def put_large_vectors(harness: StoreHarness, count: int) -> list[AtomId]:
    """Add atoms whose vectors and token states fill most of the index; return their ids."""
    atoms = [harness.add(f"Event {n} had {n * 7} guests.") for n in range(count)]
    random = np.random.default_rng(3)
    encodings = [
        TextEncoding(
            passage_digest(atom, passages_of(atom)[0]),
            random.standard_normal((1, 384)).astype(np.float32),
            PackedStates("bytes", random.bytes(800)),
        )
        for atom in atoms
    ]
    harness.encodings.put(MODEL, encodings)
    return [atom.id for atom in atoms]


def test_the_file_shrinks_once_a_fifth_of_it_is_unused(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        ids = put_large_vectors(harness, 300)
        assert harness.encodings.precision.sizes().unused_bytes == 0 == harness.encodings.precision.reclaim()
        harness.encodings.precision.change(dict.fromkeys(ids, 2))
        unused = harness.encodings.precision.sizes().unused_bytes
        assert unused > 300_000
        freed, size = harness.encodings.precision.reclaim(), (tmp_path / "index.db").stat().st_size
        assert unused / 2 < freed and size < 600_000
        assert harness.encodings.precision.sizes().unused_bytes < 50_000 and harness.encodings.precision.reclaim() == 0
        assert len(harness.encodings.vectors(MODEL, [(atom_id, 1) for atom_id in ids])) == 300
        assert harness.store.admin.check() == []


def test_a_reader_keeps_its_snapshot_and_the_file_shrinks_afterwards(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        ids = put_large_vectors(harness, 300)
        harness.encodings.precision.change(dict.fromkeys(ids, 2))
        reader = apsw.Connection(str(tmp_path / "index.db"))
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM vectors").fetchall() == [(300,)]
        assert harness.encodings.precision.reclaim() > 0
        assert reader.execute("SELECT count(*) FROM vectors WHERE bits=2").fetchall() == [(300,)]
        reader.execute("COMMIT")
        reader.close()
        assert len(harness.encodings.vectors(MODEL, [(atom_id, 1) for atom_id in ids])) == 300
    assert (tmp_path / "index.db").stat().st_size < 600_000
