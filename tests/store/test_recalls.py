"""The last recalls, kept for feedback."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from lamina.atom.atom import AtomId
from lamina.errors import NotFound
from lamina.store.admin import MAX_RECALLS, SavedRecall, unknown_recall
from lamina.store.sqlite.recalls_and_usage import SqliteRecalls
from lamina.testing import ANN, LOCAL, NOON
from lamina.testing.admin import hits_of

A, B = AtomId("a"), AtomId("b")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "recalls.db"


def test_the_hits_of_a_recall_are_stored_in_order_and_once(db: Path) -> None:
    recalls = SqliteRecalls(db)
    recalls.save(SavedRecall("r1", (B, A, B)), NOON, LOCAL)
    recalls.save(SavedRecall("r2", ()), NOON, LOCAL)
    assert hits_of(recalls, "r1", LOCAL) == [B, A]
    assert hits_of(recalls, "r2", LOCAL) == []


def test_a_recall_accepts_feedback_once(db: Path) -> None:
    recalls = SqliteRecalls(db)
    recalls.save(SavedRecall("r1", (A,)), NOON, LOCAL)
    assert [recalls.mark_answered("r1", LOCAL) for _ in range(3)] == [True, False, False]
    recalls.save(SavedRecall("r1", (B,)), NOON, LOCAL)
    assert hits_of(recalls, "r1", LOCAL) == [A]
    assert not recalls.mark_answered("r1", LOCAL)


def test_an_unknown_recall_reports_how_long_they_are_kept(db: Path) -> None:
    recalls = SqliteRecalls(db)
    assert hits_of(recalls, "gone", LOCAL) is None
    with pytest.raises(NotFound, match=r"no recall 'gone': the last 10,000 of a store are kept") as raised:
        recalls.mark_answered("gone", LOCAL)
    assert str(raised.value) == str(unknown_recall("gone"))


def test_a_recall_of_another_scope_is_unknown(db: Path) -> None:
    recalls = SqliteRecalls(db)
    recalls.save(SavedRecall("r1", (A,)), NOON, LOCAL)
    assert hits_of(recalls, "r1", ANN) is None
    with pytest.raises(NotFound):
        recalls.mark_answered("r1", ANN)
    assert recalls.mark_answered("r1", LOCAL)


def test_only_the_newest_are_kept(db: Path) -> None:
    recalls = SqliteRecalls(db, limit=5)
    for n in range(12):
        recalls.save(SavedRecall(f"r{n}", (A,)), NOON + timedelta(seconds=n), LOCAL)
    numbers = [n for n in range(12) if hits_of(recalls, f"r{n}", LOCAL) is not None]
    assert numbers == list(range(7, 12))
    assert MAX_RECALLS == 10_000


def test_recalls_survive_the_process_that_made_them(db: Path) -> None:
    first, other = SqliteRecalls(db), SqliteRecalls(db)
    first.save(SavedRecall("r1", (A,)), NOON, LOCAL)
    first.close()
    assert hits_of(other, "r1", LOCAL) == [A]
    assert other.mark_answered("r1", LOCAL)
    assert not SqliteRecalls(db).mark_answered("r1", LOCAL)


def test_a_damaged_file_is_recreated(db: Path) -> None:
    db.write_bytes(b"not a database at all, but long enough to be looked at " * 40)
    recalls = SqliteRecalls(db)
    recalls.save(SavedRecall("r1", (A,)), NOON, LOCAL)
    assert hits_of(recalls, "r1", LOCAL) == [A]


def test_of_concurrent_answers_exactly_one_is_first(db: Path) -> None:
    recalls = SqliteRecalls(db)
    recalls.save(SavedRecall("r1", (A,)), NOON, LOCAL)
    firsts: list[bool] = []
    threads = [threading.Thread(target=lambda: firsts.append(recalls.mark_answered("r1", LOCAL))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(firsts) == [False] * 7 + [True]


def test_threads_recalling_concurrently_at_first_share_one_connection(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[apsw.Connection] = []
    all_here = threading.Barrier(8)

    class SlowConnection(apsw.Connection):
        def __init__(self, path: str, vfs: str | None = None) -> None:
            connections.append(self)
            time.sleep(0.02)
            super().__init__(path, vfs=vfs)

    monkeypatch.setattr(apsw, "Connection", SlowConnection)
    recalls = SqliteRecalls(db)

    def first(n: int) -> None:
        all_here.wait()
        recalls.save(SavedRecall(f"r{n}", (A,)), NOON, LOCAL)

    threads = [threading.Thread(target=first, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(connections) == 1
    assert all(hits_of(recalls, f"r{n}", LOCAL) == [A] for n in range(8))
