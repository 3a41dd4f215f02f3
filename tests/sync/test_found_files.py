"""Files nobody wrote through us: dropped notes, seed shapes, conflict copies, copies, and things that are no notes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from desk import Desk
from lamina import Atom, RelationName, Status

CONFLICT_NAMES = (
    "{}.sync-conflict-20261114-091200-ABCDEFG.md",
    "{} (Ann's conflicted copy 2026-11-14).md",
    "{} (conflicted copy).md",
    "{} (Case Conflict).md",
    "{} (conflicted copy 2026-11-14 091200).md",
    "{}_conflict-20261114-091200.md",
    "{} (SFConflict ann@example.org 2026-11-14-09-12-00).md",
    "{}.Conflict.md",
    "{} [conflicted].md",
    "{}.conflict1.md",
    "{}_LOCAL_4711.md",
    "{} 2.md",
    "{} (1).md",
    "{} copy.md",
    "{}-LAPTOP-7.md",
    "{}~.md",
)


def test_a_file_without_an_id_becomes_an_atom_and_its_body_is_kept_byte_for_byte(desk: Desk) -> None:
    bodies = ("Plain.\n", "No end of line", "\n\n  Indented\n\n\n", "# Head\r\n\r\ntext\r\n", "ünï\n")
    for number, body in enumerate(bodies):
        file = desk.drop(f"atoms/note {number}.md", body.encode())
        assert desk.memory.sync().adopted == [f"atoms/note {number}.md"]
        atom = desk.found(file)
        assert f"id: {atom.id}" in file.read_text()
        assert file.read_bytes().endswith(body.encode())
        assert atom.content == body.strip("\r\n").replace("\r\n", "\n")


def test_a_file_with_fields_but_no_id_keeps_its_lines_and_gets_one(desk: Desk) -> None:
    file = desk.drop("atoms/mine.md", "---\n# my own\nkind: decision\nmood: good # really\n---\nWe use SQLite.\n")
    desk.memory.sync()
    atom = desk.found(file)
    assert (atom.kind, atom.content, atom.layer.value) == ("decision", "We use SQLite.", "procedural")
    text = file.read_text()
    assert "# my own\n" in text
    assert "mood: good # really\n" in text
    assert text.endswith("---\nWe use SQLite.\n")


def test_a_file_with_an_unknown_id_of_ours_keeps_it(desk: Desk) -> None:
    file = desk.drop("atoms/mine.md", "---\nid: 01m7cmhxm15cbkgvh1h5qmvbm6\nkind: fact\n---\n\nWe use SQLite.\n")
    desk.memory.sync()
    assert desk.found(file).id == "01m7cmhxm15cbkgvh1h5qmvbm6"


def test_notes_outside_atoms_are_left_alone_unless_they_have_an_id(desk: Desk) -> None:
    note = desk.drop("diary/today.md", "Dear diary.\n")
    desk.memory.sync()
    assert note.read_text() == "Dear diary.\n"
    assert desk.memory.list(status=None) == []


def test_a_file_claims_no_more_trust_than_a_person_has_and_keeps_less(desk: Desk) -> None:
    file = desk.drop("atoms/web.md", "---\norigin: web\n---\n\nSeen on the web.\n")
    desk.memory.sync()
    assert desk.found(file).origin == "web"


def test_a_new_file_that_contradicts_what_stands_is_taken_in_as_challenged(desk: Desk) -> None:
    desk.remember("Prefers tea.", kind="preference", subject="drinks")
    file = desk.drop("atoms/mine.md", "---\nkind: preference\nsubject: drinks\n---\n\nPrefers milk.\n")
    desk.memory.sync()
    assert desk.found(file).status is Status.CHALLENGED
    assert [problem.path for problem in desk.problems("challenged")] == ["atoms/mine.md"]


def test_a_file_without_words_waits_until_it_has_some(desk: Desk) -> None:
    file = desk.drop("atoms/mine.md", "---\nkind: fact\n---\n")
    assert desk.memory.sync().unreadable == ["atoms/mine.md"]
    file.write_text("---\nkind: fact\n---\n\nNow it has.\n")
    desk.memory.sync()
    assert desk.found(file).content == "Now it has."
    assert desk.memory.doctor().healthy


def test_of_two_files_with_one_id_the_known_path_wins_and_the_other_is_reported(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    copy = desk.drop("atoms/aaa.md", desk.file(atom).read_text().replace("tea", "milk"))
    desk.memory.sync()
    (problem,) = desk.problems("duplicate-id")
    assert (problem.path, problem.line) == ("atoms/aaa.md", 2)
    assert desk.memory.get(atom.id).content == "Ann drinks tea."
    assert len(desk.memory.list(status=None)) == 1
    copy.write_text(copy.read_text().replace(f"id: {atom.id}\n", ""))
    desk.memory.sync()
    assert desk.found(copy).content == "Ann drinks milk."
    assert desk.problems("duplicate-id") == []


def test_of_two_unknown_files_with_one_id_the_one_named_after_it_wins(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    file = desk.file(atom)
    desk.drop("atoms/aaa.md", file.read_text().replace("tea", "milk"))
    desk.close()
    for name in ("history.db", "history.db-wal", "history.db-shm"):
        (desk.root / ".lamina" / name).unlink(missing_ok=True)
    desk.reopen()
    assert desk.memory.get(atom.id).content == "Ann drinks tea."
    assert [problem.path for problem in desk.problems("duplicate-id")] == ["atoms/aaa.md"]


def test_a_copy_takes_over_when_the_file_it_was_copied_from_is_deleted(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    copy = desk.drop("atoms/aaa.md", desk.file(atom).read_text().replace("tea", "milk"))
    desk.sync_settled()
    desk.file(atom).unlink()
    desk.memory.sync()
    found = desk.memory.get(atom.id)
    assert (found.status, found.content, desk.file(atom)) == (Status.ACTIVE, "Ann drinks milk.", copy)
    assert desk.memory.doctor().healthy


@pytest.mark.parametrize("name", CONFLICT_NAMES)
def test_conflict_copies_are_reported_and_never_become_atoms(desk: Desk, name: str) -> None:
    atom = desk.remember("Ann drinks tea.")
    original = desk.file(atom)
    copy = original.with_name(name.format(original.stem))
    copy.write_text(original.read_text().replace("tea", "milk"))
    kept = copy.read_bytes()
    for _ in range(2):
        desk.reopen()
        assert [each.id for each in desk.memory.list(status=None)] == [atom.id]
        assert desk.memory.get(atom.id).content == "Ann drinks tea."
        assert [problem.path for problem in desk.problems("conflict-copy")] == [copy.relative_to(desk.root).as_posix()]
    assert copy.read_bytes() == kept
    copy.unlink()
    assert desk.problems("conflict-copy") == []


def test_links_pipes_folders_and_giants_do_not_break_anything(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("A secret.\n")
    atoms = desk.root / "atoms"
    (atoms / "link.md").symlink_to(outside / "secret.md")
    (atoms / "folder link").symlink_to(outside, target_is_directory=True)
    (atoms / "loop.md").symlink_to(atoms / "loop.md")
    os.mkfifo(atoms / "pipe.md")
    (atoms / "folder.md").mkdir()
    (atoms / "giant.md").write_bytes(b"x" * (2 << 20))
    (atoms / "line\nbreak.md").write_text("A strange name.\n")
    good = desk.drop("atoms/good.md", "A good note.\n")
    report = desk.memory.sync()
    assert report.adopted == ["atoms/good.md"]
    assert sorted(report.unreadable) == ["atoms/giant.md", "atoms/line\nbreak.md"]
    assert desk.found(good).content == "A good note."
    assert desk.texts("secret") == []
    assert (outside / "secret.md").read_text() == "A secret.\n"
    (atoms / "giant.md").unlink()
    (atoms / "line\nbreak.md").unlink()
    assert desk.memory.doctor().healthy


def test_a_giant_that_shrinks_becomes_an_atom(desk: Desk) -> None:
    giant = desk.drop("atoms/giant.md", b"x" * (2 << 20))
    desk.memory.sync()
    giant.write_text("Small again.\n")
    desk.memory.sync()
    assert desk.found(giant).content == "Small again."
    assert desk.memory.doctor().healthy


def test_a_known_file_that_became_a_giant_keeps_its_words_and_holds_up_nobody(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    file = desk.file(atom)
    words = file.read_bytes()
    file.write_bytes(words + b"x" * (2 << 20))
    desk.memory.sync()
    assert desk.memory.get(atom.id).content == "Ann drinks tea."
    desk.memory.pin(atom.id)
    assert desk.file(desk.remember("Another fact.")).exists()
    assert [problem.kind for problem in desk.memory.doctor().problems if problem.atom_id == atom.id] == [
        "blocked",
        "unreadable",
    ]
    file.write_bytes(words)
    desk.memory.sync()
    assert b"pinned: true" in file.read_bytes()
    assert desk.memory.doctor().healthy


def test_a_link_in_the_place_of_a_file_holds_up_nobody(desk: Desk, tmp_path: Path) -> None:
    atom = desk.remember("Ann drinks tea.")
    file = desk.file(atom)
    file.unlink()
    desk.memory.sync()
    file.symlink_to(tmp_path / "nowhere")
    desk.memory.update_status(atom.id, "active", "bring it back")
    assert desk.file(desk.remember("Another fact.")).exists()
    assert [problem.kind for problem in desk.memory.doctor().problems] == ["blocked"]
    file.unlink()
    desk.memory.sync()
    assert "Ann drinks tea." in file.read_text()
    assert desk.memory.doctor().healthy


def test_the_seeds_own_files_are_adopted_and_their_links_resolved(desk: Desk) -> None:
    old = desk.drop("atoms/2026-01-01/old.md", _seed("0123456789ab", "Uses MySQL.", "is_superseded: true\n"))
    new = desk.drop(
        "atoms/2026-01-02/new.md",
        _seed("ba9876543210", "Uses SQLite.", 'supersedes: "0123456789ab"\nrelations: ["supports [[0123456789ab]]"]\n'),
    )
    desk.memory.sync()
    first, second = desk.found(old), desk.found(new)
    assert (first.source_ref, second.source_ref) == ("0123456789ab", "ba9876543210")
    assert (first.status, second.status) == (Status.SUPERSEDED, Status.ACTIVE)
    assert second.supersedes == (first.id,)
    assert [(relation.name, relation.target) for relation in second.relations] == [(RelationName.SUPPORTS, first.id)]
    assert (second.session_id, second.layer.value) == ("chat-1", "episodic")
    assert "source_ref: ba9876543210\n" in new.read_text()
    assert desk.memory.doctor().healthy


def test_a_seed_file_that_comes_later_is_linked_to_what_is_there(desk: Desk) -> None:
    old = desk.drop("atoms/old.md", _seed("0123456789ab", "Uses MySQL."))
    desk.memory.sync()
    new = desk.drop("atoms/new.md", _seed("ba9876543210", "Uses SQLite.", 'supersedes: "0123456789ab"\n'))
    desk.memory.sync()
    assert desk.found(new).supersedes == (desk.found(old).id,)


def _seed(name: str, text: str, more: str = "") -> str:
    return (
        f"---\natom_id: {name}\nkind: fact\nsubject: database\ntier: stm\n{more}provenance:\n"
        f"  session_id: chat-1\n  observed_at: 2026-01-01T10:00:00Z\n---\n\n{text}\n"
    )


def test_files_of_every_scope_are_found_in_their_folders(desk: Desk) -> None:
    desk.drop("scopes/acme/atoms/a.md", "Acme drinks tea.\n")
    desk.drop("scopes/local/agents/cto/atoms/b.md", "The CTO drinks tea.\n")
    desk.drop("scopes/Acme/atoms/c.md", "---\nid: 01m7cmhxm15cbkgvh1h5qmvbm6\n---\n\nNo scope has this name.\n")
    desk.memory.sync()
    acme, cto = desk.open("org:acme"), desk.open("org:local:agent:cto")
    assert _contents(acme.list()) == ["Acme drinks tea."]
    assert _contents(cto.list()) == ["The CTO drinks tea."]
    assert desk.memory.list() == []
    assert [problem.path for problem in desk.memory.doctor().problems] == ["scopes/Acme/atoms/c.md"]


def _contents(atoms: list[Atom]) -> list[str]:
    return [atom.content for atom in atoms]
