from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from lamina.models.tokeniser import split_into_chunks


def words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\w|[^\w\s]", text)]


def chunk_texts(text: str, most: int) -> list[str]:
    pieces = words(text)
    return [text[pieces[first][0] : pieces[after - 1][1]] for first, after in split_into_chunks(text, pieces, most)]


def test_sentences_are_packed_into_chunks_up_to_the_limit() -> None:
    assert chunk_texts("Ab. Cd. Ef.", 6) == ["Ab. Cd.", "Ef."]
    assert chunk_texts("Ab. Cd. Ef.", 9) == ["Ab. Cd. Ef."]
    assert chunk_texts("Ab\nCd\nEf", 2) == ["Ab", "Cd", "Ef"]


def test_a_sentence_over_the_limit_is_split_and_its_rest_is_packed_on() -> None:
    assert chunk_texts("abcdefgh. Ij.", 4) == ["abcd", "efgh", ". Ij."]
    assert chunk_texts("Ab. cdefghijk. L.", 6) == ["Ab.", "cdefgh", "ijk. L."]


def test_a_text_without_tokens_has_no_chunks() -> None:
    assert split_into_chunks("", []) == []
    assert split_into_chunks("   ", []) == []


@given(st.text(alphabet="ab .!?\n。…é", max_size=300), st.integers(1, 20))
def test_every_token_is_in_exactly_one_chunk_within_the_limit(text: str, most: int) -> None:
    pieces = words(text)
    spans = split_into_chunks(text, pieces, most)
    assert [n for first, after in spans for n in range(first, after)] == list(range(len(pieces)))
    assert all(0 < after - first <= most for first, after in spans)
