"""How likely one assertion replaces an earlier one: a logistic model over a few features, fitted by `make train`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lamina.states.assertion import Assertion
from lamina.states.logistic import Logistic
from lamina.vectors.levels import Floats

FEATURES = (
    "slot similarity", "slot similarity squared", "the old one asserts", "the new one asserts", "same owner",
    "same speaker", "several values", "names the old value", "says the same value", "shared words", "other names",
    "shared names", "same session", "no value found",
)  # fmt: skip

CLOSE = 0.25
"""Assertions whose slots are less similar than this are never compared: they do not replace each other."""


def pair_features(old: Assertion, new: Assertion) -> list[float]:
    """Return the features of a pair in the order of FEATURES."""
    similarity = float(old.state.slot @ new.state.slot)
    values = old.value_words | new.value_words
    old_context, new_context = old.words - values, new.words - values
    shared = len(old_context & new_context) / max(1.0, math.sqrt(len(old_context) * len(new_context)))
    says_same = bool(new.value_words) and bool(old.value_words) and _same_value(old, new)
    return [
        similarity,
        similarity * abs(similarity),
        log_odds(old.state.asserts),
        log_odds(new.state.asserts),
        1.0 - abs(old.state.is_own - new.state.is_own),
        float(old.speaker == new.speaker),
        max(old.state.is_many, new.state.is_many),
        float(bool(old.value_words) and old.value_words <= new.words and not says_same),
        float(says_same),
        shared,
        float(len(old.names - new.names - new.words) > 0 and len(new.names - old.names - old.words) > 0),
        float(bool(old.names & new.names)),
        float(old.session == new.session),
        float(not old.value_words or not new.value_words),
    ]


def _same_value(old: Assertion, new: Assertion) -> bool:
    return old.value_words <= new.value_words or new.value_words <= old.value_words or new.value_words <= old.words


def log_odds(chance: float) -> float:
    """Return a probability on the scale that the logistic models use, bounded."""
    chance = min(0.99, max(0.01, chance))
    return math.log(chance / (1 - chance)) / 4


class ReplacementModel(Logistic):
    """Gives the probability that the newer of two assertions replaces the older one."""

    def of_pairs(self, pairs: Sequence[tuple[Assertion, Assertion]]) -> Floats:
        """Return the probability for each (old, new) pair."""
        if not pairs:
            return np.zeros(0, np.float32)
        return self.probabilities(np.array([pair_features(old, new) for old, new in pairs]))
