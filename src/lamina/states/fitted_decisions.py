"""The decisions that were fitted for a state model: what replaces what, what ranks first, what answers at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from lamina.states.current_state_ranking import CertaintyRange
from lamina.vectors.integer_vectors import Floats


class LogisticModel:
    """Returns probabilities for rows of features. Weights and threshold come from `make train`."""

    def __init__(self, weights: Sequence[float], bias: float, threshold: float = 0.5) -> None:
        self._weights, self._bias, self.threshold = np.array(weights, np.float64), bias, threshold

    def probabilities(self, features: Floats) -> Floats:
        """Return the probability for each row."""
        logits = np.asarray(features, np.float64) @ self._weights + self._bias
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30, 30))), np.float32)


@dataclass(frozen=True, slots=True)
class FittedDecisions:
    """The fitted models for recall; `ranker` is what each ranking feature adds to relevance."""

    ranker: Floats
    earlier: LogisticModel
    answers: LogisticModel
    certainty_range: CertaintyRange


@dataclass(frozen=True, slots=True)
class ReplacementBounds:
    """The probabilities from which the models are trusted.

    A statement is withheld if the pair model says that it no longer holds (`sure`) and the state model that both are
    about one slot (`same_slot`), or if the list reader says that a request to forget means it: `forgets`, or
    `forgets_named` for a statement with words that the request names. From `likely` and `likely_slot` on a pair of
    statements is only labelled.
    """

    sure: float
    same_slot: float
    likely: float
    likely_slot: float
    forgets: float
    forgets_named: float


@cache
def load_replacement_bounds() -> ReplacementBounds:
    """Return the bounds, which were chosen on people and groups that the models were not trained on."""
    return ReplacementBounds(**_load_fitted("pair_minilm"))


@cache
def load_decisions(name: str) -> FittedDecisions:
    """Return the decisions fitted for a state model, by the name of its weights file."""
    fitted = _load_fitted(name.removesuffix(".onnx"))
    return FittedDecisions(
        np.array(fitted["ranker"], np.float32),
        LogisticModel(**fitted["earlier"]),
        LogisticModel(**fitted["answers"]),
        CertaintyRange(**fitted["gate"]),
    )


def _load_fitted(name: str) -> dict[str, Any]:
    source = files("lamina.models") / "weights" / f"{name}.json"
    return dict(json.loads(source.read_text(encoding="utf-8")))
