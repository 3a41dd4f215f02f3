"""Vectors as a store keeps them: read again at every precision, ranked with less trust the fewer their bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.vectors.integer_vectors import cosines, to_level_rows, to_query_vector
from lamina.vectors.quantisation import PRECISIONS
from lamina.vectors.stored_vectors import DamagedVectors, StoredVectors, pack, to_search_rows, uncertainty_of, unpack
from unit_vectors import unit_vectors

WIDTH = 384
LEAST = {32: 1 - 1e-6, 8: 0.999, 4: 0.985, 2: 0.9}


@pytest.mark.parametrize("bits", PRECISIONS)
def test_stored_vectors_are_read_back_as_precisely_as_their_bits_allow(bits: int) -> None:
    vectors = unit_vectors(7, WIDTH, 3)
    read = unpack(pack(vectors, bits))
    assert read.shape == vectors.shape
    assert (np.einsum("nd,nd->n", read, vectors) > LEAST[bits]).all()


@given(st.lists(st.sampled_from(PRECISIONS), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_a_text_has_the_same_row_in_any_batch(bits: list[int], seed: int) -> None:
    texts = [unit_vectors(1 + n % 3, 64, seed + n) for n in range(len(bits))]
    stored = [pack(vectors, count) for vectors, count in zip(texts, bits, strict=True)]
    rows, sizes = to_search_rows(stored, 64)
    assert sizes.tolist() == [len(text) for text in texts]
    starts = np.cumsum(sizes) - sizes
    for start, size, item in zip(starts, sizes, stored, strict=True):
        alone, _ = to_search_rows([item], 64)
        here = slice(start, start + size)
        assert (rows.levels[here] == alone.levels).all()
        assert (rows.scale[here] == alone.scale).all()
        assert (rows.uncertainty[here] == alone.uncertainty).all()


def test_full_precision_vectors_are_searched_exactly() -> None:
    vectors, question = unit_vectors(20, WIDTH, 5), to_query_vector(unit_vectors(1, WIDTH, 6)[0])
    rows, _ = to_search_rows([pack(vector[None, :]) for vector in vectors], WIDTH)
    assert (cosines(rows, question) == cosines(to_level_rows(vectors), question)).all()


def test_an_estimate_is_unbiased_less_its_uncertainty() -> None:
    vectors, questions = unit_vectors(400, WIDTH, 7), unit_vectors(20, WIDTH, 8)
    # Some that are near, where a search looks.
    vectors[:200] = vectors[:200] + 2 * questions[np.arange(200) % 20]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    true = vectors @ questions.T
    for bits in (8, 4, 2):
        rows, _ = to_search_rows([pack(vector[None, :], bits) for vector in vectors], WIDTH)
        result = np.stack([cosines(rows, to_query_vector(question)) for question in questions], axis=1)
        doubt = uncertainty_of(bits, WIDTH)
        bias = result + doubt * np.sqrt(1 - np.clip(true, -1, 1) ** 2) - true
        assert abs(bias.mean()) < 0.002
        assert bias.std() < 2.4 * doubt + 0.004


def test_of_equal_estimates_the_one_in_fewer_bits_ranks_lower() -> None:
    doubts = [uncertainty_of(bits, WIDTH) for bits in PRECISIONS]
    assert doubts[0] == 0
    assert doubts == sorted(doubts)


@pytest.mark.parametrize("bits", PRECISIONS)
def test_bytes_that_cannot_be_vectors_are_reported_as_damage(bits: int) -> None:
    stored_vectors = pack(unit_vectors(2, 64, 1), bits)
    wrong = (
        b"",
        stored_vectors.data[:2],
        stored_vectors.data[:-1],
        stored_vectors.data + b"x",
        b"\0\0" + stored_vectors.data[2:],
        b"\x41\0" + stored_vectors.data[2:],
        stored_vectors.data[:2] + b"\xff" * (len(stored_vectors.data) - 2)
        if bits == 32
        else stored_vectors.data[:2] + b"\xff" * 8 + stored_vectors.data[10:],
    )
    for data in wrong:
        with pytest.raises(DamagedVectors):
            unpack(StoredVectors(bits, data))
        with pytest.raises(DamagedVectors):
            to_search_rows([StoredVectors(bits, data)], 64)
    with pytest.raises(DamagedVectors):
        unpack(StoredVectors(3, stored_vectors.data))
