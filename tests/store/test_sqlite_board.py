"""Boards as large ones are kept: scanned in two bits, saved beside the index, mapped by whoever comes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lamina.atom.status import Status
from lamina.clock import Clock, FixedClock
from lamina.store.base import Store
from lamina.store.sqlite import SqliteStore, model_vectors, vector_search
from lamina.store.sqlite.array_files import save
from lamina.store.sqlite.passage_columns import PassageColumns
from lamina.testing import ANN, LOCAL, NOON, STATUS_TRANSITIONS, StoreHarness
from lamina.testing.stored_encodings import EncodingContract, commit_random_atoms
from lamina.testing.vector_reference import (
    MODEL,
    OTHER_MODEL,
    encode_missing,
    nearest_passages,
    nearest_scores,
    vector_query,
)

EVERYTHING = {"limit": 1000, "neighbours": 2, "status_weights": dict.fromkeys(Status, 0.5)}


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_vectors, "LARGE", 0)
    monkeypatch.setattr(vector_search, "SAVED_FROM", 1)


class TestALargeBoardKeepsTheContract(EncodingContract):
    def make_store(self, tmp_path: Path, clock: Clock) -> Store:
        return SqliteStore(tmp_path, clock)


@contextmanager
def opened(folder: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    store = SqliteStore(folder, clock)
    try:
        yield StoreHarness(store, clock)
    finally:
        store.close()


def saved(folder: Path) -> list[Path]:
    return sorted((folder / "board").glob("*")) if (folder / "board").exists() else []


def change_something(hand: StoreHarness, random: Random, step: int) -> None:
    atoms = hand.read(LOCAL, ANN)
    if atoms and random.random() < 0.6:
        atom = random.choice(atoms)
        arrows = [atom.status] if atom.is_episode else [*STATUS_TRANSITIONS[atom.status].split(), atom.status]
        status = Status(random.choice(arrows))
        text = atom.content if atom.is_segment else f"{random.choice(('tea', 'milk', 'honey'))} {step}"
        hand.commit(atom.with_(content=text, status=status), scope=atom.scope)
    else:
        commit_random_atoms(hand, random, 1)


def test_whoever_opens_a_saved_board_finds_what_the_one_who_made_it_finds(tmp_path: Path) -> None:
    random = Random(11)
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, random, 60)
        encode_missing(hand), encode_missing(hand, OTHER_MODEL)
        nearest_passages(hand, "tea"), nearest_passages(hand, "tea", model=OTHER_MODEL)
        for step in range(40):
            change_something(hand, random, step)
            if step % 3 == 0:
                encode_missing(hand)
            if step % 7 == 0:
                hand.store.encodings.reset_search()  # type: ignore[attr-defined]
            told = nearest_scores(hand, "tea milk", LOCAL, ANN, **EVERYTHING)
            with opened(tmp_path) as other:
                assert nearest_scores(other, "tea milk", LOCAL, ANN, **EVERYTHING) == told
                assert other.store.encodings.coverage(MODEL, [LOCAL]) == hand.store.encodings.coverage(MODEL, [LOCAL])
        assert len(saved(tmp_path)) == 1


def test_what_was_saved_is_used_and_not_read_from_the_index_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, Random(2), 40)
        encode_missing(hand)
        told = nearest_scores(hand, "tea", LOCAL, ANN, **EVERYTHING)
    read: list[int] = []
    append = PassageColumns.append

    def counted(rows: PassageColumns, found: Sequence[tuple[Any, ...]]) -> list[bytes]:
        read.append(len(found))
        return append(rows, found)

    monkeypatch.setattr(PassageColumns, "append", counted)
    with opened(tmp_path) as other:
        assert nearest_scores(other, "tea", LOCAL, ANN, **EVERYTHING) == told
        assert read == []
        other.add("tea with a friend")
        nearest_passages(other, "tea")
        assert read == [1]


@pytest.mark.parametrize(
    "how", ["flipped", "cut", "emptied", "gone", "told nonsense", "told of somebody else", "not to its end"]
)
def test_a_saved_board_that_is_not_as_it_was_written_counts_as_none(tmp_path: Path, how: str) -> None:
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, Random(4), 40)
        encode_missing(hand)
        told = nearest_passages(hand, "honey", LOCAL, ANN, **EVERYTHING)
    (folder,) = saved(tmp_path)
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
    with opened(tmp_path) as other:
        assert nearest_passages(other, "honey", LOCAL, ANN, **EVERYTHING) == told
    with opened(tmp_path) as other:
        assert nearest_passages(other, "honey", LOCAL, ANN, **EVERYTHING) == told


def test_a_board_of_another_index_or_of_a_later_moment_counts_as_none(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, Random(5), 30)
        encode_missing(hand)
        told = nearest_scores(hand, "tea", LOCAL, ANN, **EVERYTHING)
        hand.store.rebuild_index()
        assert nearest_scores(hand, "tea", LOCAL, ANN, **EVERYTHING) == told
    (folder,) = saved(tmp_path)
    edition, seq = folder.name.split("-")
    folder.rename(folder.with_name(f"{edition}-{int(seq) + 50}"))
    with opened(tmp_path) as other:
        assert nearest_scores(other, "tea", LOCAL, ANN, **EVERYTHING) == told


def test_erasing_leaves_no_saved_board(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, Random(6), 20)
        encode_missing(hand)
        nearest_passages(hand, "tea")
        assert saved(tmp_path)
        hand.store._scrub_index()  # type: ignore[attr-defined]
        assert not saved(tmp_path)
        assert nearest_passages(hand, "tea")


def test_a_board_that_is_saved_while_somebody_erases_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as hand, opened(tmp_path) as other:
        commit_random_atoms(hand, Random(6), 20)
        encode_missing(hand)

        def slowly(*given: Any) -> None:
            monkeypatch.setattr(vector_search, "save", save)
            hand.store.rebuild_index()
            hand.store.encodings.scrub()  # type: ignore[attr-defined]
            save(*given)

        monkeypatch.setattr(vector_search, "save", slowly)
        assert nearest_passages(other, "tea")
        assert not saved(tmp_path)


def test_where_nothing_can_be_saved_a_search_still_answers(tmp_path: Path) -> None:
    (tmp_path / "board").write_text("in the way")
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, Random(7), 20)
        encode_missing(hand)
        assert nearest_passages(hand, "tea")
        assert (tmp_path / "board").read_text() == "in the way"


def test_few_passages_of_many_are_found_without_looking_at_the_others(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, Random(8), 200)
        rare = [hand.add(f"honey {n}", kind="procedure") for n in range(9)]
        encode_missing(hand)
        wanted: dict[str, Any] = {"memory_types": frozenset({rare[0].memory_type}), "limit": 2}
        filtered = hand.store.encodings.find_nearest(vector_query(hand, "honey 1", **wanted))
        everything = nearest_passages(hand, "honey 1", **(wanted | {"limit": 1000}))
        assert {each.key for each in filtered} == set(list(everything)[:2])
