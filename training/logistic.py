"""Fit logistic regressions by Newton's method, so that the result is the same on every machine."""

from __future__ import annotations

import numpy as np


def fit_logistic(
    features: np.ndarray, labels: np.ndarray, *, ridge: float = 1.0, weights: np.ndarray | None = None, rounds: int = 60
) -> tuple[np.ndarray, float]:
    """Return coefficients and bias; `ridge` penalises standardised coefficients."""
    mean, spread = features.mean(0), features.std(0) + 1e-6
    x = np.column_stack([(features - mean) / spread, np.ones(len(features))])
    sample = np.ones(len(x)) if weights is None else weights
    penalty = ridge * np.eye(x.shape[1])
    penalty[-1, -1] = 1e-6
    solution = np.zeros(x.shape[1])
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-np.clip(x @ solution, -30, 30)))
        gradient = x.T @ (sample * (chance - labels)) + penalty @ solution
        curvature = (x * (sample * chance * (1 - chance))[:, None]).T @ x + penalty
        step = np.linalg.solve(curvature, gradient)
        solution -= step
        if np.abs(step).max() < 1e-6:
            break
    coefficients = solution[:-1] / spread
    return coefficients, float(solution[-1] - (coefficients * mean).sum())
