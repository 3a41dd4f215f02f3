"""Folders of notes: their properties become fields, their text stays as it is.

Covers `lamina.importers.note_folder`.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from exports import note, write

from lamina.atom.provenance import Origin
from lamina.importers import ImportedDocument, ImportProblem, ImportStep, SkippedItem, detect_importer, plan_import

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def steps(path: Path) -> list[ImportStep]:
    plan = plan_import(path)
    result = list(plan.steps())
    assert len(result) == plan.total
    return result


def single_step(path: Path) -> ImportedDocument:
    (step,) = steps(path)
    assert isinstance(step, ImportedDocument)
    return step


def test_a_note_is_a_document_with_its_heading_as_title(tmp_path: Path) -> None:
    document = single_step(
        note(tmp_path / "tea.md", "# About tea\n\nSee [[Milk|milk]] and ![[cup.png]].\n\nMore.").parent
    )
    assert document.title == "About tea"
    assert [piece.text for piece in document.pieces] == ["# About tea\n\nSee [[Milk|milk]] and ![[cup.png]].", "More."]
    assert (document.origin, document.source_id, document.path) == (Origin.DOCUMENT, "file:tea.md", "tea.md")
    assert document.session_id == f"tea-{document.content_hash[:8]}"


def test_an_obsidian_vault_is_recognised_and_its_settings_left_out(tmp_path: Path) -> None:
    write(tmp_path / ".obsidian" / "templates.json", {"folder": "Forms/Daily"})
    note(tmp_path / "Tea.md", "Words.")
    for name in ("Forms/Daily/day.md", "Templates/x.md", ".trash/old.md", ".obsidian/plugins/readme.md", "cup.png"):
        note(tmp_path / name, "Not words of mine.")
    assert detect_importer(tmp_path).name == "Obsidian vault"
    assert single_step(tmp_path).source_id == "obsidian:Tea.md"


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
def test_tags_are_read_in_every_notation(tmp_path: Path, tags: str, expected: tuple[str, ...]) -> None:
    assert single_step(note(tmp_path / "a.md", f"---\ntags: {tags}\n---\nWords.").parent).tags == expected


def test_dates_and_tags_become_fields_and_other_properties_text(tmp_path: Path) -> None:
    document = single_step(
        note(tmp_path / "a.md", "---\ncreated: 2024-05-01T12:00:00Z\ntags: [a]\n---\n\nWords.").parent
    )
    assert (document.observed_at, [piece.text for piece in document.pieces]) == (NOON, ["Words."])
    document = single_step(note(tmp_path / "a.md", "---\ncreated: 2024-05-01\nbirthday: 1990-02-03\n---\nAnn.").parent)
    assert [piece.text for piece in document.pieces] == ["created: 2024-05-01\nbirthday: 1990-02-03", "Ann."]


def test_the_date_of_a_note_is_from_its_field_its_name_or_its_file(tmp_path: Path) -> None:
    path = note(tmp_path / "2024-05-03 walk.md", "Words.")
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    assert single_step(tmp_path).observed_at == datetime(2024, 5, 3, tzinfo=UTC)
    note(path, "---\ndate: 2024-05-02\n---\nWords.")
    assert single_step(tmp_path).observed_at == datetime(2024, 5, 2, tzinfo=UTC)
    path = path.rename(tmp_path / "walk.md")
    note(path, "Words.")
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    assert single_step(tmp_path).observed_at == NOON


def test_invalid_frontmatter_loses_no_note(tmp_path: Path) -> None:
    text = '---\ntags: [a]\ntitle: "unbalanced\nwhat: *x\n---\nWords.'
    document = single_step(note(tmp_path / "a.md", text).parent)
    assert document.pieces[-1].text == "Words."
    assert document.tags == ("a",)


def test_a_rule_at_the_top_is_no_frontmatter(tmp_path: Path) -> None:
    assert (
        single_step(note(tmp_path / "a.md", "---\n\nWords after a rule.").parent).pieces[-1].text
        == "Words after a rule."
    )


def test_an_unreadable_file_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    note(tmp_path / "a.md", "Words.")
    (tmp_path / "b.md").write_bytes(bytes(range(256)))
    (tmp_path / "c.pdf").write_bytes(b"no pdf")
    note(tmp_path / "d.md", " \n")
    note(tmp_path / "e.txt", "More words.")
    result = steps(tmp_path)
    assert [type(step) for step in result] == [
        ImportedDocument,
        ImportProblem,
        ImportProblem,
        SkippedItem,
        ImportedDocument,
    ]
    assert result[1] == ImportProblem("b.md", "it is not text")


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    note(tmp_path / "secret" / "key.md", "Secret words.")
    note(tmp_path / "notes" / "a.md", "Words.")
    (tmp_path / "notes" / "link.md").symlink_to(tmp_path / "secret" / "key.md")
    (tmp_path / "notes" / "folder").symlink_to(tmp_path / "secret")
    (step,) = (step for step in steps(tmp_path / "notes") if not isinstance(step, SkippedItem))
    assert step.path == "a.md"


def test_a_single_file_can_be_imported(tmp_path: Path) -> None:
    note(tmp_path / "b.txt", "Other words.")
    document = single_step(note(tmp_path / "a.txt", "Ann: hi\nBob: hello\nAnn: bye"))
    assert [piece.speaker for piece in document.pieces] == ["Ann", "Bob", "Ann"]
    assert detect_importer(tmp_path / "a.txt").name == "file"


def test_an_undecodable_file_name_is_reported_readably(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("Words.", encoding="utf-8")
    except OSError:
        pytest.skip("this file system refuses such names")
    assert single_step(tmp_path).path == "caf\ufffd.md"
    assert single_step(tmp_path).session_id.encode()
