"""Large columns are scanned in two bits, saved beside the index and mapped by the next process.

Covers `lamina.store.sqlite.array_files`, `lamina.store.sqlite.passage_columns` and `lamina.store.sqlite.vector_search`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lamina.atom.status import Status
from lamina.clock import Clock, FixedClock
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.in_memory_vectors import SearchLimits
from lamina.testing import ANN, LOCAL, NOON, STATUS_TRANSITIONS, StoreHarness
from lamina.testing.store_harness import coverage
from lamina.testing.stored_encodings import EncodingContract, commit_random_atoms
from lamina.testing.vector_reference import (
    MODEL,
    OTHER_MODEL,
    encode_missing,
    nearest_cosines,
    nearest_passages,
    vector_query,
)

UNLIMITED_SEARCH = {"limit": 1000, "statuses": frozenset(Status)}


LARGE_FROM_THE_START = SearchLimits(scan_from=0, save_from=1)


class TestLargeColumnsContract(EncodingContract):
    def make_store(self, tmp_path: Path, clock: Clock) -> SqliteStore:
        return SqliteStore(tmp_path, clock, limits=LARGE_FROM_THE_START)


@contextmanager
def open_store(folder: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    store = SqliteStore(folder, clock, limits=LARGE_FROM_THE_START)
    try:
        yield StoreHarness(store, clock)
    finally:
        store.close()


def saved_files(folder: Path) -> list[Path]:
    return sorted((folder / "board").glob("*")) if (folder / "board").exists() else []


def change_something(harness: StoreHarness, random: Random, step: int) -> None:
    atoms = harness.read(LOCAL, ANN)
    if atoms and random.random() < 0.6:
        atom = random.choice(atoms)
        arrows = [atom.status] if atom.is_episode else [*STATUS_TRANSITIONS[atom.status].split(), atom.status]
        status = Status(random.choice(arrows))
        text = atom.content if atom.is_segment else f"{random.choice(('tea', 'milk', 'honey'))} {step}"
        harness.commit(atom.with_(content=text, status=status), scope=atom.scope)
    else:
        commit_random_atoms(harness, random, 1)


def test_saved_columns_give_the_same_results_as_the_ones_they_were_saved_from(tmp_path: Path) -> None:
    random = Random(11)
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, random, 60)
        encode_missing(harness), encode_missing(harness, OTHER_MODEL)
        nearest_passages(harness, "tea"), nearest_passages(harness, "tea", model=OTHER_MODEL)
        for step in range(40):
            change_something(harness, random, step)
            if step % 3 == 0:
                encode_missing(harness)
            if step % 7 == 0:
                harness.store.current_index.drop_search()  # type: ignore[attr-defined]
            result = nearest_cosines(harness, "tea milk", LOCAL, ANN, **UNLIMITED_SEARCH)
            with open_store(tmp_path) as other:
                assert nearest_cosines(other, "tea milk", LOCAL, ANN, **UNLIMITED_SEARCH) == result
                assert coverage(other.store, MODEL, [LOCAL]) == coverage(harness.store, MODEL, [LOCAL])
        assert len(saved_files(tmp_path)) == 1


def test_saved_columns_are_used_instead_of_the_index(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, Random(2), 40)
        encode_missing(harness)
        result = nearest_cosines(harness, "tea", LOCAL, ANN, **UNLIMITED_SEARCH)
    read: list[object] = []

    def note_passage_query(cursor: object, sql: str, values: object) -> bool:
        if "JOIN passages" in sql and "a.seq>" in sql:
            read.append(values)
        return True

    with open_store(tmp_path) as other:
        index = other.store.current_index.index  # type: ignore[attr-defined]
        index.db.connection.set_exec_trace(note_passage_query)
        assert nearest_cosines(other, "tea", LOCAL, ANN, **UNLIMITED_SEARCH) == result
        assert read == []
        other.add("tea with a friend")
        nearest_passages(other, "tea")
        assert len(read) == 1


@pytest.mark.parametrize(
    "how", ["flipped", "cut", "emptied", "gone", "told nonsense", "told of somebody else", "not to its end"]
)
def test_corrupt_saved_columns_are_ignored(tmp_path: Path, how: str) -> None:
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, Random(4), 40)
        encode_missing(harness)
        result = nearest_passages(harness, "honey", LOCAL, ANN, **UNLIMITED_SEARCH)
    (folder,) = saved_files(tmp_path)
    for file in sorted(folder.iterdir()):
        data = file.read_bytes()
        if how == "flipped" and file.name != "told":
            file.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        elif how == "cut":
            file.write_bytes(data[: len(data) // 8])
        elif how == "emptied":
            file.write_bytes(b"")
        elif how == "gone" and file.name != "told":
            file.unlink()
        elif how == "told nonsense" and file.name == "told":
            file.write_text('{"arrays": {"row.key": 5}, "told": []}')
        elif how == "told of somebody else" and file.name == "told":
            file.write_bytes(data.replace(b"Ann", b"Bob"))
            assert file.read_bytes() != data
    if how == "not to its end":
        folder.rename(folder.with_name("begun-0"))
    with open_store(tmp_path) as other:
        assert nearest_passages(other, "honey", LOCAL, ANN, **UNLIMITED_SEARCH) == result
    with open_store(tmp_path) as other:
        assert nearest_passages(other, "honey", LOCAL, ANN, **UNLIMITED_SEARCH) == result


def test_saved_columns_of_another_index_or_a_later_time_are_ignored(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, Random(5), 30)
        encode_missing(harness)
        result = nearest_cosines(harness, "tea", LOCAL, ANN, **UNLIMITED_SEARCH)
        harness.store.admin.rebuild_index()
        assert nearest_cosines(harness, "tea", LOCAL, ANN, **UNLIMITED_SEARCH) == result
    (folder,) = saved_files(tmp_path)
    edition, seq = folder.name.split("-")
    folder.rename(folder.with_name(f"{edition}-{int(seq) + 50}"))
    with open_store(tmp_path) as other:
        assert nearest_cosines(other, "tea", LOCAL, ANN, **UNLIMITED_SEARCH) == result


def test_erasing_deletes_saved_columns(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, Random(6), 20)
        encode_missing(harness)
        nearest_passages(harness, "tea")
        assert saved_files(tmp_path)
        harness.store.admin.scrub_derived()  # type: ignore[attr-defined]
        assert not saved_files(tmp_path)
        assert nearest_passages(harness, "tea")


def test_columns_saved_during_an_erasure_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename, renamed = Path.rename, list[Path]()

    with open_store(tmp_path) as harness, open_store(tmp_path) as other:
        commit_random_atoms(harness, Random(6), 20)
        encode_missing(harness)

        def erase_first(path: Path, target: Path) -> Path:
            """Rename the complete copy only after an erasure by another process."""
            if not renamed:
                renamed.append(target)
                harness.store.admin.rebuild_index()
                harness.store.current_index.drop_search()  # type: ignore[attr-defined]
            return rename(path, target)

        monkeypatch.setattr(Path, "rename", erase_first)
        assert nearest_passages(other, "tea")
        assert renamed and not renamed[0].exists()


def test_search_works_where_columns_cannot_be_saved(tmp_path: Path) -> None:
    (tmp_path / "board").write_text("in the way")
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, Random(7), 20)
        encode_missing(harness)
        assert nearest_passages(harness, "tea")
        assert (tmp_path / "board").read_text() == "in the way"


def test_few_passages_of_many_are_found_without_reading_the_others(tmp_path: Path) -> None:
    with open_store(tmp_path) as harness:
        commit_random_atoms(harness, Random(8), 200)
        rare = [harness.add(f"honey {n}", kind="procedure") for n in range(9)]
        encode_missing(harness)
        wanted: dict[str, Any] = {"memory_types": frozenset({rare[0].memory_type}), "limit": 2}
        filtered = harness.store.passages.find_nearest(vector_query(harness, "honey 1", **wanted))
        everything = nearest_passages(harness, "honey 1", **(wanted | {"limit": 1000}))
        assert {near_passage.key for near_passage in filtered} == set(list(everything)[:2])
