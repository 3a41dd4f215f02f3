"""The steps of a dream, in their order."""

from __future__ import annotations

from collections.abc import Mapping

from lamina.dream.age import age
from lamina.dream.bridge import bridge
from lamina.dream.cards import cards
from lamina.dream.dream import Step
from lamina.dream.drift import drift
from lamina.dream.merge import merge
from lamina.dream.probe import probe
from lamina.dream.prune import prune

STEPS: Mapping[str, Step] = {
    "age": age,
    "merge": merge,
    "cards": cards,
    "bridge": bridge,
    "probe": probe,
    "drift": drift,
    "prune": prune,
}
