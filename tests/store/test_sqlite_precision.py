"""What stands in the file of vectors in few bits, and what a lost or broken index costs of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom.status import Status
from lamina.clock import FixedClock
from lamina.store.ageing_state import AgeingState
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite import model_vectors as model_vectors
from lamina.store.sqlite.ageing_state import _REDUCED_BITS, _UNAPPLIED_BITS
from lamina.store.sqlite.encodings import _missing_clause
from lamina.testing import ANN, LOCAL, NOON, OTHER, StoreHarness
from lamina.testing.precision import BITS, stored_bits, texts_to_encode
from lamina.testing.stored_encodings import commit_random_atoms
from lamina.testing.vector_reference import MODEL, encode_missing, nearest_passages, nearest_scores, text_digests

SCOPES = (LOCAL, ANN, OTHER)
EVERY = dict.fromkeys(Status, 0.5)


@contextmanager
def opened(folder: Path) -> Iterator[StoreHarness]:
    store = SqliteStore(folder, clock := FixedClock(NOON))
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


def note(hand: StoreHarness, random: Random) -> None:
    """Let atoms want any bits, and the index follow."""
    hand.store.ageing_states.put(
        {each.id: AgeingState(each.revision, bits=random.choice(BITS)) for each in hand.read(*SCOPES)}
    )
    for scope in SCOPES:
        untold = hand.store.ageing_states.unapplied_bits(scope)
        hand.store.encodings.set_precision(untold)
        hand.store.ageing_states.mark_bits_applied(untold)


def kept_by_text(hand: StoreHarness) -> dict[bytes, int]:
    return {text_digests(each)[0]: stored_bits(hand, each)[0] for each in hand.read(*SCOPES)}


def wanted_by_text(hand: StoreHarness) -> dict[bytes, int]:
    """The most bits that an atom with the text was noted to want."""
    atoms, found = hand.read(*SCOPES), dict[bytes, int]()
    lives = hand.store.ageing_states.get(atom.id for atom in atoms)
    for atom in atoms:
        bits = lives[atom.id].bits if atom.id in lives else 32
        found[text_digests(atom)[0]] = max(found.get(text_digests(atom)[0], 0), bits)
    return found


def test_an_index_made_from_nothing_keeps_everything_as_it_was_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, Random(5), 40)
        encode_missing(hand)
        note(hand, Random(6))
        encode_missing(hand)
        room = hand.store.encodings.sizes()
    before = rows(tmp_path)
    assert {row[1] for row in before} == set(BITS)
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"index.db{suffix}").unlink(missing_ok=True)
    with opened(tmp_path) as hand:
        assert encode_missing(hand) == len(before)
        assert hand.store.encodings.sizes() == room and texts_to_encode(hand) == []
    assert rows(tmp_path) == before


def test_asking_for_what_is_there_already_writes_not_a_byte(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, Random(5), 20)
        encode_missing(hand)
        note(hand, Random(6))
        wanted = {
            each: life.bits for each, life in hand.store.ageing_states.get(a.id for a in hand.read(*SCOPES)).items()
        }
        changes = hand.store._index.db._db.total_changes()  # type: ignore[attr-defined]
        hand.store.encodings.set_precision(wanted)
        assert hand.store._index.db._db.total_changes() == changes  # type: ignore[attr-defined]


def test_what_takes_room_is_counted_as_it_stands(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        commit_random_atoms(hand, Random(5), 40)
        encode_missing(hand)
        note(hand, Random(6))
        encode_missing(hand)
        note(hand, Random(7))
        found = hand.store.encodings.sizes()
    told = rows(tmp_path)
    assert found.vectors == {
        bits: (len(own), sum(own)) for bits in BITS if (own := [row[3] for row in told if row[1] == bits])
    }
    assert found.states[0] == sum(row[4] for row in told)


def test_a_large_board_made_before_reads_what_is_kept_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_vectors, "LARGE", 10)
    with opened(tmp_path) as hand, opened(tmp_path) as other:
        atoms = [hand.add(f"tea {n}") for n in range(40)]
        encode_missing(hand)
        whole = nearest_passages(other, "tea 7")[atoms[7].id, 1].cosine
        for bits in (8, 2, 4, 32):
            hand.store.encodings.set_precision(dict.fromkeys((atom.id for atom in atoms), bits))
            for each in (hand, other):
                assert abs(nearest_passages(each, "tea 7")[atoms[7].id, 1].cosine - whole) < 0.2
            encode_missing(hand)
        assert nearest_passages(other, "tea 7")[atoms[7].id, 1].cosine == whole


def test_a_journal_of_format_5_keeps_its_lives_and_tells_the_index_of_all_of_them(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        atom = hand.add("tea")
        hand.store.ageing_states.put({atom.id: AgeingState(1, "cold", NOON, 0.25)})
    db = apsw.Connection(str(tmp_path / "history.db"))
    for sql in ("DROP INDEX lives_untold", "DROP INDEX lives_coded"):
        db.execute(sql)
    for column in ("bits", "told"):
        db.execute(f"ALTER TABLE lives DROP COLUMN {column}")
    db.pragma("user_version", 5)
    db.close()
    for _ in range(2):
        with opened(tmp_path) as hand:
            assert hand.store.ageing_states.get([atom.id]) == {atom.id: AgeingState(1, "cold", NOON, 0.25)}
            assert hand.store.ageing_states.unapplied_bits(LOCAL) == {atom.id: 32} and hand.store.check() == []


def test_nobody_reads_a_vector_to_tell_whether_it_is_to_be_made_anew(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        sql, values = _missing_clause(MODEL, "bytes")
        plan = [row[3] for row in hand.store._index.db.rows(f"EXPLAIN QUERY PLAN SELECT p.digest {sql}", values)]  # type: ignore[attr-defined]
        told = [each for each in plan if " v " in each or " o " in each or " c " in each or " t " in each]
        # Of those to be made anew nobody minds: they will be read in any case.
        assert len(told) == 4
        assert all("COVERING INDEX" in each or "INDEX vectors_to_make_anew" in each for each in told)
        for asked, given_ in ((_UNAPPLIED_BITS, (LOCAL,)), (_REDUCED_BITS, ())):
            found = hand.store._journal.db.rows(f"EXPLAIN QUERY PLAN {asked}", given_)  # type: ignore[attr-defined]
            assert any("INDEX lives_" in row[3] for row in found)


deeds = st.lists(
    st.sampled_from(("write", "change", "end", "want", "encode", "rebuild", "lose the index", "reopen")), max_size=14
)


@settings(max_examples=25, deadline=None)
@given(deeds, st.integers(0, 2**32))
def test_whatever_happens_every_text_that_had_a_vector_has_one_and_is_found(told: list[str], seed: int) -> None:
    random = Random(seed)
    with TemporaryDirectory() as name:
        folder = Path(name)
        hand_of = opened(folder)
        hand = hand_of.__enter__()
        try:
            for n, deed in enumerate(["write", "encode", *told]):
                had = dict(hand.store.encodings.count_by_model())
                atoms = hand.read(*SCOPES, statuses=frozenset({Status.ACTIVE}))
                match deed:
                    case "write":
                        for scope in SCOPES:
                            hand.add(f"tea {random.randrange(6)}", scope=scope)
                    case "change" if atoms:
                        one = random.choice(atoms)
                        hand.commit(one.with_(content=f"tea {n}"), scope=one.scope)
                    case "end" if atoms:
                        one = random.choice(atoms)
                        hand.commit(one.with_(status=Status.SUPERSEDED), scope=one.scope)
                    case "want":
                        note(hand, random)
                        assert hand.store.encodings.count_by_model() == had
                    case "encode":
                        encode_missing(hand)
                        assert texts_to_encode(hand) == []
                    case "rebuild":
                        hand.store.rebuild_index()
                        assert hand.store.encodings.count_by_model() == had
                    case "lose the index":
                        for suffix in ("", "-wal", "-shm"):
                            (folder / f"index.db{suffix}").unlink(missing_ok=True)
                        encode_missing(hand)
                    case "reopen":
                        hand_of.__exit__(None, None, None)
                        hand_of = opened(folder)
                        hand = hand_of.__enter__()
                encoded, there = hand.store.encodings.coverage(MODEL, SCOPES)
                assert (
                    len(nearest_passages(hand, "tea 1", *SCOPES, limit=1000, status_weights=EVERY)) == encoded <= there
                )
            hand.store.rebuild_index()
            encode_missing(hand)
            assert kept_by_text(hand) == wanted_by_text(hand)
        finally:
            hand_of.__exit__(None, None, None)


@pytest.mark.parametrize("large", [False, True])
def test_who_has_read_the_vectors_before_finds_what_somebody_new_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    monkeypatch.setattr(model_vectors, "LARGE", 0 if large else 10**6)
    random = Random(9)
    with opened(tmp_path) as hand, opened(tmp_path) as other:
        commit_random_atoms(hand, random, 40)
        encode_missing(hand)
        before = nearest_scores(other, "tea milk", *SCOPES, limit=1000, status_weights=EVERY)
        for _ in range(5):
            note(hand, random)
            told = nearest_scores(other, "tea milk", *SCOPES, limit=1000, status_weights=EVERY)
            with opened(tmp_path) as new:
                assert nearest_scores(new, "tea milk", *SCOPES, limit=1000, status_weights=EVERY) == told
            encode_missing(hand)
        assert told.keys() == before.keys()
        assert told != before
