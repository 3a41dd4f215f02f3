"""The index is disposable: deleted, damaged or foreign, it is made anew and gives the same answers."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from lamina import Memory, StoreTooNew
from lamina.atom.json_record import to_record
from lamina.store.sqlite.index import FORMAT
from vault_workspace import VaultWorkspace

QUESTIONS = ("tea", "Lisbon train", "garden piano", "number 7", "budget")
WORDS = ("tea", "coffee", "Lisbon", "train", "garden", "piano", "budget")
LONG = " ".join(f"word{number}" for number in range(900))


def _fill(workspace: VaultWorkspace) -> None:
    workspace.memory.remember_many(
        [{"content": f"Fact number {n} of {WORDS[n % 7]} and {WORDS[n % 5]}.", "tags": ["t"]} for n in range(60)]
    )
    workspace.memory.capture([{"speaker": "Ann", "content": f"{word} {LONG}"} for word in WORDS], session_id="s")
    for atom in workspace.memory.list(limit=6):
        workspace.memory.forget(atom.id, "enough")


def _answers(memory: Memory) -> list[object]:
    return [
        [(hit.atom.id, hit.passage.n, hit.text, hit.score, hit.explain()) for hit in memory.recall(q, include=i).hits]
        for q in QUESTIONS
        for i in ((), "history")
    ]


def _index(workspace: VaultWorkspace) -> Path:
    return workspace.root / ".lamina" / "index.db"


def _remove_index(workspace: VaultWorkspace) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{_index(workspace)}{suffix}").unlink(missing_ok=True)


def _truncate(data: bytearray, chance: random.Random) -> bytes:
    return bytes(data[: chance.randrange(len(data))])


def _zero_page(data: bytearray, chance: random.Random) -> bytes:
    page = chance.randrange(len(data) // 4096) * 4096
    data[page : page + 4096] = bytes(4096)
    return bytes(data)


def _zero_all(data: bytearray, chance: random.Random) -> bytes:
    return bytes(len(data))


def _garble_a_page(data: bytearray, chance: random.Random) -> bytes:
    page = chance.randrange(len(data) // 4096) * 4096
    data[page : page + 4096] = chance.randbytes(4096)
    return bytes(data)


def _garble_everything(data: bytearray, chance: random.Random) -> bytes:
    return chance.randbytes(chance.randrange(1, len(data)))


def _garble_the_head(data: bytearray, chance: random.Random) -> bytes:
    start = chance.randrange(100)
    data[start:100] = chance.randbytes(100 - start)
    return bytes(data)


DAMAGE: tuple[Callable[[bytearray, random.Random], bytes], ...] = (
    _truncate,
    _zero_page,
    _zero_all,
    _garble_a_page,
    _garble_everything,
    _garble_the_head,
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_is_detected_and_recreated(workspace: VaultWorkspace, damage: Callable[..., bytes]) -> None:
    _fill(workspace)
    answers, dump = _answers(workspace.memory), workspace.memory.engine.store.dump()
    workspace.close()
    whole = _index(workspace).read_bytes()
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(12):
        for suffix in ("-wal", "-shm"):
            Path(f"{_index(workspace)}{suffix}").unlink(missing_ok=True)
        _index(workspace).write_bytes(damage(bytearray(whole), chance))
        memory = workspace.reopen()
        assert _answers(memory) == answers
        assert memory.upkeep.doctor(deep=True).faults in ((), ("index: it differed from the journal and was rebuilt",))
        assert memory.engine.store.dump() == dump
        workspace.close()


def test_an_index_of_another_store_is_recreated(workspace: VaultWorkspace, tmp_path: Path) -> None:
    _fill(workspace)
    answers = _answers(workspace.memory)
    other = VaultWorkspace(tmp_path / "other")
    for number in range(80):
        other.remember(f"Another fact number {number} of tea.")
    other.close()
    workspace.close()
    _remove_index(workspace)
    shutil.copy(_index(other), _index(workspace))
    assert _answers(workspace.reopen()) == answers


@pytest.mark.parametrize("count", [0, FORMAT - 1, 999])
def test_an_index_of_another_format_is_recreated(workspace: VaultWorkspace, count: int) -> None:
    _fill(workspace)
    answers = _answers(workspace.memory)
    workspace.close()
    index = apsw.Connection(str(_index(workspace)))
    index.execute("UPDATE meta SET value=? WHERE key='format'", (count,))
    index.execute("UPDATE terms SET passages=1")
    index.close()
    assert _answers(workspace.reopen()) == answers


def test_a_journal_of_a_later_format_is_refused_and_unchanged(workspace: VaultWorkspace) -> None:
    workspace.remember("Ann drinks tea.")
    workspace.close()
    history = apsw.Connection(str(workspace.root / ".lamina" / "history.db"))
    history.pragma("user_version", 99)
    history.close()
    with pytest.raises(StoreTooNew, match="upgrade"):
        workspace.reopen()


def test_an_index_from_an_older_backup_catches_up(workspace: VaultWorkspace) -> None:
    _fill(workspace)
    workspace.close()
    old = _index(workspace).read_bytes()
    workspace.reopen()
    for atom in workspace.memory.list(limit=5):
        workspace.memory.revise(atom.id, "Something else about tea.", reason="changed")
    answers = _answers(workspace.memory)
    workspace.close()
    _remove_index(workspace)
    _index(workspace).write_bytes(old)
    assert _answers(workspace.reopen()) == answers


def test_an_index_newer_than_its_restored_journal_is_recreated(workspace: VaultWorkspace) -> None:
    _fill(workspace)
    answers = _answers(workspace.memory)
    workspace.close()
    backup = (workspace.root / ".lamina" / "history.db").read_bytes()
    workspace.reopen()
    late = workspace.remember("A later fact about tea.")
    file = workspace.file(late)
    workspace.close()
    file.unlink()
    (workspace.root / ".lamina" / "history.db").write_bytes(backup)
    assert _answers(workspace.reopen()) == answers
    assert workspace.memory.upkeep.doctor(deep=True).faults == ()


@pytest.mark.parametrize("only_the_file", [True, False])
def test_an_index_deleted_while_memories_are_open_is_recreated(workspace: VaultWorkspace, only_the_file: bool) -> None:
    _fill(workspace)
    other = workspace.open()
    answers, dump = _answers(workspace.memory), workspace.memory.engine.store.dump()
    for _ in range(3):
        if only_the_file:
            _index(workspace).unlink()
        else:
            _remove_index(workspace)
        for memory in (workspace.memory, other, workspace.open()):
            assert _answers(memory) == answers
            assert memory.engine.store.dump() == dump
    atom = workspace.remember("A fact about tea after that.")
    assert other.recall("after that").hits[0].atom.id == atom.id
    assert workspace.memory.upkeep.doctor(deep=True).faults == ()


def test_a_deleted_index_is_rebuilt_equal(workspace: VaultWorkspace) -> None:
    _fill(workspace)
    answers, dump = _answers(workspace.memory), workspace.memory.engine.store.dump()
    workspace.close()
    _remove_index(workspace)
    memory = workspace.reopen()
    assert memory.engine.store.dump() == dump
    assert _answers(memory) == answers


def test_without_the_state_folder_the_files_restore_the_state(workspace: VaultWorkspace) -> None:
    _fill(workspace)
    records = [to_record(atom) for atom in workspace.memory.list(status=None, limit=None)]
    answers = _answers(workspace.memory)
    workspace.close()
    shutil.rmtree(workspace.root / ".lamina")
    memory = workspace.reopen()
    assert [to_record(atom) for atom in memory.list(status=None, limit=None)] == records
    assert _answers(memory) == answers
    assert any("earlier versions are not known" in note for note in memory.upkeep.doctor().notes)
