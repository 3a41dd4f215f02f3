"""A damaged journal: what is intact is kept, the rest is read from the files, and the damaged file is kept too.

Covers `lamina.store.sqlite.history_repair`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import pytest

import lamina
from lamina import Memory
from lamina.errors import StoreError
from lamina.store.sqlite.history_repair import find_damage


def _write_vault(root: Path) -> Memory:
    memory = lamina.open(root, watch=False, background=False)
    for n in range(5):
        memory.remember(f"Fact {n} is here.")
    return memory


def _texts(memory: Memory) -> set[str]:
    return {atom.content for atom in memory.list()}


def _repair_notes(memory: Memory) -> list[str]:
    return [problem.message for problem in memory.upkeep.doctor(deep=True).problems if problem.kind == "repaired"]


def test_an_intact_copy_of_an_open_vault_opens_without_a_note(tmp_path: Path) -> None:
    memory = _write_vault(tmp_path / "vault")
    shutil.copytree(tmp_path / "vault", tmp_path / "copy")
    with lamina.open(tmp_path / "copy", watch=False) as copy:
        assert _texts(copy) == _texts(memory)
        assert _repair_notes(copy) == []
        assert len(copy.journal(limit=None)) == 5
    memory.close()


def test_the_index_of_a_copy_may_be_of_another_moment_and_is_built_again(tmp_path: Path) -> None:
    memory = _write_vault(tmp_path / "vault")
    memory.close()
    shutil.copytree(tmp_path / "vault", tmp_path / "copy")
    db = apsw.Connection(str(tmp_path / "copy/.lamina/index.db"))
    table = next(row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE name='passages'"))
    db.execute(f"DELETE FROM {table} WHERE rowid=(SELECT min(rowid) FROM {table})")
    db.close()
    with lamina.open(tmp_path / "copy", watch=False) as copy:
        assert copy.upkeep.doctor(deep=True).faults == ()


def test_a_copy_whose_log_is_of_another_moment_opens_with_all_words_and_says_what_was_repaired(tmp_path: Path) -> None:
    memory = _write_vault(tmp_path / "vault")
    texts = _texts(memory)
    shutil.copytree(tmp_path / "vault", tmp_path / "copy")
    memory.close()
    home = tmp_path / "copy/.lamina"
    db = apsw.Connection(str(home / "history.db"))
    db.execute("DELETE FROM commits WHERE seq=4")
    db.close()
    with lamina.open(tmp_path / "copy", watch=False) as copy:
        assert _texts(copy) == texts
        (note,) = _repair_notes(copy)
        assert "3 commits of it are intact" in note and "2 are lost" in note
        diagnosis = copy.upkeep.doctor(deep=True)
        assert diagnosis.faults == ()
        (kept,) = home.glob("damaged-*")
        assert (kept / "history.db").exists()
        assert copy.history(copy.list()[0].id).versions
    with lamina.open(tmp_path / "copy", watch=False) as copy:
        assert _texts(copy) == texts


@pytest.mark.parametrize("damage", ["garbage", "truncated", "zeroed page"])
def test_a_copy_of_which_the_database_cannot_be_read_opens_from_its_files(tmp_path: Path, damage: str) -> None:
    memory = _write_vault(tmp_path / "vault")
    texts = _texts(memory)
    memory.close()
    shutil.copytree(tmp_path / "vault", tmp_path / "copy")
    path = tmp_path / "copy/.lamina/history.db"
    data = path.read_bytes()
    path.write_bytes(
        {
            "garbage": b"no database " * 1000,
            "truncated": data[: len(data) // 2],
            "zeroed page": data[:4096] + bytes(8192) + data[12288:],
        }[damage]
    )
    with lamina.open(tmp_path / "copy", watch=False) as copy:
        assert _texts(copy) == texts
        assert len(_repair_notes(copy)) == 1
        assert copy.upkeep.doctor(deep=True).faults == ()


def test_an_edit_of_a_lost_commit_is_read_from_its_file(tmp_path: Path) -> None:
    memory = _write_vault(tmp_path / "vault")
    first = memory.list(limit=None)[-1]
    memory.revise(first.id, "Fact 0 was corrected.", reason="better known")
    texts = _texts(memory)
    memory.close()
    shutil.copytree(tmp_path / "vault", tmp_path / "copy")
    db = apsw.Connection(str(tmp_path / "copy/.lamina/history.db"))
    db.execute("UPDATE versions SET body='{}' WHERE seq=6")
    db.close()
    with lamina.open(tmp_path / "copy", watch=False) as copy:
        assert _texts(copy) == texts
        assert copy.upkeep.doctor(deep=True).faults == ()


def test_a_damaged_journal_that_is_no_copy_is_repaired_only_when_a_person_asks(tmp_path: Path) -> None:
    _write_vault(tmp_path / "vault").close()
    path = tmp_path / "vault/.lamina/history.db"
    with path.open("r+b") as file:
        file.write(b"no database " * 1000)
    with pytest.raises(StoreError, match="lamina doctor --repair"):
        lamina.open(tmp_path / "vault", watch=False)
    assert path.read_bytes().startswith(b"no database")
    with pytest.raises(StoreError):
        find_damage(path)
