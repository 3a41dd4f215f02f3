"""Deleted files tombstone their atoms; when many vanish at once, or their folder does, everything is held.

Covers `lamina.sync.held_deletions`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lamina import Atom, Status
from vault_workspace import VaultWorkspace


def _many(workspace: VaultWorkspace, count: int) -> list[Atom]:
    workspace.tick()
    receipt = workspace.memory.remember_many([{"content": f"Fact number {n}."} for n in range(count)])
    return [outcome.atom for outcome in receipt.outcomes]


def test_a_deleted_file_tombstones_its_atom_and_keeps_its_text(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.file(atom).unlink()
    assert len(workspace.memory.upkeep.sync().deleted) == 1
    result = workspace.memory.get(atom.id)
    assert (result.status, result.content) == (Status.TOMBSTONED, "Ann drinks tea.")
    assert workspace.texts("tea") == []
    assert workspace.memory.path_of(atom.id) is None
    assert workspace.memory.journal()[-1].actor == "human"


def test_a_deleted_file_is_noticed_by_the_recall_that_would_return_it(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.file(atom).unlink()
    assert workspace.texts("tea") == []


def test_a_deleted_file_of_a_superseded_atom_changes_no_status(workspace: VaultWorkspace) -> None:
    old = workspace.remember("Prefers tea.", kind="preference", subject="drinks", attribute="favourite")
    workspace.remember("Prefers milk.", kind="preference", subject="drinks", attribute="favourite")
    workspace.file(old).unlink()
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(old.id).status is Status.SUPERSEDED
    assert not workspace.memory.upkeep.sync().has_changes


def test_a_restored_file_reverses_its_deletion(workspace: VaultWorkspace) -> None:
    for status in ("active", "challenged", "archived"):
        atom = workspace.remember(f"A fact that is {status}.")
        if status != "active":
            workspace.memory.update_status(atom.id, status, "for the test")
        file = workspace.file(atom)
        words = file.read_bytes()
        file.unlink()
        workspace.memory.upkeep.sync()
        assert workspace.memory.get(atom.id).status is Status.TOMBSTONED
        file.write_bytes(words)
        workspace.memory.upkeep.sync()
        assert workspace.memory.get(atom.id).status is Status(status)
        assert file.read_bytes() == words


def test_a_file_restored_elsewhere_and_edited_is_the_same_atom(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    words = workspace.file(atom).read_text()
    workspace.file(atom).unlink()
    workspace.memory.upkeep.sync()
    workspace.drop("atoms/back.md", words.replace("tea", "coffee"))
    workspace.memory.upkeep.sync()
    result = workspace.memory.get(atom.id)
    assert (result.status, result.content) == (Status.ACTIVE, "Ann drinks coffee.")


def test_a_file_restored_elsewhere_shows_what_happened_to_its_atom_meanwhile(workspace: VaultWorkspace) -> None:
    old = workspace.remember("Drinks tea", kind="preference", subject="drinks", attribute="favourite")
    new = workspace.remember("Drinks coffee", kind="preference", subject="drinks", attribute="favourite")
    file = workspace.file(old)
    data = file.read_bytes()
    file.unlink()
    workspace.memory.upkeep.sync()
    workspace.memory.relate(old.id, "depends_on", new.id, 0.25)
    back = workspace.drop("atoms/mine/tea.md", data)
    workspace.memory.upkeep.sync()
    assert b"depends_on" in back.read_bytes()
    assert [relation.target for relation in workspace.memory.get(old.id).relations] == [new.id]


def test_a_forgotten_atom_stays_forgotten_when_its_file_is_only_edited(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.memory.forget(atom.id, "enough")
    workspace.edit(atom, "tea", "coffee")
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atom.id).status is Status.TOMBSTONED


def test_restoring_a_deleted_atom_writes_its_file_again(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    file = workspace.file(atom)
    words = file.read_bytes()
    file.unlink()
    workspace.memory.upkeep.sync()
    workspace.memory.update_status(atom.id, "active", "it was a mistake")
    assert file.read_bytes() == words


def test_restoring_an_atom_whose_path_is_taken_leaves_the_new_file_alone(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    file = workspace.file(atom)
    file.unlink()
    workspace.memory.upkeep.sync()
    file.write_text("Something else.\n")
    workspace.memory.update_status(atom.id, "active", "it was a mistake")
    assert workspace.memory.get(atom.id).content == "Ann drinks tea."
    assert workspace.file(atom) != file
    assert workspace.atom_of(file).content == "Something else."


def test_many_files_deleted_together_are_held_until_a_person_confirms(workspace: VaultWorkspace) -> None:
    atoms = _many(workspace, 40)
    for atom in atoms[:21]:
        workspace.file(atom).unlink()
    report = workspace.memory.upkeep.sync()
    assert (len(report.held), report.deleted) == (21, [])
    assert all(atom.status is Status.ACTIVE for atom in workspace.memory.list(status=None))
    (problem,) = workspace.problems("held-deletions")
    assert "21 of 40" in problem.message
    assert "--accept-deletions" in problem.message
    assert len(workspace.memory.upkeep.sync(accept_deletions=True).deleted) == 21
    assert workspace.problems("held-deletions") == []
    assert len(workspace.memory.list(status="tombstoned")) == 21


def test_twenty_files_deleted_together_are_an_ordinary_deletion(workspace: VaultWorkspace) -> None:
    for atom in _many(workspace, 40)[:20]:
        workspace.file(atom).unlink()
    assert len(workspace.memory.upkeep.sync().deleted) == 20


def test_more_than_twenty_files_but_not_five_percent_are_an_ordinary_deletion(workspace: VaultWorkspace) -> None:
    for atom in _many(workspace, 440)[:22]:
        workspace.file(atom).unlink()
    assert len(workspace.memory.upkeep.sync().deleted) == 22


def test_restored_files_clear_the_hold(workspace: VaultWorkspace) -> None:
    atoms = _many(workspace, 30)
    stored = {workspace.file(atom): workspace.file(atom).read_bytes() for atom in atoms}
    for file in stored:
        file.unlink()
    workspace.memory.upkeep.sync()
    assert workspace.problems("held-deletions")
    for file, words in stored.items():
        file.write_bytes(words)
    workspace.memory.upkeep.sync()
    assert workspace.problems("held-deletions") == []
    assert {atom.status for atom in workspace.memory.list(status=None)} == {Status.ACTIVE}
    assert len(workspace.memory.journal()) == 1


def test_a_held_atom_can_be_changed_and_its_file_follows_once_restored(workspace: VaultWorkspace) -> None:
    atoms = _many(workspace, 30)
    stored = {workspace.file(atom): workspace.file(atom).read_bytes() for atom in atoms}
    for file in stored:
        file.unlink()
    workspace.memory.upkeep.sync()
    workspace.memory.revise(atoms[0].id, "Another fact.", reason="changed meanwhile")
    workspace.remember("A new fact.")
    for file, words in stored.items():
        file.write_bytes(words)
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atoms[0].id).content == "Another fact."
    assert "Another fact." in workspace.file(atoms[0]).read_text()
    assert workspace.memory.upkeep.doctor().healthy


def test_nothing_is_forgotten_while_the_vaults_marker_is_missing(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    marker, file = workspace.root / ".lamina/vault.toml", workspace.file(atom)
    signed, words = marker.read_bytes(), file.read_bytes()
    marker.unlink()
    file.unlink()
    assert workspace.memory.upkeep.sync().deleted == []
    assert workspace.memory.get(atom.id).status is Status.ACTIVE
    (problem,) = workspace.problems("held-deletions")
    assert "vault.toml" in problem.message
    marker.write_bytes(signed)
    file.write_bytes(words)
    workspace.memory.upkeep.sync()
    assert workspace.problems("held-deletions") == []


def test_a_session_whose_file_was_deleted_continues_in_a_new_one(workspace: VaultWorkspace) -> None:
    atom = workspace.memory.capture([{"speaker": "Ann", "content": "I drink tea."}], session_id="s").atom
    workspace.file(atom).unlink()
    workspace.memory.upkeep.sync()
    workspace.tick()
    more = workspace.memory.capture([{"speaker": "Ann", "content": "And coffee."}], session_id="s").atom
    assert more.id != atom.id
    assert workspace.texts("tea coffee") == ["And coffee."]


@pytest.mark.parametrize("replacement", ["nothing", "a link", "a file"])
@pytest.mark.parametrize("folder", ["atoms", "atoms/2026-11-14"])
def test_a_vanished_folder_is_no_deletion_until_a_person_accepts_it(
    workspace: VaultWorkspace, tmp_path: Path, folder: str, replacement: str
) -> None:
    atoms = [workspace.remember("Ann drinks tea."), workspace.remember("Bob drinks milk.")]
    away = shutil.move(workspace.root / folder, tmp_path / "away")
    if replacement == "a link":
        (workspace.root / folder).symlink_to(away)
    elif replacement == "a file":
        (workspace.root / folder).write_text("not a folder")
    for _ in range(2):
        report = workspace.memory.upkeep.sync()
        assert (len(report.held), report.deleted) == (2, [])
        (problem,) = workspace.problems("held-deletions")
        assert problem.path == f"{folder}/"
        assert "2 files" in problem.message and "--accept-deletions" in problem.message
    assert "Ann drinks tea." in workspace.texts("what does Ann drink?")
    assert [workspace.memory.get(atom.id).status for atom in atoms] == [Status.ACTIVE] * 2
    assert len(workspace.memory.upkeep.sync(accept_deletions=True).deleted) == 2
    assert [workspace.memory.get(atom.id).status for atom in atoms] == [Status.TOMBSTONED] * 2
    assert workspace.problems("held-deletions") == []


def test_a_folder_that_comes_back_counts_as_if_it_had_never_been_away(
    workspace: VaultWorkspace, tmp_path: Path
) -> None:
    atom = workspace.remember("Ann drinks tea.")
    file = workspace.file(atom)
    away = shutil.move(workspace.root / "atoms", tmp_path / "away")
    workspace.memory.upkeep.sync()
    shutil.move(away, workspace.root / "atoms")
    assert not workspace.memory.upkeep.sync().has_changes
    assert workspace.problems("held-deletions") == []
    file.unlink()
    assert len(workspace.memory.upkeep.sync().deleted) == 1


def test_nothing_is_written_where_a_folder_vanished_until_it_is_back(workspace: VaultWorkspace, tmp_path: Path) -> None:
    old = workspace.remember("Ann drinks tea.")
    away = shutil.move(workspace.root / "atoms", tmp_path / "away")
    new = workspace.remember("Bob drinks milk.")
    workspace.memory.pin(old.id)
    assert not (workspace.root / "atoms").exists()
    assert "Bob drinks milk." in workspace.texts("what does Bob drink?")
    (problem,) = workspace.problems("blocked")
    assert "the folder atoms/ is missing" in problem.message
    workspace.reopen()
    assert not (workspace.root / "atoms").exists()
    shutil.move(away, workspace.root / "atoms")
    workspace.memory.upkeep.sync()
    assert "milk" in workspace.file(new).read_text()
    assert "pinned: true" in workspace.file(old).read_text()
    assert workspace.problems("blocked") == workspace.problems("held-deletions") == []


def test_files_of_a_vanished_folder_stay_held_when_the_folder_returns_without_them(workspace: VaultWorkspace) -> None:
    atom, other = workspace.remember("Ann drinks tea."), workspace.remember("Bob drinks milk.")
    words = workspace.file(other).read_bytes()
    shutil.rmtree(workspace.root / "atoms")
    workspace.memory.upkeep.sync()
    workspace.drop(str(workspace.file(other).relative_to(workspace.root)), words)
    report = workspace.memory.upkeep.sync()
    assert (len(report.held), report.deleted) == (1, [])
    assert workspace.memory.get(atom.id).status is Status.ACTIVE


def test_a_folder_at_the_top_that_is_empty_now_may_be_unmounted(workspace: VaultWorkspace) -> None:
    files = [workspace.move(workspace.file(workspace.remember(f"Fact {n}.")), f"notes/{n}.md") for n in range(3)]
    workspace.memory.upkeep.sync()
    for file in files:
        file.unlink()
    assert len(workspace.memory.upkeep.sync().held) == 3
    files[0].parent.rmdir()
    assert len(workspace.memory.upkeep.sync().held) == 3


def test_deletions_that_were_held_stay_held_while_some_of_the_files_come_back(workspace: VaultWorkspace) -> None:
    atoms = _many(workspace, 40)
    data = {workspace.file(atom): workspace.file(atom).read_bytes() for atom in atoms[:21]}
    for file in data:
        file.unlink()
    workspace.memory.upkeep.sync()
    for file in [*data][:10]:
        file.write_bytes(data[file])
    report = workspace.memory.upkeep.sync()
    assert (len(report.held), report.deleted) == (11, [])
    for file in [*data][10:]:
        file.write_bytes(data[file])
    assert not workspace.memory.upkeep.sync().has_changes
    assert workspace.problems("held-deletions") == []
