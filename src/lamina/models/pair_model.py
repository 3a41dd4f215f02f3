"""The pair model: reads two statements together, more exactly than their slot vectors can be compared, at more cost.

It tells of an earlier and a later statement whether the later one replaces, ends or repeats the earlier one, and of a
statement and a request to forget whether the request means the statement. The weights are made by `make train`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.models.minilm_network import MiniLmNetwork, open_session
from lamina.models.pair_text import Readable, words_of
from lamina.vectors.levels import Floats

WEIGHTS = "pair_minilm.onnx"
LONGEST = 72
"""Word pieces of a text that are read."""
FIRST_WORD = 1000
"""Word pieces below this number are punctuation, letters and other signs: that both texts hold one means nothing."""
CACHED_TEXTS = 256


class PairReading(NamedTuple):
    """Probabilities. The first three say what a later statement does to an earlier one: gives another value, says that
    the value no longer holds, gives the same value again. `forgets`: a request to forget means a statement."""

    replaces: float
    ends: float
    repeats: float
    forgets: float

    @property
    def outdates(self) -> float:
        """The probability that the earlier statement no longer holds."""
        return self.replaces + self.ends


@dataclass(frozen=True, slots=True)
class _Text:
    ids: NDArray[np.int64]
    states: Floats


class PairModel:
    """Reads pairs of texts, one pair a run. Loaded at first use; threads may share it."""

    def __init__(self, network: MiniLmNetwork, weights: str = WEIGHTS) -> None:
        self._network, self._weights, self._lock = network, weights, Lock()
        self._texts: OrderedDict[str, _Text] = OrderedDict()

    def read(self, first: Readable, second: Readable) -> PairReading:
        """Return what the model says of two statements, or of a statement and a request; the earlier one first."""
        one, other = self._text(words_of(first)), self._text(words_of(second))
        kinds = token_kinds(one.ids, other.ids)
        states = np.concatenate((one.states, other.states))
        outputs = np.asarray(self._session.run(None, {"states": states[None], "kinds": kinds[None]})[0][0], np.float64)
        relations = np.exp(outputs[:4] - outputs[:4].max())
        replaces, ends, repeats, _ = (relations / relations.sum()).tolist()
        return PairReading(replaces, ends, repeats, float(1.0 / (1.0 + np.exp(-outputs[-1]))))

    def _text(self, text: str) -> _Text:
        with self._lock:
            known = self._texts.get(text)
            if known is not None:
                self._texts.move_to_end(text)
                return known
        ids = self._network.tokeniser.encode(text).first(LONGEST).ids
        read = _Text(np.concatenate(([0], ids, [0])), self._network.states(ids).middle)
        with self._lock:
            self._texts[text] = read
            while len(self._texts) > CACHED_TEXTS:
                self._texts.popitem(last=False)
        return read

    @property
    def _session(self) -> Any:
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:
        return open_session((files("lamina.models") / "weights" / self._weights).read_bytes())


def token_kinds(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the kind of each word piece of two texts: 0 in the first, 2 in the second, one more if the other text
    holds the same piece."""
    return np.concatenate((_shared(one, other), 2 + _shared(other, one)))


def _shared(ids: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    return (np.isin(ids, others) & (ids >= FIRST_WORD)).astype(np.int64)
