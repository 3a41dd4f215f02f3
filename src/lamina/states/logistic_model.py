"""A fitted logistic model with the threshold from which its answer counts as yes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.vectors.levels import Floats


class LogisticModel:
    """Returns probabilities for rows of features. Weights and threshold come from `make train`."""

    def __init__(self, weights: Sequence[float], bias: float, threshold: float = 0.5) -> None:
        self._weights, self._bias, self.threshold = np.array(weights, np.float64), bias, threshold

    def probabilities(self, features: Floats) -> Floats:
        """Return the probability for each row."""
        logits = np.asarray(features, np.float64) @ self._weights + self._bias
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30, 30))), np.float32)
