"""How little a statement resembles what is known: news counts for more, what everybody knows for less."""

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
MIDDLE = 0.35
MIDDLES = {"wordllama": 0.40}
"""The distance at which a statement is as surprising as not, for models that see things further apart: about the
median distance of a statement from the nearest other one."""
STEEPNESS = 10.0
WEIGHT = 0.6
"""How much surprise moves the importance of a statement."""
PROMOTES = 0.5
"""A waiting turn more surprising than this is read at once."""
LEAST = 0.05
"""However familiar, a statement keeps this much importance."""

_KNOWN = frozenset({MemoryType.FACT, MemoryType.PROCEDURE})


@dataclass(frozen=True, slots=True)
class Familiarity:
    """What is known, as a model sees it. Without a model nothing is surprising and nothing is not."""

    store: Store
    embedder: Embedder | None
    now: datetime

    def surprise(self, text: str, scope: Scope) -> float | None:
        """From 0, as good as known, to 1; None where there is nothing to compare with."""
        if self.embedder is None:
            return None
        found = self.store.encodings.nearest(
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
        distances = [1.0 - each.cosine for each in found[:NEAREST]]
        family = self.embedder.model.id.partition("-")[0]
        return surprise_at(distances, MIDDLES.get(family, MIDDLE)) if distances else None

    def weighed(self, atom: Atom) -> Atom:
        """The statement with its surprise, and an importance that it moves."""
        felt = self.surprise(atom.content, atom.scope)
        if felt is None:
            return atom
        moved = min(1.0, max(LEAST, atom.importance + WEIGHT * (felt - 0.5)))
        return atom.with_(surprise=round(felt, 3), importance=round(moved, 3))


def surprise_at(distances: Sequence[float], middle: float = MIDDLE) -> float:
    """The surprise of something at these distances from the nearest things known; a copy of one is no surprise."""
    mean, nearest = sum(distances) / len(distances), min(distances)
    return 1.0 / (1.0 + exp(-STEEPNESS * (min(mean, nearest) - middle)))
