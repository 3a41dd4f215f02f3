"""Words with their place and type."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.recall.name_recognition import SentenceTokenKind, tokenise_sentence


def kinds(text: str) -> list[tuple[str, str]]:
    return [
        (token.text, token.kind.value) for token in tokenise_sentence(text) if token.kind is not SentenceTokenKind.MARK
    ]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("mail ana@quill.example.", [("mail", "word"), ("ana@quill.example", "typed")]),
        ("ring 0344 555 019 now", [("ring", "word"), ("0344 555 019", "typed"), ("now", "word")]),
        (
            "it costs £48 or 4 euros",
            [("it", "word"), ("costs", "word"), ("£48", "typed"), ("or", "word"), ("4 euros", "typed")],
        ),
        ("at 19:30 and 5 pm", [("at", "word"), ("19:30", "typed"), ("and", "word"), ("5 pm", "typed")]),
        ("on the 18th", [("on", "word"), ("the", "word"), ("18th", "typed")]),
        ("see https://quill.example/a?b=1.", [("see", "word"), ("https://quill.example/a?b=1", "typed")]),
        (
            "we met Ines at OPS-12",
            [("we", "word"), ("met", "word"), ("Ines", "name"), ("at", "word"), ("OPS-12", "name")],
        ),
        ("about 120 loaves", [("about", "word"), ("120", "typed"), ("loaves", "word")]),
    ],
)
def test_typed_tokens_stay_whole(text: str, result: list[tuple[str, str]]) -> None:
    assert kinds(text) == result


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I'm sure we've won't", ["i", "'m", "sure", "we", "'ve", "wo", "n't"]),
        ("I’m Ana’s", ["i", "'m", "ana", "'s"]),
        ("don't", ["do", "n't"]),
        ("O'Brien's re-run", ["o'brien", "'s", "re-run"]),
    ],
)
def test_contractions_are_split(text: str, words: list[str]) -> None:
    assert [token.lower for token in tokenise_sentence(text)] == words


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Nature is great.", []),
        ("Rye Society sells flour.", ["Rye", "Society"]),
        ("In Oslo it rains.", ["Oslo"]),
        ("IT moved the printer.", ["IT"]),
        ("it moved to May.", ["May"]),
        ("Finished Middlemarch yesterday.", ["Middlemarch"]),
    ],
)
def test_a_capital_letter_marks_a_name_unless_otherwise_explained(text: str, names: list[str]) -> None:
    assert [token.text for token in tokenise_sentence(text) if token.kind is SentenceTokenKind.NAME] == names


@given(st.text(max_size=300))
def test_tokens_are_in_text_order_and_cover_it(text: str) -> None:
    sentence_tokens = tokenise_sentence(text)
    assert all(text[token.start : token.end] == token.text for token in sentence_tokens)
    assert all(one.end <= other.start for one, other in pairwise(sentence_tokens))
    inside = {at for token in sentence_tokens for at in range(token.start, token.end)}
    assert all(at in inside or text[at].isspace() for at in range(len(text)))
