"""Backup, restore and repair. Covers `lamina.engine.backups`."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

import lamina
from command_result import Cli
from lamina.engine.backups import restore_backup
from lamina.errors import InvalidInput, StoreError


def _write_vault(root: Path, count: int = 5) -> lamina.Memory:
    memory = lamina.open(root, watch=False, background=False)
    for n in range(count):
        memory.remember(f"Fact {n} is here.")
    return memory


def _texts(memory: lamina.Memory) -> set[str]:
    return {atom.content for atom in memory.list(limit=None)}


def test_a_backup_restores_the_vault_with_its_history(cli: Cli, tmp_path: Path) -> None:
    memory = _write_vault(tmp_path / "vault")
    atom = memory.list()[0]
    memory.revise(atom.id, "Another fact.", reason="it was wrong")
    texts = _texts(memory)
    memory.close()
    written = cli("backup", str(tmp_path / "backup"), "--vault", str(tmp_path / "vault"), "--json")
    assert written.code == 0
    shutil.rmtree(tmp_path / "vault")
    restored = cli("restore", str(tmp_path / "backup"), "--to", str(tmp_path / "vault"), "--json")
    assert restored.code == 0
    assert restored.data["replaced"] is None
    for name in ("position", "tip", "commits", "atoms", "files"):
        assert restored.data[name] == written.data[name]
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        assert _texts(memory) == texts
        assert memory.upkeep.opening_report.has_changes is False
        assert len(memory.history(atom.id).versions) == 2
        diagnosis = memory.upkeep.doctor(deep=True)
        assert (diagnosis.faults, diagnosis.problems) == ((), ())


def test_a_backup_that_is_written_while_others_write_is_of_one_moment(tmp_path: Path) -> None:
    memory = _write_vault(tmp_path / "vault", 20)
    writer = lamina.open(tmp_path / "vault", watch=False, background=False)
    thread = threading.Thread(target=lambda: [writer.remember(f"Later fact {n}.") for n in range(30)])
    thread.start()
    report = memory.upkeep.backup(tmp_path / "backup")
    thread.join()
    restore_backup(tmp_path / "backup", tmp_path / "restored")
    with lamina.open(tmp_path / "restored", watch=False) as restored:
        assert len(restored.journal(limit=None)) == report.commits >= 20
        assert _texts(restored) <= _texts(memory)
        assert len(_texts(restored)) == report.atoms
        assert restored.upkeep.doctor(deep=True).faults == ()
    writer.close()
    memory.close()


def test_what_is_at_the_place_of_a_restored_vault_is_moved_aside(tmp_path: Path) -> None:
    with _write_vault(tmp_path / "vault") as memory:
        memory.upkeep.backup(tmp_path / "backup")
        memory.remember("Written after the backup.")
    _, old = restore_backup(tmp_path / "backup", tmp_path / "vault")
    assert old == tmp_path / "vault.before-restore-1"
    with lamina.open(old, watch=False) as before, lamina.open(tmp_path / "vault", watch=False) as memory:
        assert _texts(before) - _texts(memory) == {"Written after the backup."}


@pytest.mark.parametrize("change", ["a changed file", "a missing file", "another file", "a changed journal"])
def test_a_backup_that_was_changed_is_refused_and_nothing_is_touched(tmp_path: Path, change: str) -> None:
    with _write_vault(tmp_path / "vault") as memory:
        memory.upkeep.backup(tmp_path / "backup")
    file = next((tmp_path / "backup/atoms").rglob("*.md"))
    match change:
        case "a changed file":
            file.write_text("something else")
        case "a missing file":
            file.unlink()
        case "another file":
            file.with_name("more.md").write_text("more")
        case _:
            with (tmp_path / "backup/.lamina/history.db").open("ab") as journal:
                journal.write(b"more")
    with pytest.raises(StoreError, match="nothing was restored"):
        restore_backup(tmp_path / "backup", tmp_path / "vault")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "vault"]


def test_a_backup_needs_an_empty_folder_outside_of_the_vault(tmp_path: Path) -> None:
    with _write_vault(tmp_path / "vault") as memory:
        for folder in (tmp_path / "vault/backup", tmp_path / "vault"):
            with pytest.raises(InvalidInput):
                memory.upkeep.backup(folder)
    with pytest.raises(InvalidInput, match="no backup"):
        restore_backup(tmp_path / "vault", tmp_path / "other")


@pytest.mark.parametrize("damaged", ["history.db", "vault.toml", "index.db"])
def test_doctor_repairs_every_damaged_file_and_keeps_what_it_replaces(cli: Cli, tmp_path: Path, damaged: str) -> None:
    with _write_vault(tmp_path / "vault") as memory:
        texts = _texts(memory)
    home = tmp_path / "vault/.lamina"
    (home / damaged).write_bytes(b"\xffgarbage " * 500)
    vault = ("--vault", str(tmp_path / "vault"))
    if damaged != "index.db":
        refused = cli("list", *vault)
        assert refused.code != 0
        assert "lamina doctor --repair" in refused.err
    repaired = cli("doctor", "--repair", "--json", *vault)
    assert len(repaired.data["repaired"]) == (damaged != "index.db")
    assert repaired.data["faults"] == []
    assert bool(list(home.glob("damaged-*"))) == (damaged != "index.db")
    again = cli("doctor", "--repair", "--deep", "--json", *vault)
    assert (again.data["repaired"], again.data["healthy"]) == ([], True)
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        assert _texts(memory) == texts
