"""Folders of notes: what they say of themselves becomes fields, their words stay as they are."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from exports import note, write

from lamina.atom.trust import Origin
from lamina.importers import ImportedDocument, ImportProblem, ImportStep, SkippedItem, detect_importer, plan_import

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def steps(path: Path) -> list[ImportStep]:
    plan = plan_import(path)
    found = list(plan.steps())
    assert len(found) == plan.total
    return found


def only(path: Path) -> ImportedDocument:
    (found,) = steps(path)
    assert isinstance(found, ImportedDocument)
    return found


def test_a_note_is_a_document_with_its_heading_as_title(tmp_path: Path) -> None:
    found = only(note(tmp_path / "tea.md", "# About tea\n\nSee [[Milk|milk]] and ![[cup.png]].\n\nMore.").parent)
    assert found.title == "About tea"
    assert [piece.text for piece in found.pieces] == ["# About tea\n\nSee [[Milk|milk]] and ![[cup.png]].", "More."]
    assert (found.origin, found.source_id, found.path) == (Origin.DOCUMENT, "file:tea.md", "tea.md")
    assert found.session_id == f"tea-{found.content_hash[:8]}"


def test_an_obsidian_vault_is_known_and_its_own_files_left_out(tmp_path: Path) -> None:
    write(tmp_path / ".obsidian" / "templates.json", {"folder": "Forms/Daily"})
    note(tmp_path / "Tea.md", "Words.")
    for name in ("Forms/Daily/day.md", "Templates/x.md", ".trash/old.md", ".obsidian/plugins/readme.md", "cup.png"):
        note(tmp_path / name, "Not words of mine.")
    assert detect_importer(tmp_path).name == "Obsidian vault"
    assert only(tmp_path).source_id == "obsidian:Tea.md"


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("[tea, drink]", ("tea", "drink")),
        ("tea, drink", ("tea", "drink")),
        ("\n  - tea\n  - drink/hot", ("tea", "drink/hot")),
        ('["#tea"]', ("tea",)),
        ("", ()),
    ],
)
def test_tags_are_read_however_they_are_written(tmp_path: Path, tags: str, expected: tuple[str, ...]) -> None:
    assert only(note(tmp_path / "a.md", f"---\ntags: {tags}\n---\nWords.").parent).tags == expected


def test_dates_and_tags_are_fields_and_other_properties_words(tmp_path: Path) -> None:
    found = only(note(tmp_path / "a.md", "---\ncreated: 2024-05-01T12:00:00Z\ntags: [a]\n---\n\nWords.").parent)
    assert (found.observed_at, [piece.text for piece in found.pieces]) == (NOON, ["Words."])
    found = only(note(tmp_path / "a.md", "---\ncreated: 2024-05-01\nbirthday: 1990-02-03\n---\nAnn.").parent)
    assert [piece.text for piece in found.pieces] == ["created: 2024-05-01\nbirthday: 1990-02-03", "Ann."]


def test_a_note_was_written_when_it_or_its_name_or_its_file_says(tmp_path: Path) -> None:
    path = note(tmp_path / "2024-05-03 walk.md", "Words.")
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    assert only(tmp_path).observed_at == datetime(2024, 5, 3, tzinfo=UTC)
    note(path, "---\ndate: 2024-05-02\n---\nWords.")
    assert only(tmp_path).observed_at == datetime(2024, 5, 2, tzinfo=UTC)
    path = path.rename(tmp_path / "walk.md")
    note(path, "Words.")
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    assert only(tmp_path).observed_at == NOON


def test_frontmatter_that_is_no_yaml_loses_no_note(tmp_path: Path) -> None:
    text = '---\ntags: [a]\ntitle: "unbalanced\nwhat: *x\n---\nWords.'
    found = only(note(tmp_path / "a.md", text).parent)
    assert found.pieces[-1].text == "Words."
    assert found.tags == ("a",)


def test_a_rule_at_the_top_is_no_frontmatter(tmp_path: Path) -> None:
    assert only(note(tmp_path / "a.md", "---\n\nWords after a rule.").parent).pieces[-1].text == "Words after a rule."


def test_a_file_that_cannot_be_read_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    note(tmp_path / "a.md", "Words.")
    (tmp_path / "b.md").write_bytes(bytes(range(256)))
    (tmp_path / "c.pdf").write_bytes(b"no pdf")
    note(tmp_path / "d.md", " \n")
    note(tmp_path / "e.txt", "More words.")
    found = steps(tmp_path)
    assert [type(step) for step in found] == [
        ImportedDocument,
        ImportProblem,
        ImportProblem,
        SkippedItem,
        ImportedDocument,
    ]
    assert found[1] == ImportProblem("b.md", "it is not text")


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    note(tmp_path / "secret" / "key.md", "Secret words.")
    note(tmp_path / "notes" / "a.md", "Words.")
    (tmp_path / "notes" / "link.md").symlink_to(tmp_path / "secret" / "key.md")
    (tmp_path / "notes" / "folder").symlink_to(tmp_path / "secret")
    assert only(tmp_path / "notes").path == "a.md"


def test_one_file_is_imported_alone(tmp_path: Path) -> None:
    note(tmp_path / "b.txt", "Other words.")
    found = only(note(tmp_path / "a.txt", "Ann: hi\nBob: hello\nAnn: bye"))
    assert [piece.speaker for piece in found.pieces] == ["Ann", "Bob", "Ann"]
    assert detect_importer(tmp_path / "a.txt").name == "file"


def test_a_name_that_no_text_can_hold_is_told_as_well_as_it_can_be(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("Words.", encoding="utf-8")
    except OSError:
        pytest.skip("this file system refuses such names")
    assert only(tmp_path).path == "caf\ufffd.md"
    assert only(tmp_path).session_id.encode()
