"""The pair model: reads an earlier and a new statement together, and says what the new one does to the earlier one.

The list reader is trained for that too, but the pair model is right more often on people it was not trained on. It was
also trained to decide what answers a question and what a request to forget means; the list reader does that better. The
weights are made by `make train`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.models.onnx_models import open_weights
from lamina.models.state_model import MiniLmTrunk
from lamina.vectors.integer_vectors import Floats

WEIGHTS = "pair_minilm.onnx"
MAX_PIECES = 72
"""Word pieces of a text that are read."""
FIRST_WORD = 1000
"""Word pieces with a lower id are punctuation, letters and other signs: that both texts contain one means nothing."""
CACHED_TEXTS = 256


class RelationReading(NamedTuple):
    """Probabilities that a new statement gives another value than an earlier one, says that its value no longer holds,
    or gives the same value again."""

    replaces: float
    ends: float
    repeats: float

    @property
    def outdates(self) -> float:
        """The probability that the earlier statement no longer holds."""
        return self.replaces + self.ends


@dataclass(frozen=True, slots=True)
class _EncodedText:
    ids: NDArray[np.int64]
    states: Floats


class PairModel:
    """Reads pairs of texts, one pair per run. Loaded at first use; threads may share it."""

    def __init__(self, trunk: MiniLmTrunk, weights: str = WEIGHTS) -> None:
        self._trunk, self._weights = trunk, weights
        self._encode = lru_cache(CACHED_TEXTS)(self._encode_text)

    def read(self, earlier: str, new: str) -> RelationReading:
        """Return what a new statement does to an earlier one."""
        earlier_text, new_text = self._encode(earlier), self._encode(new)
        kinds = np.concatenate(
            (_mark_shared(earlier_text.ids, new_text.ids), 2 + _mark_shared(new_text.ids, earlier_text.ids))
        )
        states = np.concatenate((earlier_text.states, new_text.states))
        session = open_weights(self._weights)
        outputs = np.asarray(session.run(None, {"states": states[None], "kinds": kinds[None]})[0][0], np.float64)
        relations = np.exp(outputs[:4] - outputs[:4].max())
        replaces, ends, repeats, _ = (relations / relations.sum()).tolist()
        return RelationReading(replaces, ends, repeats)

    def _encode_text(self, text: str) -> _EncodedText:
        ids = self._trunk.tokens(text).first(MAX_PIECES).ids
        return _EncodedText(np.concatenate(([0], ids, [0])), self._trunk.states(ids))


def _mark_shared(ids: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 1 for each word piece that the other text contains too."""
    return (np.isin(ids, others) & (ids >= FIRST_WORD)).astype(np.int64)
