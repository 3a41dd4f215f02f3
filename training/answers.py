"""Fit the probability that a passage answers a question, on answered and unanswered questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamina.states.current_state_ranking import ANSWER_FEATURES, compute_answer_features
from training.logistic import fit_logistic
from training.ranker import Record, wanted

LOOKED_AT = 10
"""How many of a question's best candidates are judged."""
SILENT = 0.2
"""The share of answerable questions that may be answered with "nothing known"."""


def rows(records: list[Record], ranker: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, labels and question numbers of the best candidates."""
    features, labels, numbers = [], [], []
    for number, record in enumerate(records):
        order = np.argsort(-(record.relevance + record.features @ ranker))[:LOOKED_AT]
        terms = [hit["terms"] for hit in record.row["hits"]]
        answers = wanted(record.row) if record.row["gold"] else np.zeros(len(terms), bool)
        features.append(compute_answer_features(record.question, record.view, record.close, terms)[order])
        labels.append(np.array(answers)[order])
        numbers.append(np.full(len(order), number))
    return np.concatenate(features), np.concatenate(labels).astype(float), np.concatenate(numbers)


def best_chance(chances: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
    best = np.zeros(count)
    np.maximum.at(best, numbers, chances)
    return best


def fit_answers(training: list[Record], held_out: list[Record], weights: Sequence[float]) -> dict[str, Any]:
    """Return the fitted probability of an answer, with the threshold below which nothing is known."""
    ranker = np.array(weights)
    features, labels, numbers = rows(training, ranker)
    coefficients, bias = fit_logistic(features, labels, ridge=3.0)
    known = np.array([bool(record.row["gold"]) for record in training])
    chances = 1 / (1 + np.exp(-(features @ coefficients + bias)))
    threshold = float(np.quantile(best_chance(chances, numbers, len(training))[known], SILENT))
    for name, records in (("ranker chats", training), ("held-out people", held_out)):
        report(name, records, ranker, coefficients, bias, threshold)
    print({name: round(float(value), 2) for name, value in zip(ANSWER_FEATURES, coefficients)}, round(bias, 2))
    return {
        "weights": [round(float(coefficient), 5) for coefficient in coefficients],
        "bias": round(bias, 5),
        "threshold": round(threshold, 4),
    }


def report(
    name: str, records: list[Record], ranker: np.ndarray, coefficients: np.ndarray, bias: float, threshold: float
) -> None:
    features, _, numbers = rows(records, ranker)
    chances = 1 / (1 + np.exp(-(features @ coefficients + bias)))
    best = best_chance(chances, numbers, len(records))
    known = np.array([bool(record.row["gold"]) for record in records])
    before = np.array([any(hit["relevant"] for hit in record.row["hits"]) for record in records])
    order = np.sort(best[~known])
    auc = (np.searchsorted(order, best[known], "left")).mean() / max(1, len(order))
    figures = {
        "unknown answered as known": np.mean(best[~known] >= threshold),
        "with the fixed floor": np.mean(before[~known]),
        "known left silent": np.mean(best[known] < threshold),
        "silent with the fixed floor": np.mean(~before[known]),
        "AUC": auc,
    }
    print(name, {key: round(float(value), 3) for key, value in figures.items()})
