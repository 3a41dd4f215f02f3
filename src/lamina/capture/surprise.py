"""Surprise: how little a statement resembles what is known. News is more important, common knowledge less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp

from lamina.atom.atom import Atom
from lamina.atom.kinds import MemoryType
from lamina.atom.provenance import Scope
from lamina.atom.status import RECALL_WEIGHT
from lamina.models.embedder import Embedder
from lamina.store.base import Store
from lamina.store.passages import NearPassage, Partition, PassageFilter, VectorQuery
from lamina.vectors.integer_vectors import to_query_vector

NEAREST_STATEMENTS = 5
"""How many of the nearest statements are compared."""
MIDPOINT = 0.35
"""The distance at which surprise is one half."""
MODEL_MIDPOINTS = {"wordllama": 0.40}
"""The same for models with larger distances: about the median distance of a statement from its nearest neighbour."""
STEEPNESS = 10.0
IMPORTANCE_WEIGHT = 0.6
"""How much surprise changes the importance of a statement."""
URGENT_SURPRISE = 0.5
"""A queued turn with more surprise is read immediately."""
MIN_IMPORTANCE = 0.05
"""The importance that the most familiar statement keeps."""

_COMPARED_TYPES = frozenset({MemoryType.FACT, MemoryType.PROCEDURE})


@dataclass(frozen=True, slots=True)
class SurpriseScorer:
    """Scores the surprise of statements by an embedding model; without a model there is no score."""

    store: Store
    embedder: Embedder | None
    now: datetime

    def score(self, text: str, scope: Scope) -> float | None:
        """Return the surprise of a text from 0 (known) to 1, or None if there is nothing to compare with."""
        if self.embedder is None:
            return None
        nearest = self.store.passages.find_nearest(
            VectorQuery(
                filter=PassageFilter(
                    scopes=(scope,), statuses=frozenset(RECALL_WEIGHT), memory_types=_COMPARED_TYPES, valid_at=self.now
                ),
                model=self.embedder.model.id,
                query_vector=to_query_vector(self.embedder.encode_question(text).vector),
                limit=NEAREST_STATEMENTS,
                partition=Partition(statuses=tuple(frozenset({status}) for status in RECALL_WEIGHT)),
            )
        )
        nearest.sort(key=lambda passage: (-_weigh(passage), passage.key))
        distances = [1.0 - passage.cosine for passage in nearest[:NEAREST_STATEMENTS]]
        model_family = self.embedder.model.id.partition("-")[0]
        return surprise_from_distances(distances, MODEL_MIDPOINTS.get(model_family, MIDPOINT)) if distances else None

    def apply(self, atom: Atom) -> Atom:
        """Return the statement with its surprise and an importance adjusted by it."""
        surprise = self.score(atom.content, atom.scope)
        if surprise is None:
            return atom
        importance = min(1.0, max(MIN_IMPORTANCE, atom.importance + IMPORTANCE_WEIGHT * (surprise - 0.5)))
        return atom.with_(surprise=round(surprise, 3), importance=round(importance, 3))


def _weigh(passage: NearPassage) -> float:
    """Return the cosine of a statement with the weight of its status; less weight must not raise one below 0."""
    return passage.cosine * RECALL_WEIGHT[passage.status] if passage.cosine > 0 else passage.cosine


def surprise_from_distances(distances: Sequence[float], midpoint: float = MIDPOINT) -> float:
    """Return the surprise at these distances from the nearest known statements; a copy of one is no surprise."""
    mean, nearest = sum(distances) / len(distances), min(distances)
    return 1.0 / (1.0 + exp(-STEEPNESS * (min(mean, nearest) - midpoint)))
