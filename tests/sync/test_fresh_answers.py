"""No stale text is ever handed out, with a watcher or without, in this process or another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from desk import Desk, eventually
from lamina import Atom


def _save_as_if_untouched(file: Path, old: bytes, new: bytes) -> None:
    """An edit that leaves size and mtime as they were."""
    assert len(old) == len(new)
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(old, new))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("settled", [False, True])
def test_an_edit_that_leaves_size_and_mtime_alone_is_found(desk: Desk, settled: bool) -> None:
    atom = desk.remember("Ann drinks tea.")
    if settled:
        desk.sync_settled()
    _save_as_if_untouched(desk.file(atom), b"tea", b"rum")
    desk.memory.sync()
    assert desk.memory.get(atom.id).content == "Ann drinks rum."


def test_many_edits_within_the_grain_of_the_clock_are_all_found(desk: Desk) -> None:
    atom = desk.remember("Ann drinks 000.")
    for number in range(1, 60):
        _save_as_if_untouched(desk.file(atom), b"%03d" % (number - 1), b"%03d" % number)
        assert desk.memory.get(atom.id).content == f"Ann drinks {number:03}."


def test_an_edit_kept_under_an_older_inode_is_found(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.sync_settled()
    file = desk.file(atom)
    backup = desk.drop("backup.txt", file.read_bytes().replace(b"tea", b"rum"))
    os.utime(backup, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    backup.replace(file)
    assert desk.texts("rum tea Ann") == ["Ann drinks rum."]


def test_recall_without_a_watcher_never_shows_words_the_file_no_longer_has(desk: Desk) -> None:
    atoms = [desk.remember(f"Ann drinks tea number {number}.") for number in range(12)]
    for atom in atoms[::2]:
        desk.edit(atom, "tea", "milk")
    assert sorted(desk.texts("tea", k=12)) == sorted(f"Ann drinks tea number {n}." for n in range(1, 12, 2))
    assert len(desk.texts("milk", k=12)) == 6


def test_get_list_and_history_show_the_file_of_this_moment(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.edit(atom, "tea", "rum")
    assert desk.memory.get(atom.id).content == "Ann drinks rum."
    desk.edit(atom, "rum", "ale")
    assert [each.content for each in desk.memory.list()] == ["Ann drinks ale."]
    desk.edit(atom, "ale", "gin")
    assert desk.memory.history(atom.id).versions[-1].atom.content == "Ann drinks gin."


def test_a_revision_is_made_on_top_of_the_file_of_this_moment(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.", subject="Ann")
    desk.edit(atom, "subject: Ann", "subject: Anna")
    desk.memory.revise(atom.id, "Ann drinks rum.", reason="she said so")
    found = desk.memory.get(atom.id)
    assert (found.subject, found.content) == ("Anna", "Ann drinks rum.")


def test_a_save_is_seen_while_the_memory_is_open(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    memory = desk.reopen(watch=True)
    desk.edit(atom, "tea", "rum")
    assert eventually(lambda: memory.journal()[-1].verb == "edit")
    assert [hit.text for hit in memory.recall("rum").hits] == ["Ann drinks rum."]


def test_new_moved_and_deleted_files_are_seen_while_the_memory_is_open(desk: Desk) -> None:
    one, other = desk.remember("Ann drinks tea."), desk.remember("Bob drinks milk.")
    memory = desk.reopen(watch=True)
    desk.drop("atoms/fresh/new.md", "Eve drinks rum.\n")
    assert eventually(lambda: memory.journal()[-1].verb == "adopt")
    desk.move(desk.file(one), "notes/moved.md")
    assert eventually(lambda: memory.path_of(one.id) == "notes/moved.md")
    desk.file(other).unlink()
    assert eventually(lambda: memory.journal()[-1].verb == "delete")
    assert memory.get(other.id).status == "tombstoned"
    assert len(memory.journal()) == 4


def test_what_the_engine_writes_is_no_edit_to_the_watcher(desk: Desk) -> None:
    memory = desk.reopen(watch=True)
    atoms = [memory.remember(f"Fact number {number}.").atom for number in range(20)]
    for atom in atoms:
        memory.pin(atom.id)
    desk.drop("atoms/last.md", "The last one.\n")
    assert eventually(lambda: memory.journal()[-1].verb == "adopt")
    assert [entry.verb for entry in memory.journal()] == ["remember"] * 20 + ["pin"] * 20 + ["adopt"]


def test_recall_racing_the_watcher_never_shows_old_words(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea number 0.")
    memory = desk.reopen(watch=True)
    for number in range(1, 40):
        desk.edit(atom, f"number {number - 1}.", f"number {number}.")
        assert [hit.text for hit in memory.recall("Ann drinks").hits] == [f"Ann drinks tea number {number}."]
        assert memory.get(atom.id).content == f"Ann drinks tea number {number}."


def test_two_open_memories_see_each_others_writes_at_once(desk: Desk) -> None:
    one, other = desk.memory, desk.open()
    for number in range(10):
        desk.tick()
        writer, reader = (one, other) if number % 2 else (other, one)
        atom = writer.remember(f"Fact number {number}.").atom
        assert reader.get(atom.id) == atom
        assert reader.recall(f"{number}").hits[0].atom.id == atom.id
        reader.revise(atom.id, f"Changed fact {number}.", reason="seen")
        assert writer.recall(f"changed {number}").hits[0].text == f"Changed fact {number}."
    assert one._store.dump() == other._store.dump()


def test_another_process_sees_a_write_at_once_and_its_own_is_seen(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    code = (
        "import lamina, sys\n"
        "with lamina.open(sys.argv[1], watch=False) as memory:\n"
        "    print(memory.recall('tea').hits[0].text)\n"
        "    memory.revise(sys.argv[2], 'Ann drinks rum.', reason='there')\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, desk.root, atom.id], capture_output=True, text=True, check=True, timeout=60
    )
    assert told.stdout == "Ann drinks tea.\n"
    assert desk.texts("rum") == ["Ann drinks rum."]
    assert desk.texts("tea") == []


def test_an_edit_counts_at_the_next_open(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.close()
    file = next(desk.root.rglob(f"*{atom.id}.md"))
    file.write_text(file.read_text().replace("tea", "rum"))
    assert desk.reopen().opening_report.edited == [file.relative_to(desk.root).as_posix()]
    assert desk.texts("rum") == ["Ann drinks rum."]


def test_a_vault_that_is_as_it_was_is_opened_without_a_change(desk: Desk) -> None:
    atoms: list[Atom] = [desk.remember(f"Fact number {number}.") for number in range(5)]
    desk.sync_settled()
    stamps = {file: file.stat() for file in desk.root.rglob("*.md")}
    report = desk.reopen().opening_report
    assert (report.has_changes, report.written) == (False, 0)
    assert {file: file.stat() for file in desk.root.rglob("*.md")} == stamps
    assert len(desk.memory.journal()) == len(atoms)
