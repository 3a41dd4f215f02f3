from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lamina.vectors.integer_vectors import Floats, cosines, to_level_rows, to_query_vector
from lamina.vectors.vector_table import BLOCK, VectorTable
from unit_vectors import unit_vectors

WIDTH = 12


def build_table(vectors: Floats, sizes: list[int], parts: list[int]) -> VectorTable:
    """A table of these runs, appended in parts of so many runs each."""
    table, run, row = VectorTable(vectors.shape[1]), 0, 0
    for part in parts:
        some = np.array(sizes[run : run + part], dtype=np.int64)
        end = row + int(some.sum())
        table.append(to_level_rows(vectors[row:end]), some)
        run, row = run + part, end
    return table


def exhaustive_search(vectors: Floats, sizes: list[int], question: Floats) -> Floats:
    rows, ends = to_level_rows(vectors), np.cumsum(sizes)
    near = cosines(rows, to_query_vector(question))
    return np.array([near[end - size : end].max() for size, end in zip(sizes, ends, strict=True)], dtype=np.float32)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=60), st.data())
def test_runs_added_in_parts_are_searched_like_runs_added_together(sizes: list[int], data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    vectors, (question,) = unit_vectors(sum(sizes), WIDTH, seed), unit_vectors(1, WIDTH, seed + 1)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(sizes)), max_size=6)) | {0, len(sizes)})
    parts = [end - start for start, end in pairwise(cuts)]
    whole, grown = build_table(vectors, sizes, [len(sizes)]), build_table(vectors, sizes, parts)
    expected = exhaustive_search(vectors, sizes, question)
    query = to_query_vector(question)
    assert len(whole) == len(grown) == len(sizes)
    assert whole.scan(query).tobytes() == grown.scan(query).tobytes() == expected.tobytes()
    runs = np.array(data.draw(st.lists(st.integers(-1, len(sizes) - 1), max_size=30)), dtype=np.int64)
    some = np.where(runs >= 0, expected[runs], np.float32(0))
    assert grown.scan_runs(query, runs).tobytes() == some.astype(np.float32).tobytes()


def test_the_nearest_chunk_of_a_run_counts() -> None:
    (question,) = unit_vectors(1, WIDTH, 1)
    vectors = np.stack([-question, question, -question, -question])
    table = build_table(vectors, [3, 1], [2])
    near, far = table.scan(to_query_vector(question))
    assert near > 0.99
    assert far < -0.99


@pytest.mark.parametrize("count", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 7])
def test_runs_across_blocks_are_searched_like_any(count: int) -> None:
    sizes = [3] * (count // 3) + [1] * (count % 3)
    vectors, (question,) = unit_vectors(count, WIDTH, 2), unit_vectors(1, WIDTH, 3)
    table, query = build_table(vectors, sizes, [len(sizes)]), to_query_vector(question)
    assert table.scan(query).tobytes() == exhaustive_search(vectors, sizes, question).tobytes()
    everything: NDArray[np.int64] = np.arange(len(sizes))
    assert table.scan_runs(query, everything).tobytes() == table.scan(query).tobytes()


def test_an_empty_table_finds_nothing() -> None:
    table, query = VectorTable(WIDTH), to_query_vector(unit_vectors(1, WIDTH, 4)[0])
    nothing = to_level_rows(np.empty((0, WIDTH), dtype=np.float32))
    assert table.scan(query).shape == (0,)
    assert table.scan_runs(query, np.array([-1, -1])).tolist() == [0.0, 0.0]
    table.append(nothing, np.empty(0, dtype=np.int64))
    assert (len(table), table.scan(query).shape) == (0, (0,))


def test_results_stay_the_same_while_the_table_grows_row_by_row() -> None:
    vectors, (question,) = unit_vectors(200, WIDTH, 5), unit_vectors(1, WIDTH, 6)
    table, query, before = VectorTable(WIDTH), to_query_vector(question), np.empty(0, dtype=np.float32)
    for row in vectors:
        table.append(to_level_rows(row[None, :]), np.array([1]))
        result = table.scan(query)
        assert result[:-1].tobytes() == before.tobytes()
        before = result
