from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lamina.errors import StoreBusy
from lamina.store.sqlite.database import Database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "a.db")
    database.run("CREATE TABLE t(x)")
    yield database
    database.close()


def test_threads_take_turns_and_never_share_a_transaction(db: Database) -> None:
    failures: list[Exception] = []

    def write() -> None:
        try:
            for _ in range(50):
                with db.write_transaction(durable=False):
                    db.run("INSERT INTO t VALUES(1)")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert db.one("SELECT count(*) FROM t") == (200,)


def test_writes_in_a_trial_are_visible_inside_and_gone_afterwards(db: Database) -> None:
    with db.trial_transaction():
        with db.write_transaction(durable=True):
            db.run("INSERT INTO t VALUES(1)")
        assert db.one("SELECT count(*) FROM t") == (1,)
    assert db.one("SELECT count(*) FROM t") == (0,)
    with db.write_transaction(durable=True):
        db.run("INSERT INTO t VALUES(1)")
    assert db.one("SELECT count(*) FROM t") == (1,)


def test_a_long_waiting_thread_keeps_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand looks at a held lock once made a number too large for a float."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "monotonic", lambda: len(slept) / 100)
    holder, waiter = Database(tmp_path / "a.db"), Database(tmp_path / "a.db")
    with holder.write_transaction(durable=False), pytest.raises(StoreBusy, match="another process held the lock"):
        waiter.run("BEGIN IMMEDIATE")
    assert len(slept) > 2000
    holder.close()
    waiter.close()
