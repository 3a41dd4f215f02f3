"""Files nobody wrote through us: dropped notes, seed shapes, conflict copies, copies, and things that are no notes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lamina import Atom, RelationName, Status
from vault_workspace import VaultWorkspace

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


def test_a_file_without_an_id_becomes_an_atom_and_its_body_stays_byte_identical(workspace: VaultWorkspace) -> None:
    bodies = ("Plain.\n", "No end of line", "\n\n  Indented\n\n\n", "# Head\r\n\r\ntext\r\n", "ünï\n")
    for number, body in enumerate(bodies):
        file = workspace.drop(f"atoms/note {number}.md", body.encode())
        assert workspace.memory.upkeep.sync().adopted == [f"atoms/note {number}.md"]
        atom = workspace.atom_of(file)
        assert f"id: {atom.id}" in file.read_text()
        assert file.read_bytes().endswith(body.encode())
        assert atom.content == body.strip("\r\n").replace("\r\n", "\n")


def test_a_file_with_fields_but_no_id_keeps_its_lines_and_gets_one(workspace: VaultWorkspace) -> None:
    file = workspace.drop("atoms/mine.md", "---\n# my own\nkind: decision\nmood: good # really\n---\nWe use SQLite.\n")
    workspace.memory.upkeep.sync()
    atom = workspace.atom_of(file)
    assert (atom.kind, atom.content, atom.layer.value) == ("decision", "We use SQLite.", "procedural")
    text = file.read_text()
    assert "# my own\n" in text
    assert "mood: good # really\n" in text
    assert text.endswith("---\nWe use SQLite.\n")


def test_a_file_with_an_unknown_valid_id_keeps_it(workspace: VaultWorkspace) -> None:
    file = workspace.drop("atoms/mine.md", "---\nid: 01m7cmhxm15cbkgvh1h5qmvbm6\nkind: fact\n---\n\nWe use SQLite.\n")
    workspace.memory.upkeep.sync()
    assert workspace.atom_of(file).id == "01m7cmhxm15cbkgvh1h5qmvbm6"


def test_notes_outside_atoms_are_left_alone_unless_they_have_an_id(workspace: VaultWorkspace) -> None:
    note = workspace.drop("diary/today.md", "Dear diary.\n")
    workspace.memory.upkeep.sync()
    assert note.read_text() == "Dear diary.\n"
    assert workspace.memory.list(status=None) == []


def test_a_file_claims_at_most_human_trust_and_may_claim_less(workspace: VaultWorkspace) -> None:
    file = workspace.drop("atoms/web.md", "---\norigin: web\n---\n\nSeen on the web.\n")
    workspace.memory.upkeep.sync()
    assert workspace.atom_of(file).origin == "web"


CLAIM = "kind: preference\nsubject: drinks\nattribute: favourite"


def claim_file(value: str, observed_at: str) -> str:
    return f"---\n{CLAIM}\nvalue: {value}\nobserved_at: {observed_at}\n---\n\nPrefers {value}.\n"


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_new_files_with_one_claim_the_newer_supersedes(workspace: VaultWorkspace, order: int) -> None:
    values = {"atoms/a.md": ("tea", "2026-03-01T09:00:00Z"), "atoms/b.md": ("milk", "2026-05-01T09:00:00Z")}
    contents = list(values.values())[::order]
    files = [workspace.drop(path, claim_file(*text)) for path, text in zip(values, contents, strict=True)]
    assert sorted(workspace.memory.upkeep.sync().adopted) == sorted(values)
    old, new = (workspace.atom_of(file) for file in files[::order])
    assert (old.status, old.superseded_by, old.valid_until) == (Status.SUPERSEDED, (new.id,), new.observed_at)
    assert (new.status, new.supersedes) == (Status.ACTIVE, (old.id,))
    assert workspace.texts("favourite drinks") == ["Prefers milk."]
    assert workspace.memory.upkeep.doctor().healthy
    assert "status: superseded" in workspace.file(old).read_text()


def test_a_newer_file_supersedes_a_stored_value_and_undo_brings_it_back(workspace: VaultWorkspace) -> None:
    old = workspace.remember("Prefers tea.", kind="preference", subject="drinks", attribute="favourite", value="tea")
    workspace.drop("atoms/mine.md", claim_file("milk", "2026-11-15T09:00:00Z"))
    workspace.tick(days=2)
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(old.id).status is Status.SUPERSEDED
    workspace.memory.undo()
    assert workspace.memory.get(old.id).status is Status.ACTIVE


def test_an_older_file_becomes_history_of_the_stored_value(workspace: VaultWorkspace) -> None:
    stored = workspace.remember("Prefers tea.", kind="preference", subject="drinks", attribute="favourite", value="tea")
    file = workspace.drop("atoms/mine.md", claim_file("milk", "2026-05-01T09:00:00Z"))
    workspace.memory.upkeep.sync()
    older = workspace.atom_of(file)
    assert (older.status, older.superseded_by) == (Status.SUPERSEDED, (stored.id,))
    assert workspace.memory.get(stored.id).status is Status.ACTIVE


def test_a_file_with_another_value_of_the_same_time_is_a_pair_in_review(workspace: VaultWorkspace) -> None:
    stored = workspace.remember("Prefers tea.", kind="preference", subject="drinks", attribute="favourite", value="tea")
    at = stored.observed_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    file = workspace.drop("atoms/mine.md", claim_file("milk", at))
    workspace.memory.upkeep.sync()
    challenged = workspace.atom_of(file)
    assert challenged.status is Status.CHALLENGED
    (pair,) = workspace.memory.review.pairs()
    assert {pair.a.id, pair.b.id} == {stored.id, challenged.id}


def test_a_newer_file_with_the_same_value_continues_it_in_its_own_words(workspace: VaultWorkspace) -> None:
    stored = workspace.remember("Prefers tea.", kind="preference", subject="drinks", attribute="favourite", value="tea")
    text = claim_file("tea", "2026-11-15T09:00:00Z").replace("Prefers tea.", "Always takes tea, with lemon.")
    file = workspace.drop("atoms/mine.md", text)
    same = workspace.drop("atoms/same.md", claim_file("tea", "2026-11-13T09:00:00Z"))
    workspace.tick(days=2)
    workspace.memory.upkeep.sync()
    assert workspace.atom_of(file).status is Status.ACTIVE
    assert workspace.memory.get(stored.id).superseded_by == (workspace.atom_of(file).id,)
    assert workspace.atom_of(same).status is Status.MERGED
    assert workspace.memory.upkeep.doctor(deep=True).healthy


def topic_file(text: str, day: int) -> str:
    return f"---\nkind: preference\nsubject: coffee\nobserved_at: 2026-05-{day:02}T09:00:00Z\n---\n\n{text}\n"


def test_without_an_attribute_a_newer_file_that_surely_replaces_one_supersedes(
    workspace: VaultWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_EXTRACTOR", "auto")
    workspace.reopen()
    newer = workspace.drop("atoms/a.md", topic_file("Ann drinks Light Roast coffee.", 20))
    older = workspace.drop("atoms/b.md", topic_file("Ann drinks Dark Roast coffee.", 1))
    workspace.memory.upkeep.sync()
    assert workspace.atom_of(older).superseded_by == (workspace.atom_of(newer).id,)
    assert workspace.atom_of(newer).status is Status.ACTIVE


def test_without_an_attribute_and_a_model_files_worded_alike_are_a_pair_and_others_none(
    workspace: VaultWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_STATE_MODEL", "off")
    workspace.reopen()
    older = workspace.drop("atoms/a.md", topic_file("Prefers a dark roast.", 1))
    newer = workspace.drop("atoms/b.md", topic_file("Prefers a light roast.", 20))
    other = workspace.drop("atoms/c.md", topic_file("Never drinks any of it after lunch.", 21))
    workspace.memory.upkeep.sync()
    atoms = [workspace.atom_of(file) for file in (older, newer, other)]
    assert [atom.status for atom in atoms] == [Status.ACTIVE] * 3
    (pair,) = workspace.memory.review.pairs()
    assert (pair.a.id, pair.b.id) == (atoms[0].id, atoms[1].id)


def test_files_of_a_vault_without_its_journal_are_not_compared_again(workspace: VaultWorkspace) -> None:
    workspace.drop("atoms/a.md", topic_file("Ann drinks Dark Roast coffee.", 1))
    workspace.memory.upkeep.sync()
    workspace.remember("Ann drinks it with milk, always.", kind="preference", subject="coffee")
    before = {atom.id: (atom.status, atom.relations) for atom in workspace.memory.list(status=None)}
    workspace.close()
    shutil.rmtree(workspace.root / ".lamina")
    workspace.reopen()
    assert {atom.id: (atom.status, atom.relations) for atom in workspace.memory.list(status=None)} == before


def test_a_file_without_text_is_ignored_until_it_has_some(workspace: VaultWorkspace) -> None:
    file = workspace.drop("atoms/mine.md", "---\nkind: fact\n---\n")
    assert workspace.memory.upkeep.sync().unreadable == ["atoms/mine.md"]
    file.write_text("---\nkind: fact\n---\n\nNow it has.\n")
    workspace.memory.upkeep.sync()
    assert workspace.atom_of(file).content == "Now it has."
    assert workspace.memory.upkeep.doctor().healthy


def test_of_two_files_with_one_id_the_known_path_wins_and_the_other_is_reported(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    copy = workspace.drop("atoms/aaa.md", workspace.file(atom).read_text().replace("tea", "milk"))
    workspace.memory.upkeep.sync()
    (problem,) = workspace.problems("duplicate-id")
    assert (problem.path, problem.line) == ("atoms/aaa.md", 2)
    assert workspace.memory.get(atom.id).content == "Ann drinks tea."
    assert len(workspace.memory.list(status=None)) == 1
    copy.write_text(copy.read_text().replace(f"id: {atom.id}\n", ""))
    workspace.memory.upkeep.sync()
    assert workspace.atom_of(copy).content == "Ann drinks milk."
    assert workspace.problems("duplicate-id") == []


def test_of_two_unknown_files_with_one_id_the_one_named_after_it_wins(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    file = workspace.file(atom)
    workspace.drop("atoms/aaa.md", file.read_text().replace("tea", "milk"))
    workspace.close()
    for name in ("history.db", "history.db-wal", "history.db-shm"):
        (workspace.root / ".lamina" / name).unlink(missing_ok=True)
    workspace.reopen()
    assert workspace.memory.get(atom.id).content == "Ann drinks tea."
    assert [problem.path for problem in workspace.problems("duplicate-id")] == ["atoms/aaa.md"]


def test_a_copy_takes_over_when_its_original_is_deleted(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    copy = workspace.drop("atoms/aaa.md", workspace.file(atom).read_text().replace("tea", "milk"))
    workspace.sync_settled()
    workspace.file(atom).unlink()
    workspace.memory.upkeep.sync()
    result = workspace.memory.get(atom.id)
    assert (result.status, result.content, workspace.file(atom)) == (Status.ACTIVE, "Ann drinks milk.", copy)
    assert workspace.memory.upkeep.doctor().healthy


@pytest.mark.parametrize("name", CONFLICT_NAMES)
def test_conflict_copies_are_reported_and_never_become_atoms(workspace: VaultWorkspace, name: str) -> None:
    atom = workspace.remember("Ann drinks tea.")
    original = workspace.file(atom)
    copy = original.with_name(name.format(original.stem))
    copy.write_text(original.read_text().replace("tea", "milk"))
    data = copy.read_bytes()
    for _ in range(2):
        workspace.reopen()
        assert [atom.id for atom in workspace.memory.list(status=None)] == [atom.id]
        assert workspace.memory.get(atom.id).content == "Ann drinks tea."
        assert [problem.path for problem in workspace.problems("conflict-copy")] == [
            copy.relative_to(workspace.root).as_posix()
        ]
    assert copy.read_bytes() == data
    copy.unlink()
    assert workspace.problems("conflict-copy") == []


def test_links_pipes_folders_and_oversized_files_break_nothing(workspace: VaultWorkspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("A secret.\n")
    atoms = workspace.root / "atoms"
    (atoms / "link.md").symlink_to(outside / "secret.md")
    (atoms / "folder link").symlink_to(outside, target_is_directory=True)
    (atoms / "loop.md").symlink_to(atoms / "loop.md")
    os.mkfifo(atoms / "pipe.md")
    (atoms / "folder.md").mkdir()
    (atoms / "giant.md").write_bytes(b"x" * (2 << 20))
    (atoms / "line\nbreak.md").write_text("A strange name.\n")
    good = workspace.drop("atoms/good.md", "A good note.\n")
    report = workspace.memory.upkeep.sync()
    assert report.adopted == ["atoms/good.md"]
    assert sorted(report.unreadable) == ["atoms/giant.md", "atoms/line\nbreak.md"]
    assert workspace.atom_of(good).content == "A good note."
    assert workspace.texts("secret") == []
    assert (outside / "secret.md").read_text() == "A secret.\n"
    (atoms / "giant.md").unlink()
    (atoms / "line\nbreak.md").unlink()
    assert workspace.memory.upkeep.doctor().healthy


def test_an_oversized_file_that_shrinks_becomes_an_atom(workspace: VaultWorkspace) -> None:
    giant = workspace.drop("atoms/giant.md", b"x" * (2 << 20))
    workspace.memory.upkeep.sync()
    giant.write_text("Small again.\n")
    workspace.memory.upkeep.sync()
    assert workspace.atom_of(giant).content == "Small again."
    assert workspace.memory.upkeep.doctor().healthy


def test_a_known_file_that_became_oversized_keeps_its_text_and_blocks_nothing(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    file = workspace.file(atom)
    words = file.read_bytes()
    file.write_bytes(words + b"x" * (2 << 20))
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atom.id).content == "Ann drinks tea."
    workspace.memory.pin(atom.id)
    assert workspace.file(workspace.remember("Another fact.")).exists()
    assert [problem.kind for problem in workspace.memory.upkeep.doctor().problems if problem.atom_id == atom.id] == [
        "blocked",
        "unreadable",
    ]
    file.write_bytes(words)
    workspace.memory.upkeep.sync()
    assert b"pinned: true" in file.read_bytes()
    assert workspace.memory.upkeep.doctor().healthy


def test_a_link_in_place_of_a_file_blocks_nothing(workspace: VaultWorkspace, tmp_path: Path) -> None:
    atom = workspace.remember("Ann drinks tea.")
    file = workspace.file(atom)
    file.unlink()
    workspace.memory.upkeep.sync()
    file.symlink_to(tmp_path / "nowhere")
    workspace.memory.update_status(atom.id, "active", "bring it back")
    assert workspace.file(workspace.remember("Another fact.")).exists()
    assert [problem.kind for problem in workspace.memory.upkeep.doctor().problems] == ["blocked"]
    file.unlink()
    workspace.memory.upkeep.sync()
    assert "Ann drinks tea." in file.read_text()
    assert workspace.memory.upkeep.doctor().healthy


def test_files_of_a_foreign_vault_are_adopted_and_their_links_resolved(workspace: VaultWorkspace) -> None:
    old = workspace.drop("atoms/2026-01-01/old.md", _seed("0123456789ab", "Uses MySQL.", "is_superseded: true\n"))
    new = workspace.drop(
        "atoms/2026-01-02/new.md",
        _seed("ba9876543210", "Uses SQLite.", 'supersedes: "0123456789ab"\nrelations: ["supports [[0123456789ab]]"]\n'),
    )
    workspace.memory.upkeep.sync()
    first, second = workspace.atom_of(old), workspace.atom_of(new)
    assert (first.source_ref, second.source_ref) == ("0123456789ab", "ba9876543210")
    assert (first.status, second.status) == (Status.SUPERSEDED, Status.ACTIVE)
    assert second.supersedes == (first.id,)
    assert [(relation.name, relation.target) for relation in second.relations] == [(RelationName.SUPPORTS, first.id)]
    assert (second.session_id, second.layer.value) == ("chat-1", "episodic")
    assert "source_ref: ba9876543210\n" in new.read_text()
    assert workspace.memory.upkeep.doctor().healthy


def test_a_later_file_of_a_foreign_vault_is_linked_to_existing_atoms(workspace: VaultWorkspace) -> None:
    old = workspace.drop("atoms/old.md", _seed("0123456789ab", "Uses MySQL."))
    workspace.memory.upkeep.sync()
    new = workspace.drop("atoms/new.md", _seed("ba9876543210", "Uses SQLite.", 'supersedes: "0123456789ab"\n'))
    workspace.memory.upkeep.sync()
    assert workspace.atom_of(new).supersedes == (workspace.atom_of(old).id,)


def _seed(name: str, text: str, more: str = "") -> str:
    return (
        f"---\natom_id: {name}\nkind: fact\nsubject: database\ntier: stm\n{more}provenance:\n"
        f"  session_id: chat-1\n  observed_at: 2026-01-01T10:00:00Z\n---\n\n{text}\n"
    )


def test_files_of_every_scope_are_found_in_their_folders(workspace: VaultWorkspace) -> None:
    workspace.drop("scopes/acme/atoms/a.md", "Acme drinks tea.\n")
    workspace.drop("scopes/local/agents/cto/atoms/b.md", "The CTO drinks tea.\n")
    workspace.drop("scopes/Acme/atoms/c.md", "---\nid: 01m7cmhxm15cbkgvh1h5qmvbm6\n---\n\nNo scope has this name.\n")
    workspace.memory.upkeep.sync()
    acme, cto = workspace.open("org:acme"), workspace.open("org:local:agent:cto")
    assert _contents(acme.list()) == ["Acme drinks tea."]
    assert _contents(cto.list()) == ["The CTO drinks tea."]
    assert workspace.memory.list() == []
    assert [problem.path for problem in workspace.memory.upkeep.doctor().problems] == ["scopes/Acme/atoms/c.md"]


def _contents(atoms: list[Atom]) -> list[str]:
    return [atom.content for atom in atoms]
