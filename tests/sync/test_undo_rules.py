"""Undo is allowed while everything a commit set still has the value it set; else it says what is in the way."""

from __future__ import annotations

import pytest

from desk import Desk
from lamina import ClaimTaken, NotFound, Status, UndoRefused


def test_undo_takes_the_last_commit_back(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.memory.revise(atom.id, "Ann drinks rum.", reason="heard so")
    (done,) = desk.memory.undo()
    assert done.atoms[0].content == "Ann drinks tea."
    assert "Ann drinks tea." in desk.file(atom).read_text()
    assert desk.memory.journal()[-1].undoes == desk.memory.journal()[-2].id


def test_undoing_a_new_atom_tombstones_it_and_keeps_its_text(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.memory.undo()
    found = desk.memory.get(atom.id)
    assert (found.status, found.content) == (Status.TOMBSTONED, "Ann drinks tea.")
    assert desk.texts("tea") == []


def test_undo_after_undo_goes_further_back(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.memory.revise(atom.id, "Ann drinks rum.", reason="heard so")
    desk.memory.undo()
    desk.memory.undo()
    assert desk.memory.get(atom.id).status is Status.TOMBSTONED
    with pytest.raises(NotFound, match="nothing to undo"):
        desk.memory.undo()


def test_an_undo_can_be_undone_and_done_again(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.memory.revise(atom.id, "Ann drinks rum.", reason="heard so")
    (undone,) = desk.memory.undo()
    desk.memory.undo(undone.id)
    assert desk.memory.get(atom.id).content == "Ann drinks rum."
    desk.memory.undo()
    assert desk.memory.get(atom.id).content == "Ann drinks tea."


def test_later_changes_of_other_fields_do_not_stand_in_the_way(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.memory.revise(atom.id, "Ann drinks rum.", reason="heard so")
    wrong = desk.memory.journal()[-1].id
    desk.memory.pin(atom.id)
    desk.memory.undo(wrong)
    found = desk.memory.get(atom.id)
    assert (found.content, found.pinned) == ("Ann drinks tea.", True)


def test_undo_is_refused_with_the_list_of_what_was_built_on_it(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    for drink in ("rum", "ale", "gin"):
        desk.memory.revise(atom.id, f"Ann drinks {drink}.", reason="heard so")
    first = desk.memory.journal()[1]
    with pytest.raises(UndoRefused) as refused:
        desk.memory.undo(first.id)
    assert refused.value.later == tuple(entry.id for entry in desk.memory.journal()[2:])
    assert desk.memory.get(atom.id).content == "Ann drinks gin."


def test_undo_is_allowed_again_when_the_value_came_back(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.memory.revise(atom.id, "Ann drinks rum.", reason="heard so")
    first = desk.memory.journal()[-1].id
    desk.memory.revise(atom.id, "Ann drinks ale.", reason="heard so")
    desk.memory.undo()
    desk.memory.undo(first)
    assert desk.memory.get(atom.id).content == "Ann drinks tea."


def test_cascade_undoes_what_was_built_on_it_newest_first(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    for drink in ("rum", "ale", "gin"):
        desk.memory.revise(atom.id, f"Ann drinks {drink}.", reason="heard so")
    desk.memory.pin(atom.id)
    done = desk.memory.undo(desk.memory.journal()[1].id, cascade=True)
    assert [each.atoms[0].content for each in done] == ["Ann drinks ale.", "Ann drinks rum.", "Ann drinks tea."]
    found = desk.memory.get(atom.id)
    assert (found.content, found.pinned) == ("Ann drinks tea.", True)


def test_a_new_atom_that_was_changed_since_is_undone_only_by_cascade(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    made = desk.memory.journal()[-1].id
    desk.memory.pin(atom.id)
    with pytest.raises(UndoRefused):
        desk.memory.undo(made)
    desk.memory.undo(made, cascade=True)
    found = desk.memory.get(atom.id)
    assert (found.status, found.pinned) == (Status.TOMBSTONED, False)


def test_undoing_a_successor_brings_the_old_value_back(desk: Desk) -> None:
    old = desk.remember("Prefers tea.", kind="preference", subject="drinks")
    new = desk.remember("Prefers rum.", kind="preference", subject="drinks")
    desk.memory.undo()
    found = desk.memory.get(old.id)
    assert (found.status, found.valid_until, found.superseded_by) == (Status.ACTIVE, None, ())
    assert desk.memory.get(new.id).status is Status.TOMBSTONED
    assert desk.texts("prefers") == ["Prefers tea."]


def test_undo_that_would_give_a_claim_two_values_is_refused_and_changes_nothing(desk: Desk) -> None:
    old = desk.remember("Prefers tea.", kind="preference", subject="drinks")
    desk.memory.forget(old.id, "no longer")
    forgotten = desk.memory.journal()[-1].id
    desk.remember("Prefers rum.", kind="preference", subject="drinks")
    with pytest.raises(ClaimTaken):
        desk.memory.undo(forgotten)
    assert desk.memory.get(old.id).status is Status.TOMBSTONED
    assert len(desk.memory.journal()) == 3


def test_a_cascade_that_breaks_a_rule_changes_nothing(desk: Desk) -> None:
    old = desk.remember("Prefers tea.", kind="preference", subject="drinks")
    desk.edit(old, "subject: drinks", "subject: drinks\nstatus: archived\ntags: [home]")
    desk.memory.sync()
    edited = desk.memory.journal()[-1].id
    desk.memory.revise(old.id, reason="elsewhere", tags=("work",))
    desk.remember("Prefers rum.", kind="preference", subject="drinks")
    before = desk.memory.journal()
    with pytest.raises(ClaimTaken):
        desk.memory.undo(edited, cascade=True)
    assert desk.memory.journal() == before
    assert desk.memory.get(old.id).tags == ("work",)


def test_a_persons_edit_and_deletion_can_be_undone(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    file = desk.edit(atom, "tea", "rum")
    desk.memory.undo()
    assert "Ann drinks tea." in file.read_text()
    words = file.read_bytes()
    file.unlink()
    desk.memory.undo()
    assert desk.memory.get(atom.id).status is Status.ACTIVE
    assert file.read_bytes() == words


def test_undo_of_many_statements_is_one_commit(desk: Desk) -> None:
    desk.memory.remember_many([{"content": f"Fact number {n}."} for n in range(5)])
    (done,) = desk.memory.undo()
    assert {atom.status for atom in done.atoms} == {Status.TOMBSTONED}
    assert len(desk.memory.journal()) == 2


def test_undo_sees_only_commits_of_its_own_scopes(desk: Desk) -> None:
    acme = desk.open("org:acme")
    acme.remember("Acme drinks tea.")
    with pytest.raises(NotFound):
        desk.memory.undo()
    with pytest.raises(NotFound):
        desk.memory.undo(acme.journal()[0].id)
