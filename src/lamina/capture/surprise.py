"""Surprise: how little a statement resembles what is known. News is more important, common knowledge less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp

from lamina.atom.atom import Atom
from lamina.atom.kinds import MemoryType
from lamina.atom.scope import Scope
from lamina.atom.status import RECALL_WEIGHT
from lamina.models.embedder import Embedder
from lamina.store.base import Store
from lamina.store.encodings import NearQuery, Tilts
from lamina.vectors.levels import to_asked

NEAREST = 5
"""How many of the nearest statements are compared."""
MIDDLE = 0.35
"""The distance at which surprise is one half."""
MIDDLES = {"wordllama": 0.40}
"""The same for models with larger distances: about the median distance of a statement from its nearest neighbour."""
STEEPNESS = 10.0
WEIGHT = 0.6
"""How much surprise changes the importance of a statement."""
PROMOTES = 0.5
"""A queued turn with more surprise is read immediately."""
LEAST = 0.05
"""The importance that the most familiar statement keeps."""

_KNOWN = frozenset({MemoryType.FACT, MemoryType.PROCEDURE})


@dataclass(frozen=True, slots=True)
class Familiarity:
    """Scores the surprise of statements by an embedding model; without a model there is no score."""

    store: Store
    embedder: Embedder | None
    now: datetime

    def surprise(self, text: str, scope: Scope) -> float | None:
        """Return the surprise of a text from 0 (known) to 1, or None if there is nothing to compare with."""
        if self.embedder is None:
            return None
        nearest = self.store.encodings.nearest(
            NearQuery(
                scopes=(scope,),
                statuses=RECALL_WEIGHT,
                memory_types=_KNOWN,
                valid_at=self.now,
                model=self.embedder.model.id,
                asked=to_asked(self.embedder.question(text).vector),
                vector=1.0,
                texts={},
                text=0.0,
                tilts=Tilts({}),
                limit=NEAREST,
            )
        )
        distances = [1.0 - match.cosine for match in nearest[:NEAREST]]
        model_family = self.embedder.model.id.partition("-")[0]
        return surprise_at(distances, MIDDLES.get(model_family, MIDDLE)) if distances else None

    def weighed(self, atom: Atom) -> Atom:
        """Return the statement with its surprise and an importance adjusted by it."""
        surprise = self.surprise(atom.content, atom.scope)
        if surprise is None:
            return atom
        importance = min(1.0, max(LEAST, atom.importance + WEIGHT * (surprise - 0.5)))
        return atom.with_(surprise=round(surprise, 3), importance=round(importance, 3))


def surprise_at(distances: Sequence[float], middle: float = MIDDLE) -> float:
    """Return the surprise at these distances from the nearest known statements; a copy of one is no surprise."""
    mean, nearest = sum(distances) / len(distances), min(distances)
    return 1.0 / (1.0 + exp(-STEEPNESS * (min(mean, nearest) - middle)))
