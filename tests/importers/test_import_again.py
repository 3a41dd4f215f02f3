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
    import_items,
    plan_import,
)

SAID = [message("user" if n % 2 == 0 else "assistant", f"sentence {n}", START + n) for n in range(6)]


def items(path: Path, known: set[str] | None = None) -> list[ImportedItem]:
    found = list(import_items(path, (known or set()).__contains__))
    assert not any(isinstance(each, ImportProblem) for each in found)
    return [each for each in found if not isinstance(each, ImportProblem)]


def test_what_was_imported_is_not_imported_again(tmp_path: Path) -> None:
    path = write(tmp_path / "a" / "conversations.json", [chatgpt("c1", SAID), chatgpt("c2", SAID)])
    first = items(path)
    known = {item.key for item in first}
    assert len(known) == 2
    assert all(key.startswith("import:") for key in known)
    assert items(path, known) == []
    assert all(isinstance(step, SkippedItem) for step in plan_import(path).steps(known.__contains__))


def test_an_import_that_was_broken_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = write(tmp_path / "conversations.json", [chatgpt(f"c{n}", SAID) for n in range(5)])
    whole = items(path)
    assert items(path, {item.key for item in whole[:2]}) == whole[2:]


def test_a_conversation_that_went_on_gives_only_the_rest(tmp_path: Path) -> None:
    (before,) = items(write(tmp_path / "may" / "conversations.json", [chatgpt("c1", SAID[:4])]))
    (rest,) = items(write(tmp_path / "june" / "conversations.json", [chatgpt("c1", SAID)]), {before.key})
    assert isinstance(before, ImportedConversation)
    assert isinstance(rest, ImportedConversation)
    assert [piece.text for piece in rest.pieces] == ["sentence 4", "sentence 5"]
    assert (rest.session_id, rest.skipped_pieces) == (before.session_id, 4)
    assert items(tmp_path / "june", {before.key, rest.key}) == []


def test_the_same_words_in_another_conversation_are_another_thing(tmp_path: Path) -> None:
    one, other = items(write(tmp_path / "conversations.json", [chatgpt("c1", SAID), chatgpt("c2", SAID)]))
    assert one.key != other.key


def test_a_note_is_known_wherever_it_lies_and_however_it_is_spaced(tmp_path: Path) -> None:
    note(tmp_path / "a" / "tea.md", "# Tea\n\nAnn likes it.\n")
    note(tmp_path / "b" / "deep" / "drink.md", "# Tea\n\n\nAnn   likes it.\n\n")
    (one,), (other,) = items(tmp_path / "a"), items(tmp_path / "b")
    assert one.key == other.key
    note(tmp_path / "a" / "tea.md", "# Tea\n\nBob likes it.\n")
    assert items(tmp_path / "a")[0].key != one.key


def test_no_key_knows_of_a_secret(tmp_path: Path) -> None:
    found = set()
    for letters in ("abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba"):
        note(tmp_path / "keys.md", f"The key is sk-proj-{letters}0123456789ABCDEFGH1234.")
        found |= {item.key for item in items(tmp_path)}
    assert len(found) == 1


def test_two_files_with_the_same_words_are_imported_once(tmp_path: Path) -> None:
    note(tmp_path / "a.md", "The same words.")
    note(tmp_path / "b.md", "The same words.")
    assert [item.path for item in items(tmp_path)] == ["a.md"]
    assert [type(step) for step in plan_import(tmp_path).steps()] == [ImportedDocument, SkippedItem]


def test_the_order_and_the_keys_are_always_the_same(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a.md", "A.md", "ä.md"):
        note(tmp_path / name, f"words of {name}")
    assert [item.path for item in items(tmp_path)] == ["A.md", "a.md", "a/z.md", "b.md", "ä.md"]
    assert items(tmp_path) == items(tmp_path)


def test_nothing_there_and_an_own_vault_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        detect_importer(tmp_path / "none")
    (tmp_path / ".lamina").mkdir()
    with pytest.raises(InvalidInput, match="already a lamina vault"):
        detect_importer(tmp_path)
