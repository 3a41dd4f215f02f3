"""The features that decide whether a candidate answers a question at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lamina.models.state_model import QuestionState, QuestionTarget
from lamina.states.state_ranking import ListReadings, StateView, log_odds
from lamina.vectors.levels import Floats

ANSWER_FEATURES = (
    "relevance",
    "passage",
    "similarity",
    "states the slot",
    "current",
    "current × similarity",
    "no state",
    "share of the best",
    "answers",
    "answers, log-odds",
    "not read",
)


def compute_answer_features(
    question: QuestionState, view: StateView, readings: ListReadings, terms: Sequence[Mapping[str, float]]
) -> Floats:
    """Return the features of each candidate in the order of ANSWER_FEATURES; `terms` are those of its relevance."""
    relevance = np.array([max(0.0, sum(candidate_terms.values())) for candidate_terms in terms])
    passage = np.array([candidate_terms.get("passage", 0.0) for candidate_terms in terms])
    current, no_state, count = question.asks_current, question.asks[QuestionTarget.NO_STATE], len(terms)
    return np.column_stack(
        [
            relevance,
            passage,
            view.similarity,
            view.states_slot,
            np.full(count, current),
            current * view.similarity,
            np.full(count, no_state),
            relevance / max(1e-6, float(relevance.max(initial=0.0))),
            readings.answers,
            [log_odds(probability) if probability else 0.0 for probability in readings.answers.tolist()],
            1.0 - readings.is_read,
        ]
    ).astype(np.float32)
