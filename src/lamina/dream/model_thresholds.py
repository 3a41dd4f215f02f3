"""Define from which cosine on statements and names are similar, for each embedding model: models differ in their scale.

The values were chosen on observations of the LoCoMo development conversations, so that the groups are of one matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SimilarityThresholds:
    """`cluster`: the mean cosine above which groups of statements are joined.

    `bridge_min` and `bridge_max`: the range in which two names are similar and not the same.
    """

    cluster: float = 0.8
    bridge_min: float = 0.75
    bridge_max: float = 0.9


_BY_FAMILY: Mapping[str, SimilarityThresholds] = {
    "all-MiniLM": SimilarityThresholds(cluster=0.75, bridge_min=0.7),
    "wordllama": SimilarityThresholds(cluster=0.7, bridge_min=0.5, bridge_max=0.85),
}


def similarity_thresholds(model: str) -> SimilarityThresholds:
    """Return the thresholds for an embedding model, by the beginning of its id."""
    family = next((family for family in _BY_FAMILY if model.startswith(family)), None)
    return _BY_FAMILY[family] if family else SimilarityThresholds()
