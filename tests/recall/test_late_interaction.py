"""Late interaction against a slow look at every pair of tokens."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lamina.recall.late_interaction import SIGN_SCALE, STATE_LEVELS, match_nibbles, match_signs, match_static_tokens
from lamina.vectors.integer_vectors import Floats, LevelRows, to_level_rows
from lamina.vectors.stored_vectors import level_step, to_nibbles, to_signs
from unit_vectors import packed_levels, unit_vectors

WIDTH = 64
TABLE = unit_vectors(300, WIDTH, 77)

Met = Callable[..., Floats]

lengths = st.lists(st.integers(0, 9), min_size=1, max_size=12)
seeds = st.integers(0, 2**32 - 1)


def rows(ids: NDArray[np.int64]) -> LevelRows:
    return to_level_rows(TABLE[ids])


def pieces(ids: NDArray[np.int64]) -> bytes:
    return ids.astype("<u2").tobytes()


def slow_signs(tokens: Floats, passages: list[Floats]) -> Floats:
    """The best product of each token's unit state with the unit-length signs of a passage's states, 0 without any."""
    return np.array(
        [
            [
                max(
                    (token @ np.where(state > 0, 1.0, -1.0) / np.sqrt(WIDTH) * SIGN_SCALE for state in passage),
                    default=0,
                )
                for passage in passages
            ]
            for token in tokens.astype(np.float64)
        ]
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), lengths, seeds)
def test_sign_matches_equal_a_comparison_of_every_pair(count: int, sizes: list[int], seed: int) -> None:
    tokens, passages = (
        unit_vectors(count, WIDTH, seed),
        [unit_vectors(size, WIDTH, seed + n) for n, size in enumerate(sizes, 1)],
    )
    result = match_signs(tokens, [to_signs(passage) for passage in passages])
    assert result.shape == (count, len(sizes))
    assert np.abs(result - slow_signs(tokens, passages)).max() < 0.01
    for n, item in enumerate(passages):
        if not len(item):
            assert not result[:, n].any()


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), lengths, seeds)
def test_level_matches_approximate_those_of_the_full_states(count: int, sizes: list[int], seed: int) -> None:
    tokens, passages = (
        unit_vectors(count, WIDTH, seed),
        [unit_vectors(size, WIDTH, seed + n) for n, size in enumerate(sizes, 1)],
    )
    result = match_nibbles(tokens, [to_nibbles(passage) for passage in passages])
    slow = [[max((token @ passage.T).tolist(), default=0.0) for passage in passages] for token in tokens]
    assert result.shape == (count, len(sizes))
    assert np.abs(result - np.array(slow)).max() < 0.12


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), lengths, seeds)
def test_a_product_with_levels_is_exact(count: int, sizes: list[int], seed: int) -> None:
    tokens, passages = (
        unit_vectors(count, WIDTH, seed),
        [unit_vectors(size, WIDTH, seed + n) for n, size in enumerate(sizes, 1)],
    )
    actual = match_nibbles(tokens, [to_nibbles(passage) for passage in passages])
    result = np.rint(tokens * np.float32(STATE_LEVELS)).astype(np.int64)
    scale = np.float32(level_step(WIDTH) / (2 * STATE_LEVELS))
    for n, item in enumerate(passages):
        if len(item):
            best = (result @ packed_levels(to_nibbles(item), WIDTH).T).max(axis=1)
            assert actual[:, n].tobytes() == (best.astype(np.float32) * scale).tobytes()


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), lengths, seeds)
def test_static_token_matches_equal_a_comparison_of_every_pair(count: int, sizes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    tokens, passages = unit_vectors(count, WIDTH, seed), [random.choice(len(TABLE), size) for size in sizes]
    result = match_static_tokens(tokens, rows, [pieces(passage) for passage in passages])
    slow = [[max((token @ TABLE[passage].T).tolist(), default=0.0) for passage in passages] for token in tokens]
    assert result.shape == (count, len(sizes))
    assert np.abs(result - np.array(slow)).max() < 0.02


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), lengths, seeds)
def test_a_passage_matches_bit_identically_in_any_batch(count: int, sizes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    tokens = unit_vectors(count, WIDTH, seed)
    contextual = [unit_vectors(size, WIDTH, seed + n) for n, size in enumerate(sizes, 1)]
    words = [pieces(random.choice(len(TABLE), size)) for size in sizes]
    order = random.permutation(len(sizes))
    ways: list[tuple[Met, list[bytes]]] = [
        (match_signs, [to_signs(item) for item in contextual]),
        (match_nibbles, [to_nibbles(item) for item in contextual]),
        (partial(match_static_tokens, rows=rows), words),
    ]
    for met, states in ways:
        whole = met(tokens, states=states)
        assert met(tokens, states=[states[n] for n in order]).tobytes() == whole[:, order].tobytes()
        for n, state in enumerate(states):
            assert met(tokens, states=[state]).tobytes() == whole[:, n].tobytes()
        assert met(tokens[:1], states=states).tobytes() == whole[:1].tobytes()


def test_empty_inputs_give_empty_results() -> None:
    tokens, none = unit_vectors(2, WIDTH, 1), np.empty((0, 0), dtype=np.float32)
    ways: list[Met] = [match_signs, match_nibbles, partial(match_static_tokens, rows=rows)]
    for met in ways:
        assert met(tokens, states=[]).shape == (2, 0)
        assert met(none, states=[b"", b""]).shape == (0, 2)
        assert met(tokens, states=[b"", b""]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert match_signs(none, [to_signs(tokens)]).shape == (0, 1)
    assert match_nibbles(none, [to_nibbles(tokens)]).shape == (0, 1)


@pytest.mark.parametrize("width", [8, 64, 384, 1024])
def test_a_state_matches_its_own_signs_and_levels_best(width: int) -> None:
    states = unit_vectors(20, width, 3)
    for result in (
        match_signs(states, [to_signs(state[None, :]) for state in states]),
        match_nibbles(states, [to_nibbles(state[None, :]) for state in states]),
    ):
        assert (result.argmax(axis=1) == np.arange(20)).all() or width == 8
        assert result.max() < 1.3
