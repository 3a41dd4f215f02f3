"""Undo is allowed while everything a commit set still has the value it set; else it says what is in the way."""

from __future__ import annotations

import pytest

from lamina import ClaimTaken, NotFound, Status, UndoRefused
from vault_workspace import VaultWorkspace


def test_undo_reverses_the_last_commit(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.memory.revise(atom.id, "Ann drinks rum.", reason="heard so")
    (result,) = workspace.memory.undo()
    assert result.atoms[0].content == "Ann drinks tea."
    assert "Ann drinks tea." in workspace.file(atom).read_text()
    assert workspace.memory.journal()[-1].undoes == workspace.memory.journal()[-2].id


def test_undoing_a_new_atom_tombstones_it_and_keeps_its_text(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.memory.undo()
    result = workspace.memory.get(atom.id)
    assert (result.status, result.content) == (Status.TOMBSTONED, "Ann drinks tea.")
    assert workspace.texts("tea") == []


def test_undo_after_undo_goes_further_back(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.memory.revise(atom.id, "Ann drinks rum.", reason="heard so")
    workspace.memory.undo()
    workspace.memory.undo()
    assert workspace.memory.get(atom.id).status is Status.TOMBSTONED
    with pytest.raises(NotFound, match="nothing to undo"):
        workspace.memory.undo()


def test_an_undo_can_be_undone_and_redone(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.memory.revise(atom.id, "Ann drinks rum.", reason="heard so")
    (undone,) = workspace.memory.undo()
    workspace.memory.undo(undone.id)
    assert workspace.memory.get(atom.id).content == "Ann drinks rum."
    workspace.memory.undo()
    assert workspace.memory.get(atom.id).content == "Ann drinks tea."


def test_later_changes_of_other_fields_do_not_prevent_undo(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.memory.revise(atom.id, "Ann drinks rum.", reason="heard so")
    wrong = workspace.memory.journal()[-1].id
    workspace.memory.pin(atom.id)
    workspace.memory.undo(wrong)
    result = workspace.memory.get(atom.id)
    assert (result.content, result.pinned) == ("Ann drinks tea.", True)


def test_undo_is_refused_with_the_list_of_later_commits(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    for drink in ("rum", "ale", "gin"):
        workspace.memory.revise(atom.id, f"Ann drinks {drink}.", reason="heard so")
    first = workspace.memory.journal()[1]
    with pytest.raises(UndoRefused) as refused:
        workspace.memory.undo(first.id)
    assert refused.value.later == tuple(entry.id for entry in workspace.memory.journal()[2:])
    assert workspace.memory.get(atom.id).content == "Ann drinks gin."


def test_undo_is_allowed_again_when_the_value_was_restored(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.memory.revise(atom.id, "Ann drinks rum.", reason="heard so")
    first = workspace.memory.journal()[-1].id
    workspace.memory.revise(atom.id, "Ann drinks ale.", reason="heard so")
    workspace.memory.undo()
    workspace.memory.undo(first)
    assert workspace.memory.get(atom.id).content == "Ann drinks tea."


def test_cascade_undoes_later_commits_newest_first(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    for drink in ("rum", "ale", "gin"):
        workspace.memory.revise(atom.id, f"Ann drinks {drink}.", reason="heard so")
    workspace.memory.pin(atom.id)
    receipt = workspace.memory.undo(workspace.memory.journal()[1].id, cascade=True)
    assert [item.atoms[0].content for item in receipt] == ["Ann drinks ale.", "Ann drinks rum.", "Ann drinks tea."]
    result = workspace.memory.get(atom.id)
    assert (result.content, result.pinned) == ("Ann drinks tea.", True)


def test_an_atom_that_was_changed_since_is_undone_only_by_cascade(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    atom_id = workspace.memory.journal()[-1].id
    workspace.memory.pin(atom.id)
    with pytest.raises(UndoRefused):
        workspace.memory.undo(atom_id)
    workspace.memory.undo(atom_id, cascade=True)
    result = workspace.memory.get(atom.id)
    assert (result.status, result.pinned) == (Status.TOMBSTONED, False)


def test_undoing_a_successor_restores_the_old_value(workspace: VaultWorkspace) -> None:
    old = workspace.remember("Prefers tea.", kind="preference", subject="drinks", attribute="favourite")
    new = workspace.remember("Prefers rum.", kind="preference", subject="drinks", attribute="favourite")
    workspace.memory.undo()
    atom = workspace.memory.get(old.id)
    assert (atom.status, atom.valid_until, atom.superseded_by) == (Status.ACTIVE, None, ())
    assert workspace.memory.get(new.id).status is Status.TOMBSTONED
    assert workspace.texts("prefers") == ["Prefers tea."]


def test_undo_that_would_give_a_claim_two_values_is_refused_and_changes_nothing(workspace: VaultWorkspace) -> None:
    old = workspace.remember("Prefers tea.", kind="preference", subject="drinks", attribute="favourite")
    workspace.memory.forget(old.id, "no longer")
    forgotten = workspace.memory.journal()[-1].id
    workspace.remember("Prefers rum.", kind="preference", subject="drinks", attribute="favourite")
    with pytest.raises(ClaimTaken):
        workspace.memory.undo(forgotten)
    assert workspace.memory.get(old.id).status is Status.TOMBSTONED
    assert len(workspace.memory.journal()) == 3


def test_a_cascade_that_breaks_a_rule_changes_nothing(workspace: VaultWorkspace) -> None:
    old = workspace.remember("Prefers tea.", kind="preference", subject="drinks", attribute="favourite")
    workspace.edit(old, "subject: drinks", "subject: drinks\nstatus: archived\ntags: [home]")
    workspace.memory.upkeep.sync()
    edited = workspace.memory.journal()[-1].id
    workspace.memory.revise(old.id, reason="elsewhere", tags=("work",))
    workspace.remember("Prefers rum.", kind="preference", subject="drinks", attribute="favourite")
    before = workspace.memory.journal()
    with pytest.raises(ClaimTaken):
        workspace.memory.undo(edited, cascade=True)
    assert workspace.memory.journal() == before
    assert workspace.memory.get(old.id).tags == ("work",)


def test_a_persons_edit_and_deletion_can_be_undone(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    file = workspace.edit(atom, "tea", "rum")
    workspace.memory.undo()
    assert "Ann drinks tea." in file.read_text()
    words = file.read_bytes()
    file.unlink()
    workspace.memory.undo()
    assert workspace.memory.get(atom.id).status is Status.ACTIVE
    assert file.read_bytes() == words


def test_undo_of_many_statements_is_one_commit(workspace: VaultWorkspace) -> None:
    workspace.memory.remember_many([{"content": f"Fact number {n}."} for n in range(5)])
    (result,) = workspace.memory.undo()
    assert {atom.status for atom in result.atoms} == {Status.TOMBSTONED}
    assert len(workspace.memory.journal()) == 2


def test_undo_sees_only_commits_of_its_own_scopes(workspace: VaultWorkspace) -> None:
    acme = workspace.open("org:acme")
    acme.remember("Acme drinks tea.")
    with pytest.raises(NotFound):
        workspace.memory.undo()
    with pytest.raises(NotFound):
        workspace.memory.undo(acme.journal()[0].id)
