"""The score of passages: the formula of `VectorQuery`, computed over columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.store.encodings import VectorQuery
from lamina.store.sqlite.passage_columns import ALWAYS, STATUSES, PassageColumns
from lamina.vectors.integer_vectors import Floats


def score_rows(
    columns: PassageColumns,
    query: VectorQuery,
    rows: NDArray[np.int64],
    cosine: Floats,
    text_scores: Mapping[int, float],
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the scores of some rows, in order; which were said in the window, and which mention it."""
    in_window = _in_window(columns, query, "at", rows)
    mentions_window = _in_window(columns, query, "tells_of", rows) & ~in_window
    score = cosine * np.float32(query.vector_weight) + _term_sums(columns, query, rows, in_window, mentions_window)
    if text_scores:
        text_rows = np.array(list(text_scores), dtype=np.int64)
        amounts = np.array(list(text_scores.values()), dtype=np.float32) * np.float32(query.text_weight)
        indexes = np.searchsorted(rows, text_rows)
        is_present = indexes < len(rows)
        is_present[is_present] = rows[indexes[is_present]] == text_rows[is_present]
        score[indexes[is_present]] += amounts[is_present]
    weights = np.array([query.status_weights.get(status, 0.0) for status in STATUSES], dtype=np.float32)
    weighted = np.flatnonzero(weights[_column(columns, "status", rows)] != 1)
    unweighted = score[weighted]
    score[weighted] = np.where(unweighted > 0, unweighted * weights[columns["status"][rows[weighted]]], unweighted)
    return score, in_window, mentions_window


def _column(columns: PassageColumns, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return a column for some rows, in order; for all rows it is the column itself."""
    column = columns[name]
    return column if len(rows) == len(column) else column[rows]


def _in_window(columns: PassageColumns, query: VectorQuery, column: str, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows were said in, or mention, the time window of the query."""
    inside = np.zeros(len(rows), dtype=np.bool_)
    if query.terms.window is not None:
        times = _column(columns, column, rows)
        has_time = times != ALWAYS
        inside[has_time] = query.terms.window.contains(times[has_time])
    return inside


def _term_sums(
    columns: PassageColumns,
    query: VectorQuery,
    rows: NDArray[np.int64],
    in_window: NDArray[np.bool_],
    mentions_window: NDArray[np.bool_],
) -> Floats:
    """Return the sum of the added terms for each row."""
    speaker_numbers = columns.speakers
    speakers = {
        speaker_numbers[speaker]: amount
        for speaker, amount in query.terms.speakers.items()
        if speaker in speaker_numbers
    }
    total = np.zeros(len(rows), dtype=np.float32)
    if any(speakers.values()):
        by_speaker = np.zeros(len(speaker_numbers), dtype=np.float32)
        by_speaker[list(speakers)] = list(speakers.values())
        total += by_speaker[_column(columns, "speaker", rows)]
    if query.terms.window is not None:
        total += np.where(in_window, np.float32(query.terms.in_window), np.float32(0))
        total += np.where(mentions_window, np.float32(query.terms.mentions_window), np.float32(0))
    return total
