"""Fit the mark "earlier value": which candidates of a question for a current value state an outdated one."""

from __future__ import annotations

import numpy as np

from lamina.models.state_model import MiniLmTrunk
from lamina.states.current_state_ranking import EARLIER_FEATURES, compute_answer_features, compute_earlier_features
from lamina.states.fitted_decisions import LogisticModel
from lamina.text.analyser import content_tokens
from training.examples import load_chats
from training.logistic import fit_logistic
from training.ranker import Record
from training.reading_lists import ChatLists
from training.train import MODELS
from training.trunk import Vectors

WANTED_PRECISION = 0.65


def rows(
    records: list[Record], chats: dict[tuple[str, str], ChatLists], answers: LogisticModel
) -> tuple[np.ndarray, np.ndarray]:
    features, labels = [], []
    for record in records:
        if record.question.asks_current < 0.5:
            continue
        outdated = chats[record.row["chat"], record.row["question"]].outdated(record.row["question"])
        if outdated is None:
            continue
        terms = [hit["terms"] for hit in record.row["hits"]]
        chances = answers.probabilities(compute_answer_features(record.question, record.view, record.close, terms))
        words = frozenset(content_tokens(record.row["question"]))
        matrix = compute_earlier_features(record.question, words, record.view, record.close, chances)
        for n, (hit, newer) in enumerate(zip(record.row["hits"], record.close.outdated_by, strict=True)):
            if newer is not None and hit["turn"] is not None:
                features.append(matrix[n])
                labels.append(hit["turn"] in outdated)
    return np.array(features).reshape(-1, len(EARLIER_FEATURES)), np.array(labels, float)


def fit_earlier(training: list[Record], held_out: list[Record], answers: LogisticModel) -> dict[str, object]:
    """Return the fitted mark, with the threshold at which the wanted precision holds."""
    vectors = Vectors(MiniLmTrunk(MODELS))
    chat_ids = {entry.row["chat"] for entry in [*training, *held_out]}
    all_chats = [*load_chats(), *load_chats(held_out=True)]
    lists = [ChatLists(chat, vectors) for chat in all_chats if chat.id in chat_ids]
    chats = {(entry.chat.id, question.text): entry for entry in lists for question in entry.chat.questions}
    features, labels = rows(training, chats, answers)
    coefficients, bias = fit_logistic(features, labels, ridge=2.0)
    chances = 1 / (1 + np.exp(-(features @ coefficients + bias)))
    threshold = choose_threshold(chances, labels)
    for name, (x, y) in (("ranker chats", (features, labels)), ("held-out people", rows(held_out, chats, answers))):
        marked = 1 / (1 + np.exp(-(x @ coefficients + bias))) >= threshold
        right = (marked & (y > 0)).sum()
        print(
            f"{name}: {marked.sum()} marked, precision {right / max(1, marked.sum()):.3f}, recall {right / y.sum():.3f}"
        )
    return {
        "weights": [round(float(coefficient), 5) for coefficient in coefficients],
        "bias": round(bias, 5),
        "threshold": round(threshold, 4),
    }


def choose_threshold(chances: np.ndarray, labels: np.ndarray) -> float:
    """Return the lowest threshold at which the wanted precision holds for all that is given."""
    order = np.argsort(-chances)
    precision = np.cumsum(labels[order]) / np.arange(1, len(order) + 1)
    good = np.flatnonzero(precision >= WANTED_PRECISION)
    return float(chances[order[good[-1]]]) if len(good) else 0.99
