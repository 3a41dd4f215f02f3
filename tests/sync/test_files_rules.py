"""A file changed by a person: what counts, what is refused, and what is never lost."""

from __future__ import annotations

import pytest

from desk import Desk
from lamina import Atom, Memory, Origin, Relation, RelationName, Status
from lamina.atom.atom import FIXED_FIELDS
from lamina.atom.status import TransitionCause
from lamina.store.base import AtomChange, Commit
from lamina.vault.disk import Disk, SwapResult


class SlowDisk(Disk):
    """A disk on which a person can save between a commit and the writing of its file."""

    refuses = False

    def exchange(self, path: str, data: bytes) -> SwapResult:
        if self.refuses:
            raise OSError(28, "no space left")
        return super().exchange(path, data)


def test_only_the_fields_that_differ_are_the_persons_edit(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.", subject="Ann", tags=("home",))
    desk.edit(atom, "drinks tea", "drinks coffee")
    desk.memory.sync()
    (version,) = desk.memory.history(atom.id).versions[1:]
    assert version.fields == {"content"}
    assert (version.actor, version.verb) == ("human", "edit")
    assert version.atom.tags == ("home",)


def test_an_edit_keeps_what_the_engine_changed_meanwhile_in_other_fields(desk: Desk) -> None:
    disk = SlowDisk(desk.root)
    memory = desk.open(disk=disk)
    atom = desk.remember("Ann drinks tea.")
    disk.refuses = True
    memory.pin(atom.id)
    disk.refuses = False
    desk.edit(atom, "drinks tea", "drinks coffee")
    memory.sync()
    found = memory.get(atom.id)
    assert (found.content, found.pinned) == ("Ann drinks coffee.", True)
    assert "pinned: true" in desk.file(atom).read_text()
    assert desk.problems("overruled") == []


def test_a_persons_edit_wins_and_the_loser_stays_as_a_version_and_a_line_in_doctor(desk: Desk) -> None:
    disk = SlowDisk(desk.root)
    memory = desk.open(disk=disk)
    atom = desk.remember("Ann drinks tea.")
    disk.refuses = True
    memory.revise(atom.id, "Ann drinks milk.", reason="an agent heard so")
    disk.refuses = False
    desk.edit(atom, "drinks tea", "drinks coffee")
    memory.sync()
    assert memory.get(atom.id).content == "Ann drinks coffee."
    assert [version.atom.content for version in memory.history(atom.id).versions] == [
        "Ann drinks tea.",
        "Ann drinks milk.",
        "Ann drinks coffee.",
    ]
    (problem,) = desk.problems("overruled")
    assert "content" in problem.message
    assert "revision 2" in problem.message


def test_turns_captured_while_a_person_edits_a_session_follow_the_edit(desk: Desk) -> None:
    disk = SlowDisk(desk.root)
    memory = desk.open(disk=disk)
    said = memory.capture([{"speaker": "Ann", "content": "I drink tea."}], session_id="s").atom
    disk.refuses = True
    memory.capture([{"speaker": "Bob", "content": "Noted."}], session_id="s")
    disk.refuses = False
    desk.edit(said, "drink tea", "drink coffee")
    memory.sync()
    assert [hit.passage.n for hit in memory.recall("coffee").hits] == [1]
    assert [hit.passage.n for hit in memory.recall("noted").hits] == [2]
    assert desk.problems("overruled") == []


def test_a_remark_at_the_end_of_a_session_and_the_next_turn_are_passages_of_their_own(desk: Desk) -> None:
    said = desk.memory.capture([{"speaker": "Ann", "content": "I drink tea."}], session_id="s").atom
    desk.edit(said, "^p1", "^p1\n\nShe means green tea.")
    desk.memory.sync()
    desk.memory.capture([{"speaker": "Bob", "content": "Noted."}], session_id="s")
    assert [(hit.passage.n, hit.text) for hit in desk.memory.recall("green").hits] == [(2, "She means green tea.")]
    assert [(hit.passage.n, hit.passage.speaker) for hit in desk.memory.recall("noted").hits] == [(3, "Bob")]


def test_a_remark_written_while_the_session_goes_on_and_the_next_turn_are_both_found(desk: Desk) -> None:
    disk = SlowDisk(desk.root)
    memory = desk.open(disk=disk)
    said = memory.capture([{"speaker": "Ann", "content": "I drink tea."}], session_id="s").atom
    disk.refuses = True
    memory.capture([{"speaker": "Bob", "content": "Noted."}], session_id="s")
    disk.refuses = False
    desk.edit(said, "^p1", "^p1\n\nShe means green tea.")
    memory.sync()
    assert [hit.text for hit in memory.recall("green").hits] == ["She means green tea."]
    assert [(hit.passage.n, hit.passage.speaker) for hit in memory.recall("noted").hits] == [(2, "Bob")]


def test_words_that_replace_a_whole_session_do_not_bring_the_old_ones_back(desk: Desk) -> None:
    disk = SlowDisk(desk.root)
    memory = desk.open(disk=disk)
    said = memory.capture([{"speaker": "Ann", "content": "I drink tea."}], session_id="s").atom
    file = desk.file(said)
    head = file.read_text().partition("\n\n")[0]
    file.write_text(f"{head}\n\nShe drinks milk.\n")
    memory.sync()
    disk.refuses = True
    memory.capture([{"speaker": "Bob", "content": "Noted."}], session_id="s")
    disk.refuses = False
    file.write_text(f"{head}\n\nShe drinks rum.\n")
    memory.sync()
    assert [hit.text for hit in memory.recall("drinks milk rum").hits] == ["She drinks rum."]
    assert [(hit.passage.n, hit.passage.speaker) for hit in memory.recall("noted").hits] == [(2, "Bob")]


def test_a_changed_subject_and_a_changed_relation_are_picked_up(desk: Desk) -> None:
    one, other = desk.remember("Ann drinks tea.", subject="Ann"), desk.remember("Tea is hot.")
    desk.edit(one, "subject: Ann", f'subject: Anna\nrelations: ["depends_on [[{other.id}]] 0.5"]')
    desk.memory.sync()
    found = desk.memory.get(one.id)
    assert found.subject == "Anna"
    assert found.relations == (Relation(RelationName.DEPENDS_ON, other.id, 0.5),)
    assert [atom.id for _, atom in desk.memory.neighbours(other.id)] == [one.id]


def test_a_relation_to_a_files_name_points_at_the_atom(desk: Desk) -> None:
    one, other = desk.remember("Ann drinks tea.", subject="Ann"), desk.remember("Tea is hot.")
    desk.move(desk.file(other), "atoms/hot tea.md")
    desk.memory.sync()
    desk.edit(one, "subject: Ann", 'subject: Ann\nrelations: ["supports [[hot tea]]"]')
    desk.memory.sync()
    assert [relation.target for relation in desk.memory.get(one.id).relations] == [other.id]
    assert f"[[hot tea|{other.id}]]" in desk.file(one).read_text()


def test_a_renamed_file_keeps_its_identity_and_is_never_moved_back(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    named = desk.move(desk.file(atom), "atoms/about Ann.md")
    assert desk.memory.sync().moved == ["atoms/about Ann.md"]
    desk.memory.revise(atom.id, "Ann drinks coffee.", reason="she said so")
    desk.memory.update_status(atom.id, "archived", "old")
    assert desk.file(atom) == named
    assert "Ann drinks coffee." in named.read_text()
    assert desk.memory.get(atom.id).revision == 3


def test_a_file_moved_to_another_folder_keeps_its_identity_and_is_never_moved_back(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    placed = desk.move(desk.file(atom), f"notes/people/{desk.file(atom).name}")
    desk.memory.sync()
    desk.memory.forget(atom.id, "enough")
    assert desk.file(atom) == placed
    assert "status: tombstoned" in placed.read_text()


def test_a_file_renamed_and_edited_at_once_keeps_its_identity(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.move(desk.edit(atom, "tea", "coffee"), "atoms/new.md")
    report = desk.memory.sync()
    assert (report.moved, report.edited, report.adopted, report.deleted) == (["atoms/new.md"], ["atoms/new.md"], [], [])
    assert desk.memory.get(atom.id).content == "Ann drinks coffee."


def test_two_files_whose_names_were_swapped_keep_their_identities(desk: Desk) -> None:
    one, other = desk.remember("Ann drinks tea."), desk.remember("Bob drinks milk.")
    first, second = desk.file(one), desk.file(other)
    between = desk.move(first, "atoms/between.md")
    second.replace(first)
    between.replace(second)
    desk.memory.sync()
    assert (desk.file(one), desk.file(other)) == (second, first)
    assert [desk.memory.get(each.id).content for each in (one, other)] == ["Ann drinks tea.", "Bob drinks milk."]
    assert len(desk.memory.journal()) == 2


def test_a_file_moved_over_another_takes_its_place_and_the_other_counts_as_deleted(desk: Desk) -> None:
    one, other = desk.remember("Ann drinks tea."), desk.remember("Bob drinks milk.")
    place = desk.file(other)
    desk.file(one).replace(place)
    desk.memory.sync()
    assert desk.file(one) == place
    assert desk.memory.get(one.id).content == "Ann drinks tea."
    assert desk.memory.get(other.id).status is Status.TOMBSTONED
    assert desk.memory.get(other.id).content == "Bob drinks milk."


def test_another_atoms_file_at_the_place_of_a_deleted_one_is_not_the_deleted_one(desk: Desk) -> None:
    one, other = desk.remember("Ann drinks tea."), desk.remember("Bob drinks milk.")
    place, words = desk.file(one), desk.file(one).read_bytes()
    place.unlink()
    desk.memory.sync()
    desk.file(other).replace(place)
    desk.memory.sync()
    assert desk.memory.get(one.id).status is Status.TOMBSTONED
    assert (desk.file(other), desk.memory.get(other.id).content) == (place, "Bob drinks milk.")
    desk.drop("atoms/back.md", words)
    desk.memory.sync()
    assert desk.memory.get(one.id).status is Status.ACTIVE


def test_a_new_note_at_the_place_of_a_deleted_file_is_a_new_atom(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    place = desk.file(atom)
    place.unlink()
    desk.memory.sync()
    place.write_text("Something else.\n")
    desk.memory.sync()
    assert desk.found(place).id != atom.id
    assert desk.memory.get(atom.id).status is Status.TOMBSTONED


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
def test_a_status_edited_in_the_file_maps_to_its_verb(desk: Desk, before: str, wanted: str) -> None:
    atom = desk.remember("Ann drinks tea.", subject="Ann")
    _put_status(desk, atom.id, Status(before))
    _write_status(desk, atom, before, wanted)
    desk.memory.sync()
    change = desk.memory.status_history(atom.id)[-1]
    assert (change.old, change.new, change.actor) == (Status(before), Status(wanted), "human")
    assert desk.problems("refused-status") == []


@pytest.mark.parametrize(
    ("before", "wanted"),
    [("active", "constrained"), ("archived", "merged"), ("tombstoned", "archived"), ("superseded", "challenged")],
)
def test_a_status_the_table_does_not_have_is_refused_with_the_line(desk: Desk, before: str, wanted: str) -> None:
    atom = desk.remember("Ann drinks tea.", subject="Ann")
    _put_status(desk, atom.id, Status(before))
    _write_status(desk, atom, before, wanted)
    desk.memory.sync()
    assert desk.memory.get(atom.id).status is Status(before)
    (problem,) = desk.problems("refused-status")
    assert (problem.line, problem.atom_id) == (5, atom.id)
    assert f"{before} → {wanted}" in problem.message
    assert f"status: {wanted}" not in desk.file(atom).read_text(), "the file says what is"


def _write_status(desk: Desk, atom: Atom, before: str, wanted: str) -> None:
    """On line 5 of the file, after id, kind and subject."""
    if before == "active":
        desk.edit(atom, "subject: Ann", f"subject: Ann\nstatus: {wanted}")
    else:
        desk.edit(atom, f"status: {before}", f"status: {wanted}")


def _put_status(desk: Desk, atom_id: str, status: Status) -> None:
    """Bring an atom into a status by the shortest way; constrained has none but the store's own."""
    atom = desk.memory.get(atom_id)
    if status is Status.CONSTRAINED:
        desk.memory._store.commit(
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
        desk.memory.sync()
    elif atom.status is not status:
        desk.memory.update_status(atom_id, status, "for the test")


@pytest.mark.parametrize(
    ("name", "value", "old"),
    [("origin", "web", "human"), ("principal", "eve", None), ("recorded_at", "2020-01-01T00:00:00Z", None)],
)
def test_edits_of_what_never_changes_are_ignored_reported_and_taken_out_of_the_file(
    desk: Desk, name: str, value: str, old: str | None
) -> None:
    assert name in FIXED_FIELDS
    atom = desk.remember("Ann drinks tea.", subject="Ann")
    before = desk.file(atom).read_bytes()
    if name == "recorded_at":
        desk.edit(atom, "recorded_at: 2026-11-14T09:00:01Z", f"recorded_at: {value}")
    else:
        desk.edit(atom, "subject: Ann", f"subject: Ann\n{name}: {value}")
    desk.memory.sync()
    assert desk.memory.get(atom.id) == atom
    (problem,) = desk.problems("ignored-field")
    assert (problem.line, problem.atom_id) == (5 if name != "recorded_at" else 6, atom.id)
    assert problem.message.startswith(name)
    assert desk.file(atom).read_bytes() == before


@pytest.mark.parametrize("line", ["id: 01m7cmhxm15cbkgvh1h5qmvbm6\n", "id: abcdef012345\n", ""])
def test_an_edited_or_deleted_id_is_put_right(desk: Desk, line: str) -> None:
    atom = desk.remember("Ann drinks tea.")
    before = desk.file(atom).read_bytes()
    desk.edit(atom, f"id: {atom.id}\n", line)
    report = desk.memory.sync()
    assert report.adopted == []
    assert [each.id for each in desk.memory.list(status=None)] == [atom.id]
    assert f"id: {atom.id}".encode() in desk.file(atom).read_bytes()
    assert len(desk.file(atom).read_bytes()) >= len(before) - len(line)


def test_an_edit_that_breaks_a_rule_is_held_and_reported_and_works_once_mended(desk: Desk) -> None:
    one = desk.remember("Prefers tea.", kind="preference", subject="drinks")
    other = desk.remember("Prefers trains.", kind="preference", subject="travel")
    file = desk.edit(other, "subject: travel", "subject: drinks")
    assert desk.memory.sync().unreadable == [file.relative_to(desk.root).as_posix()]
    (problem,) = desk.problems("refused")
    assert one.id in problem.message
    assert desk.memory.get(other.id).subject == "travel"
    assert "subject: drinks" in file.read_text(), "the person's bytes are left alone"
    desk.edit(other, "subject: drinks", "subject: trips")
    desk.memory.sync()
    assert desk.memory.get(other.id).subject == "trips"
    assert desk.problems("refused") == []


def test_an_edit_that_was_held_counts_when_what_stood_in_its_way_is_gone(desk: Desk) -> None:
    one = desk.remember("Prefers tea.", kind="preference", subject="drinks")
    other = desk.remember("Prefers trains.", kind="preference", subject="travel")
    desk.edit(other, "subject: travel", "subject: drinks")
    desk.sync_settled()
    desk.memory.forget(one.id, "no longer")
    desk.memory.sync()
    assert desk.memory.get(other.id).subject == "drinks"
    assert desk.problems("refused") == []


def test_a_broken_file_is_left_alone_reported_with_its_line_and_works_again_when_mended(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.", subject="Ann")
    file = desk.edit(atom, "subject: Ann", "subject: Ann\ntags: [never closed")
    broken = file.read_bytes()
    desk.memory.sync()
    (problem,) = desk.problems("unreadable")
    assert problem.line in (5, 6)
    assert desk.memory.get(atom.id).content == "Ann drinks tea."
    desk.memory.pin(atom.id)
    assert file.read_bytes() == broken
    file.write_text(file.read_text().replace("tags: [never closed", "tags: [home]"))
    desk.memory.sync()
    found = desk.memory.get(atom.id)
    assert (found.tags, found.pinned) == (("home",), True)
    assert desk.problems("unreadable") == []
    assert "pinned: true" in file.read_text()


def test_a_file_that_is_empty_for_a_moment_changes_nothing(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.", subject="Ann", tags=("home",))
    file, words = desk.file(atom), desk.file(atom).read_text()
    file.write_text("")
    desk.memory.sync()
    assert desk.memory.get(atom.id) == atom
    assert file.read_bytes() == b""
    assert [problem.line for problem in desk.problems("unreadable")] == [1]
    file.write_text(words.replace("tea", "coffee"))
    desk.memory.sync()
    assert desk.memory.get(atom.id) == atom.with_(content="Ann drinks coffee.")
    assert desk.memory.doctor().healthy


def test_comments_unknown_keys_and_line_ends_are_no_edit_and_survive(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.", subject="Ann")
    file = desk.edit(atom, "subject: Ann\n", "subject: Ann # my sister\n# a remark\nmood: good\n")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    kept = file.read_bytes()
    assert not desk.memory.sync().has_changes
    assert desk.memory.get(atom.id).revision == 1
    desk.memory.pin(atom.id)
    assert file.read_bytes().replace(b"pinned: true\r\n", b"") == kept


def test_a_touched_file_is_no_edit(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    desk.file(atom).touch()
    assert not desk.memory.sync().has_changes
    assert len(desk.memory.journal()) == 1


def test_a_content_key_counts_where_the_body_is_empty(desk: Desk) -> None:
    file = desk.drop("atoms/seed.md", '---\nkind: fact\ncontent: "Ann drinks tea."\n---\n')
    desk.memory.sync()
    assert desk.found(file).content == "Ann drinks tea."


def test_of_content_key_and_body_the_one_that_differs_from_the_last_text_counts(desk: Desk) -> None:
    file = desk.drop("atoms/seed.md", "---\nkind: fact\ncontent: Ann drinks tea.\n---\n\nAnn drinks tea.\n")
    desk.memory.sync()
    atom = desk.found(file)
    desk.edit(atom, "content: Ann drinks tea.", "content: Ann drinks coffee.")
    desk.memory.sync()
    assert desk.memory.get(atom.id).content == "Ann drinks coffee."
    assert file.read_text().count("Ann drinks coffee.") == 2
    desk.edit(atom, "\n\nAnn drinks coffee.", "\n\nAnn drinks milk.")
    desk.memory.sync()
    assert desk.memory.get(atom.id).content == "Ann drinks milk."
    assert file.read_text().endswith("---\n\nAnn drinks milk.\n")


def test_a_file_moved_into_another_scopes_folder_is_held_and_reported(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    home = desk.file(atom)
    away = desk.move(home, f"scopes/acme/atoms/{home.name}")
    report = desk.memory.sync()
    assert report.held == [away.relative_to(desk.root).as_posix()]
    assert [problem.path for problem in desk.problems("wrong-scope")] == report.held
    acme: Memory = desk.open("org:acme")
    assert acme.list(status=None) == []
    assert acme.recall("tea").hits == ()
    assert desk.memory.get(atom.id).scope == "org:local"
    away.replace(home)
    desk.memory.sync()
    assert desk.memory.get(atom.id).status is Status.ACTIVE
    assert desk.problems("wrong-scope") == []
