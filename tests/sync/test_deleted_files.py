"""Deleted files tombstone their atoms; when many vanish at once it may be a mishap, and everything is held."""

from __future__ import annotations

from desk import Desk
from lamina import Atom, Status


def _many(desk: Desk, count: int) -> list[Atom]:
    desk.tick()
    receipt = desk.memory.remember_many([{"content": f"Fact number {n}."} for n in range(count)])
    return [outcome.atom for outcome in receipt.outcomes]


def test_a_deleted_file_tombstones_its_atom_and_keeps_its_text(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.file(atom).unlink()
    assert len(desk.memory.sync().deleted) == 1
    found = desk.memory.get(atom.id)
    assert (found.status, found.content) == (Status.TOMBSTONED, "Ann drinks tea.")
    assert desk.texts("tea") == []
    assert desk.memory.path_of(atom.id) is None
    assert desk.memory.journal()[-1].actor == "human"


def test_a_deleted_file_is_noticed_by_the_recall_that_would_show_it(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.file(atom).unlink()
    assert desk.texts("tea") == []


def test_a_deleted_file_of_a_superseded_atom_changes_no_status(desk: Desk) -> None:
    old = desk.remember("Prefers tea.", kind="preference", subject="drinks")
    desk.remember("Prefers milk.", kind="preference", subject="drinks")
    desk.file(old).unlink()
    desk.memory.sync()
    assert desk.memory.get(old.id).status is Status.SUPERSEDED
    assert not desk.memory.sync().has_changes


def test_a_file_that_comes_back_takes_its_deletion_back(desk: Desk) -> None:
    for status in ("active", "challenged", "archived"):
        atom = desk.remember(f"A fact that is {status}.")
        if status != "active":
            desk.memory.update_status(atom.id, status, "for the test")
        file = desk.file(atom)
        words = file.read_bytes()
        file.unlink()
        desk.memory.sync()
        assert desk.memory.get(atom.id).status is Status.TOMBSTONED
        file.write_bytes(words)
        desk.memory.sync()
        assert desk.memory.get(atom.id).status is Status(status)
        assert file.read_bytes() == words


def test_a_file_that_comes_back_elsewhere_and_edited_is_the_same_atom(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    words = desk.file(atom).read_text()
    desk.file(atom).unlink()
    desk.memory.sync()
    desk.drop("atoms/back.md", words.replace("tea", "coffee"))
    desk.memory.sync()
    found = desk.memory.get(atom.id)
    assert (found.status, found.content) == (Status.ACTIVE, "Ann drinks coffee.")


def test_a_file_that_comes_back_elsewhere_says_what_happened_to_its_atom_meanwhile(desk: Desk) -> None:
    old = desk.remember("Drinks tea", kind="preference", subject="drinks")
    new = desk.remember("Drinks coffee", kind="preference", subject="drinks")
    file = desk.file(old)
    data = file.read_bytes()
    file.unlink()
    desk.memory.sync()
    desk.memory.relate(old.id, "depends_on", new.id, 0.25)
    back = desk.drop("atoms/mine/tea.md", data)
    desk.memory.sync()
    assert b"depends_on" in back.read_bytes()
    assert [relation.target for relation in desk.memory.get(old.id).relations] == [new.id]


def test_what_a_person_forgot_stays_forgotten_when_its_file_is_only_edited(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.memory.forget(atom.id, "enough")
    desk.edit(atom, "tea", "coffee")
    desk.memory.sync()
    assert desk.memory.get(atom.id).status is Status.TOMBSTONED


def test_restoring_a_deleted_atom_writes_its_file_again(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    file = desk.file(atom)
    words = file.read_bytes()
    file.unlink()
    desk.memory.sync()
    desk.memory.update_status(atom.id, "active", "it was a mistake")
    assert file.read_bytes() == words


def test_restoring_an_atom_whose_place_was_taken_leaves_the_new_file_alone(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    file = desk.file(atom)
    file.unlink()
    desk.memory.sync()
    file.write_text("Something else.\n")
    desk.memory.update_status(atom.id, "active", "it was a mistake")
    assert desk.memory.get(atom.id).content == "Ann drinks tea."
    assert desk.file(atom) != file
    assert desk.found(file).content == "Something else."


def test_many_files_gone_at_once_are_held_until_a_person_says_so(desk: Desk) -> None:
    atoms = _many(desk, 40)
    for atom in atoms[:21]:
        desk.file(atom).unlink()
    report = desk.memory.sync()
    assert (len(report.held), report.deleted) == (21, [])
    assert all(atom.status is Status.ACTIVE for atom in desk.memory.list(status=None))
    (problem,) = desk.problems("held-deletions")
    assert "21 of 40" in problem.message
    assert "--accept-deletions" in problem.message
    assert len(desk.memory.sync(accept_deletions=True).deleted) == 21
    assert desk.problems("held-deletions") == []
    assert len(desk.memory.list(status="tombstoned")) == 21


def test_twenty_files_gone_at_once_are_an_ordinary_deletion(desk: Desk) -> None:
    for atom in _many(desk, 40)[:20]:
        desk.file(atom).unlink()
    assert len(desk.memory.sync().deleted) == 20


def test_more_than_twenty_files_but_not_five_percent_are_an_ordinary_deletion(desk: Desk) -> None:
    for atom in _many(desk, 440)[:22]:
        desk.file(atom).unlink()
    assert len(desk.memory.sync().deleted) == 22


def test_files_that_come_back_clear_the_hold(desk: Desk) -> None:
    atoms = _many(desk, 30)
    kept = {desk.file(atom): desk.file(atom).read_bytes() for atom in atoms}
    for file in kept:
        file.unlink()
    desk.memory.sync()
    assert desk.problems("held-deletions")
    for file, words in kept.items():
        file.write_bytes(words)
    desk.memory.sync()
    assert desk.problems("held-deletions") == []
    assert {atom.status for atom in desk.memory.list(status=None)} == {Status.ACTIVE}
    assert len(desk.memory.journal()) == 1


def test_a_held_atom_can_still_be_changed_and_its_file_follows_when_it_is_back(desk: Desk) -> None:
    atoms = _many(desk, 30)
    kept = {desk.file(atom): desk.file(atom).read_bytes() for atom in atoms}
    for file in kept:
        file.unlink()
    desk.memory.sync()
    desk.memory.revise(atoms[0].id, "Another fact.", reason="changed meanwhile")
    desk.remember("A new fact.")
    for file, words in kept.items():
        file.write_bytes(words)
    desk.memory.sync()
    assert desk.memory.get(atoms[0].id).content == "Another fact."
    assert "Another fact." in desk.file(atoms[0]).read_text()
    assert desk.memory.doctor().healthy


def test_nothing_is_forgotten_while_the_vaults_marker_is_missing(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    marker, file = desk.root / ".lamina/vault.toml", desk.file(atom)
    signed, words = marker.read_bytes(), file.read_bytes()
    marker.unlink()
    file.unlink()
    assert desk.memory.sync().deleted == []
    assert desk.memory.get(atom.id).status is Status.ACTIVE
    (problem,) = desk.problems("held-deletions")
    assert "vault.toml" in problem.message
    marker.write_bytes(signed)
    file.write_bytes(words)
    desk.memory.sync()
    assert desk.problems("held-deletions") == []


def test_a_session_whose_file_was_deleted_goes_on_in_a_new_one(desk: Desk) -> None:
    said = desk.memory.capture([{"speaker": "Ann", "content": "I drink tea."}], session_id="s").atom
    desk.file(said).unlink()
    desk.memory.sync()
    desk.tick()
    more = desk.memory.capture([{"speaker": "Ann", "content": "And coffee."}], session_id="s").atom
    assert more.id != said.id
    assert desk.texts("tea coffee") == ["And coffee."]
