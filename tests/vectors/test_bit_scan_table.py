"""Tables in two bits: about the same answers as the exact one, in a tenth of the room."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.vectors.integer_vectors import Floats, to_level_rows, to_query_vector
from lamina.vectors.vector_table import ScanTable, VectorTable
from unit_vectors import unit_vectors

WIDTH = 128


def filled(vectors: Floats, sizes: list[int]) -> tuple[ScanTable, VectorTable]:
    """The same runs in both tables, added a few at a time."""
    scanned, exact, row = ScanTable(WIDTH), VectorTable(WIDTH), 0
    for start in range(0, len(sizes), 7):
        some = np.array(sizes[start : start + 7])
        rows = to_level_rows(vectors[row : row + int(some.sum())])
        scanned.append(rows, some)
        exact.append(rows, some)
        row += int(some.sum())
    return scanned, exact


@settings(max_examples=30)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=60), st.integers(0, 1000))
def test_an_estimate_approximates_the_cosine_of_the_nearest_chunk(sizes: list[int], seed: int) -> None:
    scanned, exact = filled(unit_vectors(sum(sizes), WIDTH, seed), sizes)
    query = to_query_vector(unit_vectors(1, WIDTH, seed + 1)[0])
    assert len(scanned) == len(exact) == len(sizes)
    assert np.abs(scanned.scan(query) - exact.scan(query)).max() < 0.2
    runs = np.arange(-1, len(sizes))[:: 1 + seed % 3]
    some = scanned.scan_runs(query, runs)
    assert (some[runs >= 0] == scanned.scan(query)[runs[runs >= 0]]).all()
    assert not some[runs < 0].any()


@settings(max_examples=30)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=40), st.data())
def test_a_subset_of_a_table_answers_as_before(sizes: list[int], data: st.DataObject) -> None:
    scanned, exact = filled(unit_vectors(sum(sizes), WIDTH, 3), sizes)
    query = to_query_vector(unit_vectors(1, WIDTH, 4)[0])
    before = scanned.scan(query)
    assert (ScanTable.from_table(exact).scan(query) == before).all()
    some = data.draw(st.lists(st.sampled_from(range(len(sizes))), min_size=1, unique=True))
    stored = np.array([item for run in some for item in ((run, -1) if run % 3 else (run,))])
    numbers = scanned.keep_runs(stored)
    assert ((numbers >= 0) == (stored >= 0)).all()
    assert numbers[stored >= 0].tolist() == list(range(len(some)))
    assert len(scanned) == len(some)
    assert (scanned.scan(query)[numbers[stored >= 0]] == before[stored[stored >= 0]]).all()


def test_a_table_mapped_from_a_file_can_grow() -> None:
    scanned, _ = filled(unit_vectors(30, WIDTH, 5), [1] * 30)
    saved = scanned.to_arrays()
    roomy = {name: np.concatenate([item, np.zeros_like(item)]) for name, item in saved.items()}
    again = ScanTable.from_arrays(roomy, {name: len(item) for name, item in saved.items()}, WIDTH)
    more = to_level_rows(unit_vectors(50, WIDTH, 6))
    for table in (scanned, again):
        table.append(more, np.full(25, 2))
    query = to_query_vector(unit_vectors(1, WIDTH, 7)[0])
    assert len(again) == 55
    assert (again.scan(query) == scanned.scan(query)).all()


def test_an_empty_table_finds_nothing() -> None:
    query = to_query_vector(unit_vectors(1, WIDTH, 7)[0])
    assert ScanTable(WIDTH).scan(query).shape == (0,)
    assert ScanTable(WIDTH).scan_runs(query, np.array([-1])).tolist() == [0]
