"""Importing twice imports nothing twice, and a conversation that went on gives only what is new."""

from __future__ import annotations

from pathlib import Path

import pytest
from exports import START, chatgpt, message, note, write

from lamina.errors import InvalidInput, NotFound
from lamina.importers import (
    ImportedConversation,
    ImportedDocument,
    ImportedItem,
    ImportProblem,
    SkippedItem,
    detect_importer,
    plan_import,
)

MESSAGES = [message("user" if n % 2 == 0 else "assistant", f"sentence {n}", START + n) for n in range(6)]


def items(path: Path, known: set[str] | None = None) -> list[ImportedItem]:
    steps = plan_import(path).steps((known or set()).__contains__)
    result = [step for step in steps if not isinstance(step, SkippedItem)]
    assert not any(isinstance(atom, ImportProblem) for atom in result)
    return [atom for atom in result if not isinstance(atom, ImportProblem)]


def test_an_imported_item_is_not_imported_again(tmp_path: Path) -> None:
    path = write(tmp_path / "a" / "conversations.json", [chatgpt("c1", MESSAGES), chatgpt("c2", MESSAGES)])
    first = items(path)
    keys = {item.key for item in first}
    assert len(keys) == 2
    assert all(key.startswith("import:") for key in keys)
    assert items(path, keys) == []
    assert all(isinstance(step, SkippedItem) for step in plan_import(path).steps(keys.__contains__))


def test_an_interrupted_import_continues_where_it_stopped(tmp_path: Path) -> None:
    path = write(tmp_path / "conversations.json", [chatgpt(f"c{n}", MESSAGES) for n in range(5)])
    whole = items(path)
    assert items(path, {item.key for item in whole[:2]}) == whole[2:]


def test_a_continued_conversation_gives_only_new_turns(tmp_path: Path) -> None:
    (before,) = items(write(tmp_path / "may" / "conversations.json", [chatgpt("c1", MESSAGES[:4])]))
    (rest,) = items(write(tmp_path / "june" / "conversations.json", [chatgpt("c1", MESSAGES)]), {before.key})
    assert isinstance(before, ImportedConversation)
    assert isinstance(rest, ImportedConversation)
    assert [piece.text for piece in rest.pieces] == ["sentence 4", "sentence 5"]
    assert rest.session_id == before.session_id
    assert items(tmp_path / "june", {before.key, rest.key}) == []


def test_the_same_text_in_another_conversation_is_another_item(tmp_path: Path) -> None:
    one, other = items(write(tmp_path / "conversations.json", [chatgpt("c1", MESSAGES), chatgpt("c2", MESSAGES)]))
    assert one.key != other.key


def test_a_note_is_recognised_in_any_place_and_spacing(tmp_path: Path) -> None:
    note(tmp_path / "a" / "tea.md", "# Tea\n\nAnn likes it.\n")
    note(tmp_path / "b" / "deep" / "drink.md", "# Tea\n\n\nAnn   likes it.\n\n")
    (one,), (other,) = items(tmp_path / "a"), items(tmp_path / "b")
    assert one.key == other.key
    note(tmp_path / "a" / "tea.md", "# Tea\n\nBob likes it.\n")
    assert items(tmp_path / "a")[0].key != one.key


def test_no_key_contains_a_secret(tmp_path: Path) -> None:
    result = set()
    for letters in ("abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba"):
        note(tmp_path / "keys.md", f"The key is sk-proj-{letters}0123456789ABCDEFGH1234.")
        result |= {item.key for item in items(tmp_path)}
    assert len(result) == 1


def test_two_files_with_the_same_text_are_imported_once(tmp_path: Path) -> None:
    note(tmp_path / "a.md", "The same words.")
    note(tmp_path / "b.md", "The same words.")
    assert [item.path for item in items(tmp_path)] == ["a.md"]
    assert [type(step) for step in plan_import(tmp_path).steps()] == [ImportedDocument, SkippedItem]


def test_order_and_keys_are_deterministic(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a.md", "A.md", "ä.md"):
        note(tmp_path / name, f"words of {name}")
    assert [item.path for item in items(tmp_path)] == ["A.md", "a.md", "a/z.md", "b.md", "ä.md"]
    assert items(tmp_path) == items(tmp_path)


def test_a_missing_path_and_a_vault_of_this_memory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        detect_importer(tmp_path / "none")
    (tmp_path / ".lamina").mkdir()
    with pytest.raises(InvalidInput, match="already a lamina vault"):
        detect_importer(tmp_path)
