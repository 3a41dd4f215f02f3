"""Deleted files tombstone their atoms; when many vanish at once it may be a mishap, and everything is held."""

from __future__ import annotations

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
