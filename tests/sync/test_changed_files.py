"""A file edited by a person: what is committed, what is refused, and that nothing is lost.

Covers `lamina.sync.field_edits`, `lamina.sync.projection` and `lamina.sync.report`.
"""

from __future__ import annotations

import pytest

from lamina import Atom, Memory, Origin, Relation, RelationName, Status
from lamina.atom.atom import FIXED_FIELDS
from lamina.atom.status import TransitionCause
from lamina.store.base import AtomChange, Commit
from lamina.vault.disk import Disk, SwapResult
from lamina.vault.frontmatter import MAX_FRONTMATTER
from vault_workspace import VaultWorkspace


class SlowDisk(Disk):
    """A disk on which a person can save between a commit and the writing of its file."""

    refuses = False

    def exchange(self, path: str, data: bytes) -> SwapResult:
        if self.refuses:
            raise OSError(28, "no space left")
        return super().exchange(path, data)


def test_only_the_fields_that_differ_are_the_persons_edit(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.", subject="Ann", tags=("home",))
    workspace.edit(atom, "drinks tea", "drinks coffee")
    workspace.memory.upkeep.sync()
    (version,) = workspace.memory.history(atom.id).versions[1:]
    assert version.fields == {"content"}
    assert (version.actor, version.verb) == ("human", "edit")
    assert version.atom.tags == ("home",)


def test_an_edit_keeps_engine_changes_of_other_fields(workspace: VaultWorkspace) -> None:
    disk = SlowDisk(workspace.root)
    memory = workspace.open(disk=disk)
    atom = workspace.remember("Ann drinks tea.")
    disk.refuses = True
    memory.pin(atom.id)
    disk.refuses = False
    workspace.edit(atom, "drinks tea", "drinks coffee")
    memory.upkeep.sync()
    result = memory.get(atom.id)
    assert (result.content, result.pinned) == ("Ann drinks coffee.", True)
    assert "pinned: true" in workspace.file(atom).read_text()
    assert workspace.problems("overruled") == []


def test_a_persons_edit_wins_and_the_other_stays_as_a_version_and_a_line_in_doctor(workspace: VaultWorkspace) -> None:
    disk = SlowDisk(workspace.root)
    memory = workspace.open(disk=disk)
    atom = workspace.remember("Ann drinks tea.")
    disk.refuses = True
    memory.revise(atom.id, "Ann drinks milk.", reason="an agent heard so")
    disk.refuses = False
    workspace.edit(atom, "drinks tea", "drinks coffee")
    memory.upkeep.sync()
    assert memory.get(atom.id).content == "Ann drinks coffee."
    assert [version.atom.content for version in memory.history(atom.id).versions] == [
        "Ann drinks tea.",
        "Ann drinks milk.",
        "Ann drinks coffee.",
    ]
    (problem,) = workspace.problems("overruled")
    assert "content" in problem.message
    assert "revision 2" in problem.message


def test_turns_captured_during_an_edit_of_the_session_follow_the_edit(workspace: VaultWorkspace) -> None:
    disk = SlowDisk(workspace.root)
    memory = workspace.open(disk=disk)
    atom = memory.capture([{"speaker": "Ann", "content": "I drink tea."}], session_id="s").atom
    disk.refuses = True
    memory.capture([{"speaker": "Bob", "content": "Noted."}], session_id="s")
    disk.refuses = False
    workspace.edit(atom, "drink tea", "drink coffee")
    memory.upkeep.sync()
    assert [hit.passage.n for hit in memory.recall("coffee").hits] == [1]
    assert [hit.passage.n for hit in memory.recall("noted").hits] == [2]
    assert workspace.problems("overruled") == []


def test_a_comment_at_the_end_of_a_session_and_the_next_turn_are_separate_passages(workspace: VaultWorkspace) -> None:
    atom = workspace.memory.capture([{"speaker": "Ann", "content": "I drink tea."}], session_id="s").atom
    workspace.edit(atom, "^p1", "^p1\n\nShe means green tea.")
    workspace.memory.upkeep.sync()
    workspace.memory.capture([{"speaker": "Bob", "content": "Noted."}], session_id="s")
    assert [(hit.passage.n, hit.text) for hit in workspace.memory.recall("green").hits] == [(2, "She means green tea.")]
    assert [(hit.passage.n, hit.passage.speaker) for hit in workspace.memory.recall("noted").hits] == [(3, "Bob")]


def test_a_comment_written_while_the_session_continues_and_the_next_turn_are_both_found(
    workspace: VaultWorkspace,
) -> None:
    disk = SlowDisk(workspace.root)
    memory = workspace.open(disk=disk)
    atom = memory.capture([{"speaker": "Ann", "content": "I drink tea."}], session_id="s").atom
    disk.refuses = True
    memory.capture([{"speaker": "Bob", "content": "Noted."}], session_id="s")
    disk.refuses = False
    workspace.edit(atom, "^p1", "^p1\n\nShe means green tea.")
    memory.upkeep.sync()
    assert [hit.text for hit in memory.recall("green").hits] == ["She means green tea."]
    assert [(hit.passage.n, hit.passage.speaker) for hit in memory.recall("noted").hits] == [(2, "Bob")]


def test_text_that_replaces_a_whole_session_does_not_restore_the_old_text(workspace: VaultWorkspace) -> None:
    disk = SlowDisk(workspace.root)
    memory = workspace.open(disk=disk)
    atom = memory.capture([{"speaker": "Ann", "content": "I drink tea."}], session_id="s").atom
    file = workspace.file(atom)
    head = file.read_text().partition("\n\n")[0]
    file.write_text(f"{head}\n\nShe drinks milk.\n")
    memory.upkeep.sync()
    disk.refuses = True
    memory.capture([{"speaker": "Bob", "content": "Noted."}], session_id="s")
    disk.refuses = False
    file.write_text(f"{head}\n\nShe drinks rum.\n")
    memory.upkeep.sync()
    assert [hit.text for hit in memory.recall("drinks milk rum").hits] == ["She drinks rum."]
    assert [(hit.passage.n, hit.passage.speaker) for hit in memory.recall("noted").hits] == [(2, "Bob")]


def test_a_changed_subject_and_a_changed_relation_are_read(workspace: VaultWorkspace) -> None:
    one, other = workspace.remember("Ann drinks tea.", subject="Ann"), workspace.remember("Tea is hot.")
    workspace.edit(one, "subject: Ann", f'subject: Anna\nrelations: ["depends_on [[{other.id}]] 0.5"]')
    workspace.memory.upkeep.sync()
    result = workspace.memory.get(one.id)
    assert result.subject == "Anna"
    assert result.relations == (Relation(RelationName.DEPENDS_ON, other.id, 0.5),)
    assert [atom.id for _, atom in workspace.memory.neighbours(other.id)] == [one.id]


def test_a_relation_to_a_files_name_points_at_the_atom(workspace: VaultWorkspace) -> None:
    one, other = workspace.remember("Ann drinks tea.", subject="Ann"), workspace.remember("Tea is hot.")
    workspace.move(workspace.file(other), "atoms/hot tea.md")
    workspace.memory.upkeep.sync()
    workspace.edit(one, "subject: Ann", 'subject: Ann\nrelations: ["supports [[hot tea]]"]')
    workspace.memory.upkeep.sync()
    assert [relation.target for relation in workspace.memory.get(one.id).relations] == [other.id]
    assert f"[[hot tea|{other.id}]]" in workspace.file(one).read_text()


def test_a_renamed_file_keeps_its_identity_and_is_never_moved_back(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    named = workspace.move(workspace.file(atom), "atoms/about Ann.md")
    assert workspace.memory.upkeep.sync().moved == ["atoms/about Ann.md"]
    workspace.memory.revise(atom.id, "Ann drinks coffee.", reason="she said so")
    workspace.memory.update_status(atom.id, "archived", "old")
    assert workspace.file(atom) == named
    assert "Ann drinks coffee." in named.read_text()
    assert workspace.memory.get(atom.id).revision == 3


def test_a_file_moved_to_another_folder_keeps_its_identity_and_is_never_moved_back(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    placed = workspace.move(workspace.file(atom), f"notes/people/{workspace.file(atom).name}")
    workspace.memory.upkeep.sync()
    workspace.memory.forget(atom.id, "enough")
    assert workspace.file(atom) == placed
    assert "status: tombstoned" in placed.read_text()


def test_a_file_renamed_and_edited_together_keeps_its_identity(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.move(workspace.edit(atom, "tea", "coffee"), "atoms/new.md")
    report = workspace.memory.upkeep.sync()
    assert (report.moved, report.edited, report.adopted, report.deleted) == (["atoms/new.md"], ["atoms/new.md"], [], [])
    assert workspace.memory.get(atom.id).content == "Ann drinks coffee."


def test_two_files_whose_names_were_swapped_keep_their_identities(workspace: VaultWorkspace) -> None:
    one, other = workspace.remember("Ann drinks tea."), workspace.remember("Bob drinks milk.")
    first, second = workspace.file(one), workspace.file(other)
    between = workspace.move(first, "atoms/between.md")
    second.replace(first)
    between.replace(second)
    workspace.memory.upkeep.sync()
    assert (workspace.file(one), workspace.file(other)) == (second, first)
    assert [workspace.memory.get(item.id).content for item in (one, other)] == ["Ann drinks tea.", "Bob drinks milk."]
    assert len(workspace.memory.journal()) == 2


def test_a_file_moved_over_another_replaces_it_and_the_other_counts_as_deleted(workspace: VaultWorkspace) -> None:
    one, other = workspace.remember("Ann drinks tea."), workspace.remember("Bob drinks milk.")
    place = workspace.file(other)
    workspace.file(one).replace(place)
    workspace.memory.upkeep.sync()
    assert workspace.file(one) == place
    assert workspace.memory.get(one.id).content == "Ann drinks tea."
    assert workspace.memory.get(other.id).status is Status.TOMBSTONED
    assert workspace.memory.get(other.id).content == "Bob drinks milk."


def test_another_atoms_file_at_a_deleted_path_is_not_the_deleted_one(workspace: VaultWorkspace) -> None:
    one, other = workspace.remember("Ann drinks tea."), workspace.remember("Bob drinks milk.")
    place, words = workspace.file(one), workspace.file(one).read_bytes()
    place.unlink()
    workspace.memory.upkeep.sync()
    workspace.file(other).replace(place)
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(one.id).status is Status.TOMBSTONED
    assert (workspace.file(other), workspace.memory.get(other.id).content) == (place, "Bob drinks milk.")
    workspace.drop("atoms/back.md", words)
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(one.id).status is Status.ACTIVE


def test_a_new_note_at_a_deleted_path_is_a_new_atom(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    place = workspace.file(atom)
    place.unlink()
    workspace.memory.upkeep.sync()
    place.write_text("Something else.\n")
    workspace.memory.upkeep.sync()
    assert workspace.atom_of(place).id != atom.id
    assert workspace.memory.get(atom.id).status is Status.TOMBSTONED


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("constrained", "active"),
        ("constrained", "tombstoned"),
        ("active", "challenged"),
        ("active", "superseded"),
        ("active", "invalidated"),
        ("active", "merged"),
        ("active", "archived"),
        ("active", "tombstoned"),
        ("challenged", "active"),
        ("archived", "active"),
        ("tombstoned", "active"),
        ("invalidated", "active"),
    ],
)
def test_a_status_edited_in_the_file_maps_to_its_verb(workspace: VaultWorkspace, before: str, wanted: str) -> None:
    atom = workspace.remember("Ann drinks tea.", subject="Ann")
    _put_status(workspace, atom.id, Status(before))
    _write_status(workspace, atom, before, wanted)
    workspace.memory.upkeep.sync()
    change = workspace.memory.status_history(atom.id)[-1]
    assert (change.old, change.new, change.actor) == (Status(before), Status(wanted), "human")
    assert workspace.problems("refused-status") == []


@pytest.mark.parametrize(
    ("before", "wanted"),
    [("active", "constrained"), ("archived", "merged"), ("tombstoned", "archived"), ("superseded", "challenged")],
)
def test_an_unknown_status_is_refused_with_the_line(workspace: VaultWorkspace, before: str, wanted: str) -> None:
    atom = workspace.remember("Ann drinks tea.", subject="Ann")
    _put_status(workspace, atom.id, Status(before))
    _write_status(workspace, atom, before, wanted)
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atom.id).status is Status(before)
    (problem,) = workspace.problems("refused-status")
    assert (problem.line, problem.atom_id) == (5, atom.id)
    assert f"{before} → {wanted}" in problem.message
    assert f"status: {wanted}" not in workspace.file(atom).read_text(), "the file says what is"


def _write_status(workspace: VaultWorkspace, atom: Atom, before: str, wanted: str) -> None:
    """On line 5 of the file, after id, kind and subject."""
    if before == "active":
        workspace.edit(atom, "subject: Ann", f"subject: Ann\nstatus: {wanted}")
    else:
        workspace.edit(atom, f"status: {before}", f"status: {wanted}")


def _put_status(workspace: VaultWorkspace, atom_id: str, status: Status) -> None:
    """Bring an atom into a status by the shortest way; constrained has none but the store's own."""
    atom = workspace.memory.get(atom_id)
    if status is Status.CONSTRAINED:
        workspace.memory.engine.store.journal.append(
            Commit(
                actor="test",
                origin=Origin.HUMAN,
                verb="test",
                reason="to be reviewed",
                scope=atom.scope,
                way=TransitionCause.UNDO,
                changes=(AtomChange(atom.with_(status=status)),),
            )
        )
        workspace.memory.upkeep.sync()
    elif atom.status is not status:
        workspace.memory.update_status(atom_id, status, "for the test")


@pytest.mark.parametrize(
    ("name", "value", "old"),
    [("origin", "web", "human"), ("principal", "eve", None), ("recorded_at", "2020-01-01T00:00:00Z", None)],
)
def test_edits_of_fixed_fields_are_ignored_reported_and_reverted_in_the_file(
    workspace: VaultWorkspace, name: str, value: str, old: str | None
) -> None:
    assert name in FIXED_FIELDS
    atom = workspace.remember("Ann drinks tea.", subject="Ann")
    before = workspace.file(atom).read_bytes()
    if name == "recorded_at":
        workspace.edit(atom, "recorded_at: 2026-11-14T09:00:01Z", f"recorded_at: {value}")
    else:
        workspace.edit(atom, "subject: Ann", f"subject: Ann\n{name}: {value}")
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atom.id) == atom
    (problem,) = workspace.problems("ignored-field")
    assert (problem.line, problem.atom_id) == (5 if name != "recorded_at" else 6, atom.id)
    assert problem.message.startswith(name)
    assert workspace.file(atom).read_bytes() == before


@pytest.mark.parametrize("line", ["id: 01m7cmhxm15cbkgvh1h5qmvbm6\n", "id: abcdef012345\n", ""])
def test_an_edited_or_deleted_id_is_restored(workspace: VaultWorkspace, line: str) -> None:
    atom = workspace.remember("Ann drinks tea.")
    before = workspace.file(atom).read_bytes()
    workspace.edit(atom, f"id: {atom.id}\n", line)
    report = workspace.memory.upkeep.sync()
    assert report.adopted == []
    assert [atom.id for atom in workspace.memory.list(status=None)] == [atom.id]
    assert f"id: {atom.id}".encode() in workspace.file(atom).read_bytes()
    assert len(workspace.file(atom).read_bytes()) >= len(before) - len(line)


def test_an_edit_that_breaks_a_rule_is_held_and_reported_and_applied_once_repaired(workspace: VaultWorkspace) -> None:
    one = workspace.remember("Prefers tea.", kind="preference", subject="drinks", attribute="favourite")
    other = workspace.remember("Prefers trains.", kind="preference", subject="travel", attribute="favourite")
    file = workspace.edit(other, "subject: travel", "subject: drinks")
    assert workspace.memory.upkeep.sync().unreadable == [file.relative_to(workspace.root).as_posix()]
    (problem,) = workspace.problems("refused")
    assert one.id in problem.message
    assert workspace.memory.get(other.id).subject == "travel"
    assert "subject: drinks" in file.read_text(), "the person's bytes are left alone"
    workspace.edit(other, "subject: drinks", "subject: trips")
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(other.id).subject == "trips"
    assert workspace.problems("refused") == []


def test_a_held_edit_is_applied_when_its_obstacle_is_gone(workspace: VaultWorkspace) -> None:
    one = workspace.remember("Prefers tea.", kind="preference", subject="drinks", attribute="favourite")
    other = workspace.remember("Prefers trains.", kind="preference", subject="travel", attribute="favourite")
    workspace.edit(other, "subject: travel", "subject: drinks")
    workspace.sync_settled()
    workspace.memory.forget(one.id, "no longer")
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(other.id).subject == "drinks"
    assert workspace.problems("refused") == []


def test_a_broken_file_is_unchanged_reported_with_its_line_and_read_again_when_repaired(
    workspace: VaultWorkspace,
) -> None:
    atom = workspace.remember("Ann drinks tea.", subject="Ann")
    file = workspace.edit(atom, "subject: Ann", "subject: Ann\ntags: [never closed")
    broken = file.read_bytes()
    workspace.memory.upkeep.sync()
    (problem,) = workspace.problems("unreadable")
    assert problem.line in (5, 6)
    assert workspace.memory.get(atom.id).content == "Ann drinks tea."
    workspace.memory.pin(atom.id)
    assert file.read_bytes() == broken
    file.write_text(file.read_text().replace("tags: [never closed", "tags: [home]"))
    workspace.memory.upkeep.sync()
    result = workspace.memory.get(atom.id)
    assert (result.tags, result.pinned) == (("home",), True)
    assert workspace.problems("unreadable") == []
    assert "pinned: true" in file.read_text()


def test_a_momentarily_empty_file_changes_nothing(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.", subject="Ann", tags=("home",))
    file, words = workspace.file(atom), workspace.file(atom).read_text()
    file.write_text("")
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atom.id) == atom
    assert file.read_bytes() == b""
    assert [problem.line for problem in workspace.problems("unreadable")] == [1]
    file.write_text(words.replace("tea", "coffee"))
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atom.id) == atom.with_(content="Ann drinks coffee.")
    assert workspace.memory.upkeep.doctor().healthy


def test_comments_unknown_keys_and_line_ends_are_no_edit_and_survive(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.", subject="Ann")
    file = workspace.edit(atom, "subject: Ann\n", "subject: Ann # my sister\n# a remark\nmood: good\n")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    data = file.read_bytes()
    assert not workspace.memory.upkeep.sync().has_changes
    assert workspace.memory.get(atom.id).revision == 1
    workspace.memory.pin(atom.id)
    assert file.read_bytes().replace(b"pinned: true\r\n", b"") == data


def test_a_touched_file_is_no_edit(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.file(atom).touch()
    assert not workspace.memory.upkeep.sync().has_changes
    assert len(workspace.memory.journal()) == 1


def test_a_content_key_counts_where_the_body_is_empty(workspace: VaultWorkspace) -> None:
    file = workspace.drop("atoms/seed.md", '---\nkind: fact\ncontent: "Ann drinks tea."\n---\n')
    workspace.memory.upkeep.sync()
    assert workspace.atom_of(file).content == "Ann drinks tea."


def test_of_content_key_and_body_the_changed_one_counts(workspace: VaultWorkspace) -> None:
    file = workspace.drop("atoms/seed.md", "---\nkind: fact\ncontent: Ann drinks tea.\n---\n\nAnn drinks tea.\n")
    workspace.memory.upkeep.sync()
    atom = workspace.atom_of(file)
    workspace.edit(atom, "content: Ann drinks tea.", "content: Ann drinks coffee.")
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atom.id).content == "Ann drinks coffee."
    assert file.read_text().count("Ann drinks coffee.") == 2
    workspace.edit(atom, "\n\nAnn drinks coffee.", "\n\nAnn drinks milk.")
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atom.id).content == "Ann drinks milk."
    assert file.read_text().endswith("---\n\nAnn drinks milk.\n")


def test_a_file_moved_into_another_scopes_folder_is_held_and_reported(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    home = workspace.file(atom)
    away = workspace.move(home, f"scopes/acme/atoms/{home.name}")
    report = workspace.memory.upkeep.sync()
    assert report.held == [away.relative_to(workspace.root).as_posix()]
    assert [problem.path for problem in workspace.problems("wrong-scope")] == report.held
    acme: Memory = workspace.open("org:acme")
    assert acme.list(status=None) == []
    assert acme.recall("tea").hits == ()
    assert workspace.memory.get(atom.id).scope == "org:local"
    away.replace(home)
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(atom.id).status is Status.ACTIVE
    assert workspace.problems("wrong-scope") == []


def test_a_change_that_no_longer_fits_in_the_file_is_stored_and_reported_until_it_fits(
    workspace: VaultWorkspace,
) -> None:
    atom, other = workspace.remember("Ann drinks tea."), workspace.remember("Bob drinks milk.")
    file = workspace.file(atom)
    front, body = file.read_text().split("\n---\n")
    comments = "# mine\n" * ((MAX_FRONTMATTER - len(front) - 8) // 7)
    file.write_text(f"{front}\n{comments}---\n{body}")
    workspace.memory.upkeep.sync()
    workspace.memory.pin(atom.id)
    workspace.memory.pin(other.id)
    assert workspace.memory.get(atom.id).pinned
    assert "pinned" not in file.read_text()
    assert "pinned: true" in workspace.file(other).read_text()
    (problem,) = workspace.problems("blocked")
    assert (problem.atom_id, "64 KiB" in problem.message) == (atom.id, True)
    file.write_text(f"{front}\n---\n{body}")
    workspace.memory.upkeep.sync()
    assert "pinned: true" in file.read_text()
    assert workspace.problems("blocked") == []


def test_a_commit_whose_files_were_not_queued_before_a_crash_is_written_at_the_next_opening(
    workspace: VaultWorkspace,
) -> None:
    atom = workspace.remember("Ann drinks tea.")
    workspace.commit(atom.with_(content="Ann drinks milk."), "write")
    workspace.commit(workspace.memory.get(atom.id).with_(pinned=True), "pin")
    file = workspace.file(atom)
    assert "tea" in file.read_text()
    assert workspace.memory.upkeep.stats()["files"]["to_write"] == 1
    workspace.reopen()
    assert "milk" in file.read_text()
    assert "pinned: true" in file.read_text()
    assert workspace.memory.upkeep.stats()["files"]["to_write"] == 0
    assert len(workspace.memory.history(atom.id).versions) == 3
