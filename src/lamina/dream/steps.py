"""The steps of a dream in their order: all that can be requested, and those that run every night."""

from __future__ import annotations

from collections.abc import Mapping

from lamina.dream.age import age
from lamina.dream.bridge import bridge
from lamina.dream.cards import cards
from lamina.dream.dream import Step
from lamina.dream.drift import drift
from lamina.dream.log_pruning import prune
from lamina.dream.precision import precision
from lamina.dream.probe import probe
from lamina.dream.synthesis_step import merge
from lamina.dream.throttle import throttle_step

STEPS: Mapping[str, Step] = {
    "age": age,
    "merge": merge,
    "cards": cards,
    "bridge": bridge,
    "probe": probe,
    "drift": drift,
    "prune": prune,
    "precision": precision,
}

NIGHTLY: Mapping[str, Step] = {
    **STEPS,
    "merge": throttle_step("merge", merge),
    "bridge": throttle_step("bridge", bridge),
}
"""Steps that read a whole scope are throttled here; `STEPS` runs them whenever they are requested."""
