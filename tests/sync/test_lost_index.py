"""The index is disposable: deleted, damaged or foreign, it is made anew and gives the same answers."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from desk import Desk
from lamina import Memory, StoreTooNew
from lamina.atom.record import to_record
from lamina.store.sqlite.index import FORMAT

QUESTIONS = ("tea", "Lisbon train", "garden piano", "number 7", "budget")
WORDS = ("tea", "coffee", "Lisbon", "train", "garden", "piano", "budget")
LONG = " ".join(f"word{number}" for number in range(900))


def _fill(desk: Desk) -> None:
    desk.memory.remember_many(
        [{"content": f"Fact number {n} of {WORDS[n % 7]} and {WORDS[n % 5]}.", "tags": ["t"]} for n in range(60)]
    )
    desk.memory.capture([{"speaker": "Ann", "content": f"{word} {LONG}"} for word in WORDS], session_id="s")
    for atom in desk.memory.list(limit=6):
        desk.memory.forget(atom.id, "enough")


def _answers(memory: Memory) -> list[object]:
    return [
        [(hit.atom.id, hit.passage.n, hit.text, hit.score, hit.explain()) for hit in memory.recall(q, include=i).hits]
        for q in QUESTIONS
        for i in ((), "history")
    ]


def _index(desk: Desk) -> Path:
    return desk.root / ".lamina" / "index.db"


def _remove_index(desk: Desk) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{_index(desk)}{suffix}").unlink(missing_ok=True)


def _truncate(data: bytearray, chance: random.Random) -> bytes:
    return bytes(data[: chance.randrange(len(data))])


def _zero_some(data: bytearray, chance: random.Random) -> bytes:
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
    _zero_some,
    _zero_all,
    _garble_a_page,
    _garble_everything,
    _garble_the_head,
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_is_found_out_and_made_anew(desk: Desk, damage: Callable[..., bytes]) -> None:
    _fill(desk)
    answers, dump = _answers(desk.memory), desk.memory._store.dump()
    desk.close()
    whole = _index(desk).read_bytes()
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(12):
        for suffix in ("-wal", "-shm"):
            Path(f"{_index(desk)}{suffix}").unlink(missing_ok=True)
        _index(desk).write_bytes(damage(bytearray(whole), chance))
        memory = desk.reopen()
        assert _answers(memory) == answers
        assert memory.doctor(deep=True).faults in ((), ("index: it differed from the journal and was rebuilt",))
        assert memory._store.dump() == dump
        desk.close()


def test_an_index_of_another_store_is_made_anew(desk: Desk, tmp_path: Path) -> None:
    _fill(desk)
    answers = _answers(desk.memory)
    other = Desk(tmp_path / "other")
    for number in range(80):
        other.remember(f"Another fact number {number} of tea.")
    other.close()
    desk.close()
    _remove_index(desk)
    shutil.copy(_index(other), _index(desk))
    assert _answers(desk.reopen()) == answers


@pytest.mark.parametrize("found", [0, FORMAT - 1, 999])
def test_an_index_of_another_format_is_made_anew(desk: Desk, found: int) -> None:
    _fill(desk)
    answers = _answers(desk.memory)
    desk.close()
    index = apsw.Connection(str(_index(desk)))
    index.execute("UPDATE meta SET value=? WHERE key='format'", (found,))
    index.execute("UPDATE terms SET passages=1")
    index.close()
    assert _answers(desk.reopen()) == answers


def test_a_journal_of_a_later_format_is_refused_and_left_alone(desk: Desk) -> None:
    desk.remember("Ann drinks tea.")
    desk.close()
    history = apsw.Connection(str(desk.root / ".lamina" / "history.db"))
    history.pragma("user_version", 99)
    history.close()
    with pytest.raises(StoreTooNew, match="upgrade"):
        desk.reopen()


def test_an_index_from_an_older_backup_catches_up(desk: Desk) -> None:
    _fill(desk)
    desk.close()
    old = _index(desk).read_bytes()
    desk.reopen()
    for atom in desk.memory.list(limit=5):
        desk.memory.revise(atom.id, "Something else about tea.", reason="changed")
    answers = _answers(desk.memory)
    desk.close()
    _remove_index(desk)
    _index(desk).write_bytes(old)
    assert _answers(desk.reopen()) == answers


def test_an_index_from_the_future_of_an_older_journal_is_made_anew(desk: Desk) -> None:
    _fill(desk)
    answers = _answers(desk.memory)
    desk.close()
    backup = (desk.root / ".lamina" / "history.db").read_bytes()
    desk.reopen()
    late = desk.remember("A later fact about tea.")
    file = desk.file(late)
    desk.close()
    file.unlink()
    (desk.root / ".lamina" / "history.db").write_bytes(backup)
    assert _answers(desk.reopen()) == answers
    assert desk.memory.doctor(deep=True).faults == ()


@pytest.mark.parametrize("only_the_file", [True, False])
def test_an_index_deleted_while_memories_are_open_is_made_anew(desk: Desk, only_the_file: bool) -> None:
    _fill(desk)
    other = desk.open()
    answers, dump = _answers(desk.memory), desk.memory._store.dump()
    for _ in range(3):
        if only_the_file:
            _index(desk).unlink()
        else:
            _remove_index(desk)
        for memory in (desk.memory, other, desk.open()):
            assert _answers(memory) == answers
            assert memory._store.dump() == dump
    atom = desk.remember("A fact about tea after that.")
    assert other.recall("after that").hits[0].atom.id == atom.id
    assert desk.memory.doctor(deep=True).faults == ()


def test_a_deleted_index_comes_back_equal(desk: Desk) -> None:
    _fill(desk)
    answers, dump = _answers(desk.memory), desk.memory._store.dump()
    desk.close()
    _remove_index(desk)
    memory = desk.reopen()
    assert memory._store.dump() == dump
    assert _answers(memory) == answers


def test_without_the_whole_state_folder_the_files_bring_the_state_back(desk: Desk) -> None:
    _fill(desk)
    records = [to_record(atom) for atom in desk.memory.list(status=None, limit=None)]
    answers = _answers(desk.memory)
    desk.close()
    shutil.rmtree(desk.root / ".lamina")
    memory = desk.reopen()
    assert [to_record(atom) for atom in memory.list(status=None, limit=None)] == records
    assert _answers(memory) == answers
    assert any("earlier versions are not known" in note for note in memory.doctor().notes)
