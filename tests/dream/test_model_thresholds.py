"""Each embedding model has its own scale of cosines, and an unknown one careful defaults."""

from __future__ import annotations

import pytest

from lamina.dream.model_thresholds import SimilarityThresholds, similarity_thresholds


@pytest.mark.parametrize(
    ("model", "cluster"),
    [("all-MiniLM-L6-v2-int8@afdb6f1a", 0.75), ("wordllama-l2-supercat-256", 0.7), ("text-embedding-3-small", 0.8)],
)
def test_thresholds_are_those_of_the_model(model: str, cluster: float) -> None:
    thresholds = similarity_thresholds(model)
    assert thresholds.cluster == cluster
    assert 0 < thresholds.bridge_min < thresholds.bridge_max < 1


def test_unknown_models_have_the_defaults() -> None:
    assert similarity_thresholds("of the test") == SimilarityThresholds()
