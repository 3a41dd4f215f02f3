from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from lamina.models.chunks import split_into_chunks


def words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\w|[^\w\s]", text)]


def told(text: str, most: int) -> list[str]:
    pieces = words(text)
    return [text[pieces[first][0] : pieces[after - 1][1]] for first, after in split_into_chunks(text, pieces, most)]


def test_sentences_are_packed_together_as_long_as_they_fit() -> None:
    assert told("Ab. Cd. Ef.", 6) == ["Ab. Cd.", "Ef."]
    assert told("Ab. Cd. Ef.", 9) == ["Ab. Cd. Ef."]
    assert told("Ab\nCd\nEf", 2) == ["Ab", "Cd", "Ef"]


def test_a_sentence_that_is_too_long_is_cut_and_its_rest_is_packed_on() -> None:
    assert told("abcdefgh. Ij.", 4) == ["abcd", "efgh", ". Ij."]
    assert told("Ab. cdefghijk. L.", 6) == ["Ab.", "cdefgh", "ijk. L."]


def test_a_text_without_pieces_has_no_chunks() -> None:
    assert split_into_chunks("", []) == []
    assert split_into_chunks("   ", []) == []


@given(st.text(alphabet="ab .!?\n。…é", max_size=300), st.integers(1, 20))
def test_every_piece_is_in_just_one_chunk_and_no_chunk_is_too_long(text: str, most: int) -> None:
    pieces = words(text)
    found = split_into_chunks(text, pieces, most)
    assert [n for first, after in found for n in range(first, after)] == list(range(len(pieces)))
    assert all(0 < after - first <= most for first, after in found)
