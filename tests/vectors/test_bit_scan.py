from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lamina.vectors.bit_scan import (
    LOW_WEIGHT,
    MAX_QUERY_LEVEL,
    MIN_THREAD_ROWS,
    QUERY_BITS,
    SIGN_WEIGHT,
    ScanKernel,
    ScanQuery,
    Words,
    numpy_kernel,
    scan_cosines,
    scan_cosines_of,
    to_planes,
    to_scan_query,
    to_words,
)
from lamina.vectors.integer_vectors import Floats
from lamina.vectors.quantisation import UNIT, codebook_for, encode, unpack_codes
from lamina.vectors.rotation import rotation_for
from unit_vectors import unit_vectors

WIDTHS = (1, 7, 64, 100, 256, 300, 384, 768, 1024)
widths = st.sampled_from(WIDTHS)
seeds = st.integers(0, 2**32 - 1)


def query_levels(question: ScanQuery) -> NDArray[np.int64]:
    """The odd numbers a question was rounded to."""
    planes = np.unpackbits(question.planes.view(np.uint8), axis=1).astype(np.int64)
    levels: NDArray[np.int64] = 2 * (planes * (1 << np.arange(QUERY_BITS))[:, None]).sum(axis=0) - MAX_QUERY_LEVEL
    return levels


def by_numpy(words: Words, factors: Floats, question: ScanQuery) -> Floats:
    result = np.empty(len(words), dtype=np.float32)
    numpy_kernel(words, factors, question.planes, question.scale, result)
    return result


def test_signs_and_low_bits_sum_to_the_levels_of_the_codebook() -> None:
    added = [SIGN_WEIGHT * sign + LOW_WEIGHT * low for sign in (-1, 1) for low in (-1, 1)]
    assert added == codebook_for(2).unit_levels.tolist()


@settings(deadline=None, max_examples=60)
@given(widths, st.integers(1, 40), seeds, st.booleans())
def test_an_estimate_is_an_exact_sum_times_two_numbers(width: int, count: int, seed: int, spiky: bool) -> None:
    coded = encode(unit_vectors(count, width, seed, spiky=spiky), 2)
    question = to_scan_query(unit_vectors(1, width, seed + 1, spiky=spiky)[0])
    whole = codebook_for(2).unit_levels[unpack_codes(coded.codes, 2)] @ query_levels(question)
    expected = whole.astype(np.float32) * coded.factor * question.scale
    assert scan_cosines(to_words(coded), coded.factor, question).tobytes() == expected.tobytes()


@settings(deadline=None, max_examples=60)
@given(widths, st.integers(1, 40), seeds)
def test_neighbouring_rows_and_positions_do_not_matter(width: int, count: int, seed: int) -> None:
    words, factors = to_planes(unit_vectors(count, width, seed))
    question = to_scan_query(unit_vectors(1, width, seed + 1)[0])
    whole = scan_cosines(words, factors, question)
    order = np.random.default_rng(seed).permutation(count)
    for chosen in (order, order[: 1 + count // 2], order[:1], order[:0]):
        assert scan_cosines(words[chosen], factors[chosen], question).tobytes() == whole[chosen].tobytes()
        assert scan_cosines_of(words, factors, question, chosen).tobytes() == whole[chosen].tobytes()


def test_rows_may_be_in_a_read_only_file(tmp_path: Path) -> None:
    words, factors = to_planes(unit_vectors(50, 384, 1))
    question = to_scan_query(unit_vectors(1, 384, 2)[0])
    np.save(tmp_path / "words.npy", np.concatenate([words, np.zeros_like(words)]))
    mapped = np.load(tmp_path / "words.npy", mmap_mode="r")[:50]
    expected = scan_cosines(words, factors, question)
    assert scan_cosines(mapped, factors, question).tobytes() == expected.tobytes()
    rows = np.array([3, 1, 49], dtype=np.int64)
    assert scan_cosines_of(mapped, factors, question, rows).tobytes() == expected[rows].tobytes()


def test_many_rows_are_split_over_threads_with_the_same_result() -> None:
    drawn = np.random.default_rng(3)
    count = 2 * MIN_THREAD_ROWS + 17
    words = drawn.integers(0, 2**63, (count, 2), dtype=np.uint64)
    factors = drawn.random(count, dtype=np.float32)
    question = to_scan_query(unit_vectors(1, 64, 4)[0])
    assert scan_cosines(words, factors, question).tobytes() == by_numpy(words, factors, question).tobytes()


def test_concurrent_callers_do_not_interfere() -> None:
    drawn = np.random.default_rng(5)
    words = drawn.integers(0, 2**63, (2 * MIN_THREAD_ROWS, 2), dtype=np.uint64)
    factors = drawn.random(2 * MIN_THREAD_ROWS, dtype=np.float32)
    questions = [to_scan_query(item) for item in unit_vectors(6, 64, 6)]
    fields: dict[int, bytes] = {}

    def ask(n: int) -> None:
        fields[n] = scan_cosines(words, factors, questions[n]).tobytes()

    callers = [threading.Thread(target=ask, args=(n,)) for n in range(len(questions))]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert fields == {n: by_numpy(words, factors, question).tobytes() for n, question in enumerate(questions)}


@cache
def machine_code() -> ScanKernel:
    pytest.importorskip("numba", reason="numba is an extra")
    from lamina.vectors.bit_scan_numba import compile_kernel

    return compile_kernel()


@settings(deadline=None, max_examples=100)
@given(widths, st.integers(0, 300), seeds)
def test_the_compiled_kernel_equals_the_numpy_kernel(width: int, count: int, seed: int) -> None:
    drawn = np.random.default_rng(seed)
    question = to_scan_query(unit_vectors(1, width, seed)[0])
    words = drawn.integers(0, 2**64, (count, 2 * question.planes.shape[1]), dtype=np.uint64, endpoint=False)
    factors = drawn.random(count, dtype=np.float32)
    words.flags.writeable = bool(seed % 2)
    result = np.empty(count, dtype=np.float32)
    machine_code()(words, factors, question.planes, question.scale, result)
    assert result.tobytes() == by_numpy(words, factors, question).tobytes()


@pytest.mark.parametrize("spiky", [False, True])
def test_estimates_are_unbiased_and_rarely_far_off(spiky: bool) -> None:
    vectors, questions = unit_vectors(2000, 384, 7, spiky=spiky), unit_vectors(20, 384, 8, spiky=spiky)
    questions = np.asarray(vectors[:20] + questions, dtype=np.float32)
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    words, factors = to_planes(vectors)
    off = np.stack(
        [scan_cosines(words, factors, to_scan_query(question)) - vectors @ question for question in questions]
    )
    assert abs(off.mean()) < 0.001
    assert off.std() < 0.021
    assert abs(off[np.arange(20), np.arange(20)].mean()) < 0.01


def test_the_nearest_are_among_the_best_estimates() -> None:
    vectors, questions = unit_vectors(5000, 384, 9), unit_vectors(20, 384, 10)
    words, factors = to_planes(vectors)
    result = 0
    for question in questions:
        nearest = set(np.argsort(-(vectors @ question))[:10].tolist())
        result += len(nearest & set(np.argsort(-scan_cosines(words, factors, to_scan_query(question)))[:200].tolist()))
    assert result >= 0.99 * 200


def test_the_length_of_a_query_does_not_matter() -> None:
    question = unit_vectors(1, 384, 11)[0]
    one, other = to_scan_query(question), to_scan_query(question * np.float32(8))
    assert (one.planes.tobytes(), one.scale) == (other.planes.tobytes(), other.scale)


def test_a_zero_vector_is_similar_to_nothing() -> None:
    words, factors = to_planes(np.concatenate([np.zeros((1, 384), np.float32), unit_vectors(3, 384, 12)]))
    assert scan_cosines(words, factors, to_scan_query(unit_vectors(1, 384, 13)[0]))[0] == 0
    assert not scan_cosines(words, factors, to_scan_query(np.zeros(384, np.float32))).any()


def test_no_rows_give_no_estimates() -> None:
    words, factors = to_planes(np.empty((0, 384), np.float32))
    assert words.shape == (0, 12)
    assert scan_cosines(words, factors, to_scan_query(unit_vectors(1, 384, 14)[0])).shape == (0,)


def test_results_are_the_same_on_every_machine() -> None:
    rows, columns = np.meshgrid(np.arange(64), np.arange(384), indexing="ij")
    vectors = ((rows * 37 + columns * 101 + rows * columns) % 257 - 128).astype(np.float32)
    result = scan_cosines(*to_planes(vectors), to_scan_query(vectors[5] + vectors[6]))
    assert hashlib.sha256(result.astype("<f4").tobytes()).hexdigest().startswith("21e21d4c46e4")


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_nan_query_is_refused(wrong: float) -> None:
    vector = unit_vectors(1, 384, 15)[0]
    vector[7] = wrong
    with pytest.raises(ValueError, match="not finite"):
        to_scan_query(vector)


def test_tables_of_another_shape_are_refused_before_the_kernel_runs() -> None:
    words, factors = to_planes(unit_vectors(3, 384, 16))
    with pytest.raises(ValueError, match="different widths"):
        scan_cosines(words, factors, to_scan_query(unit_vectors(1, 64, 17)[0]))
    with pytest.raises(ValueError, match="one float32 factor"):
        scan_cosines(words, factors[:2], to_scan_query(unit_vectors(1, 384, 18)[0]))
    with pytest.raises(IndexError):
        scan_cosines_of(words, factors, to_scan_query(unit_vectors(1, 384, 18)[0]), np.array([3]))
    with pytest.raises(ValueError, match="2 bits"):
        to_words(encode(unit_vectors(3, 384, 19), 4))


def test_a_query_keeps_its_rounding_remainder() -> None:
    vector = unit_vectors(1, 384, 20)[0]
    question = to_scan_query(vector)
    turned = rotation_for(384).apply(vector[None, :])[0].astype(np.float64) * np.sqrt(384)
    stored = float(query_levels(question) @ turned)
    assert question.scale == pytest.approx(1 / (UNIT * stored), rel=1e-5)


FEW_ROWS = """
import sys
{before}
import numpy as np
from lamina.vectors import bit_scan
vectors = np.eye(64, dtype=np.float32)
words, factors = bit_scan.to_planes(vectors)
bit_scan.scan_cosines(words, factors, bit_scan.to_scan_query(vectors[0]))
{after}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "assert 'numba' not in sys.modules"),
        (
            "sys.modules['numba'] = None",
            "assert not bit_scan.load_compiled_kernel()\n"
            "bit_scan.scan_cosines(words, factors, bit_scan.to_scan_query(vectors[0]))",
        ),
    ],
    ids=["a few rows do not load it", "it may be missing"],
)
def test_numba_is_loaded_only_where_it_pays(before: str, after: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", FEW_ROWS.format(before=before, after=after)], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
