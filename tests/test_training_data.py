"""The training data is well formed, and what is held out by construction is nowhere in the rest."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from training.chat_format import read_chats
from training.name_swaps import NameSwaps

CHATS = sorted((Path(__file__).parents[1] / "training" / "data" / "chats").glob("*.txt"))


@pytest.mark.parametrize("path", CHATS, ids=lambda path: path.stem)
def test_every_line_of_a_chat_file_is_readable(path: Path) -> None:
    chats, errors = read_chats(path)
    assert not errors
    assert all(chat.turns and chat.questions for chat in chats)


def test_held_out_people_are_in_no_other_file() -> None:
    held_out = {turn.text for chat in read_chats(_file("heldout"))[0] for turn in chat.turns}
    others = [
        turn.text for path in CHATS if path.stem != "heldout" for chat in read_chats(path)[0] for turn in chat.turns
    ]
    assert not [text for text in others if text in held_out and len(text) > 25]


def test_a_malformed_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "chat.txt"
    file.write_text("# a | voice | Ann\n## 2026-01-04\n1 | I live in Rome | me/home=Paris !\n? where | 7 | current\n")
    _, errors = read_chats(file)
    assert len(errors) == 2
    assert errors[0].startswith("chat.txt:3: the value 'Paris' is not in the turn")


def _file(name: str) -> Path:
    return next(path for path in CHATS if path.stem == name)


def test_a_renamed_copy_keeps_the_labels_of_the_chat() -> None:
    chats = [chat for path in CHATS if path.stem != "languages" for chat in read_chats(path)[0]]
    swaps, draw = NameSwaps(chats), random.Random(3)
    changed = 0
    for chat in draw.sample(chats, 60):
        copy = swaps.copy(chat, draw)
        assert [len(turn.facts) for turn in copy.turns] == [len(turn.facts) for turn in chat.turns]
        assert [question.gold for question in copy.questions] == [question.gold for question in chat.questions]
        changed += sum(one.text != other.text for one, other in zip(chat.turns, copy.turns, strict=True))
        for before, after in zip(chat.turns, copy.turns, strict=True):
            for old, new in zip(before.facts, after.facts, strict=True):
                is_in_words = old.value.lower() in before.text.lower()
                assert not is_in_words or new.value.lower() in after.text.lower()
    assert changed > 100
