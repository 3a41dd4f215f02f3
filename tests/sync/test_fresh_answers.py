"""No stale text is ever handed out, with a watcher or without, in this process or another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lamina import Atom
from vault_workspace import VaultWorkspace, eventually


def _save_as_if_untouched(file: Path, old: bytes, new: bytes) -> None:
    """An edit that leaves size and mtime as they were."""
    assert len(old) == len(new)
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(old, new))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("settled", [False, True])
def test_an_edit_that_leaves_size_and_mtime_unchanged_is_found(workspace: VaultWorkspace, settled: bool) -> None:
    atom = workspace.remember("Ann drinks tea.")
    if settled:
        workspace.sync_settled()
    _save_as_if_untouched(workspace.file(atom), b"tea", b"rum")
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atom.id).content == "Ann drinks rum."


def test_many_edits_within_the_clock_resolution_are_all_found(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks 000.")
    for number in range(1, 60):
        _save_as_if_untouched(workspace.file(atom), b"%03d" % (number - 1), b"%03d" % number)
        assert workspace.memory.get(atom.id).content == f"Ann drinks {number:03}."


def test_an_edit_under_an_older_inode_is_found(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.sync_settled()
    file = workspace.file(atom)
    backup = workspace.drop("backup.txt", file.read_bytes().replace(b"tea", b"rum"))
    os.utime(backup, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    backup.replace(file)
    assert workspace.texts("rum tea Ann") == ["Ann drinks rum."]


def test_recall_without_a_watcher_never_returns_text_the_file_no_longer_has(workspace: VaultWorkspace) -> None:
    atoms = [workspace.remember(f"Ann drinks tea number {number}.") for number in range(12)]
    for atom in atoms[::2]:
        workspace.edit(atom, "tea", "milk")
    assert sorted(workspace.texts("tea", k=12)) == sorted(f"Ann drinks tea number {n}." for n in range(1, 12, 2))
    assert len(workspace.texts("milk", k=12)) == 6


def test_get_list_and_history_reflect_the_current_file(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.edit(atom, "tea", "rum")
    assert workspace.memory.get(atom.id).content == "Ann drinks rum."
    workspace.edit(atom, "rum", "ale")
    assert [atom.content for atom in workspace.memory.list()] == ["Ann drinks ale."]
    workspace.edit(atom, "ale", "gin")
    assert workspace.memory.history(atom.id).versions[-1].atom.content == "Ann drinks gin."


def test_a_revision_is_based_on_the_current_file(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.", subject="Ann")
    workspace.edit(atom, "subject: Ann", "subject: Anna")
    workspace.memory.revise(atom.id, "Ann drinks rum.", reason="she said so")
    result = workspace.memory.get(atom.id)
    assert (result.subject, result.content) == ("Anna", "Ann drinks rum.")


def test_a_save_is_noticed_while_the_memory_is_open(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    memory = workspace.reopen(watch=True)
    workspace.edit(atom, "tea", "rum")
    assert eventually(lambda: memory.journal()[-1].verb == "edit")
    assert [hit.text for hit in memory.recall("rum").hits] == ["Ann drinks rum."]


def test_new_moved_and_deleted_files_are_noticed_while_the_memory_is_open(workspace: VaultWorkspace) -> None:
    one, other = workspace.remember("Ann drinks tea."), workspace.remember("Bob drinks milk.")
    memory = workspace.reopen(watch=True)
    workspace.drop("atoms/fresh/new.md", "Eve drinks rum.\n")
    assert eventually(lambda: memory.journal()[-1].verb == "adopt")
    workspace.move(workspace.file(one), "notes/moved.md")
    assert eventually(lambda: memory.path_of(one.id) == "notes/moved.md")
    workspace.file(other).unlink()
    assert eventually(lambda: memory.journal()[-1].verb == "delete")
    assert memory.get(other.id).status == "tombstoned"
    assert len(memory.journal()) == 4


def test_writes_of_the_engine_are_no_edits_to_the_watcher(workspace: VaultWorkspace) -> None:
    memory = workspace.reopen(watch=True)
    atoms = [memory.remember(f"Fact number {number}.").atom for number in range(20)]
    for atom in atoms:
        memory.pin(atom.id)
    workspace.drop("atoms/last.md", "The last one.\n")
    assert eventually(lambda: memory.journal()[-1].verb == "adopt")
    assert [entry.verb for entry in memory.journal()] == ["remember"] * 20 + ["pin"] * 20 + ["adopt"]


def test_recall_racing_the_watcher_never_returns_old_text(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea number 0.")
    memory = workspace.reopen(watch=True)
    for number in range(1, 40):
        workspace.edit(atom, f"number {number - 1}.", f"number {number}.")
        assert [hit.text for hit in memory.recall("Ann drinks").hits] == [f"Ann drinks tea number {number}."]
        assert memory.get(atom.id).content == f"Ann drinks tea number {number}."


def test_two_open_memories_see_each_others_writes_immediately(workspace: VaultWorkspace) -> None:
    one, other = workspace.memory, workspace.open()
    for number in range(10):
        workspace.tick()
        writer, reader = (one, other) if number % 2 else (other, one)
        atom = writer.remember(f"Fact number {number}.").atom
        assert reader.get(atom.id) == atom
        assert reader.recall(f"{number}").hits[0].atom.id == atom.id
        reader.revise(atom.id, f"Changed fact {number}.", reason="seen")
        assert writer.recall(f"changed {number}").hits[0].text == f"Changed fact {number}."
    assert one.engine.store.dump() == other.engine.store.dump()


def test_writes_of_another_process_are_seen_immediately_in_both_directions(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    code = (
        "import lamina, sys\n"
        "with lamina.open(sys.argv[1], watch=False) as memory:\n"
        "    print(memory.recall('tea').hits[0].text)\n"
        "    memory.revise(sys.argv[2], 'Ann drinks rum.', reason='there')\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, workspace.root, atom.id], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout == "Ann drinks tea.\n"
    assert workspace.texts("rum") == ["Ann drinks rum."]
    assert workspace.texts("tea") == []


def test_an_edit_takes_effect_at_the_next_open(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.close()
    file = next(workspace.root.rglob(f"*{atom.id}.md"))
    file.write_text(file.read_text().replace("tea", "rum"))
    assert workspace.reopen().upkeep.opening_report.edited == [file.relative_to(workspace.root).as_posix()]
    assert workspace.texts("rum") == ["Ann drinks rum."]


def test_opening_an_unchanged_vault_changes_nothing(workspace: VaultWorkspace) -> None:
    atoms: list[Atom] = [workspace.remember(f"Fact number {number}.") for number in range(5)]
    workspace.sync_settled()
    stamps = {file: file.stat() for file in workspace.root.rglob("*.md")}
    report = workspace.reopen().upkeep.opening_report
    assert (report.has_changes, report.written) == (False, 0)
    assert {file: file.stat() for file in workspace.root.rglob("*.md")} == stamps
    assert len(workspace.memory.journal()) == len(atoms)
