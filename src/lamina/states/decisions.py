"""The fitted decisions that go with a state model: what replaces what, what comes first, what answers at all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from lamina.states.logistic import Logistic
from lamina.states.ranking import Gate
from lamina.states.replacement import ReplacementModel
from lamina.vectors.levels import Floats


@dataclass(frozen=True, slots=True)
class Decisions:
    """`ranker` is what each ranking feature adds to relevance."""

    replacement: ReplacementModel
    ranker: Floats
    earlier: Logistic
    answers: Logistic
    gate: Gate


@dataclass(frozen=True, slots=True)
class PairBounds:
    """From where on the models are believed, at a precision at which words may be withheld: the pair model that an
    earlier statement no longer holds (`sure`), the state model that two sentences are about one slot (`same_slot`), the
    list reader that a request to forget means a statement (`forgets`)."""

    sure: float
    same_slot: float
    forgets: float


@cache
def load_pair_bounds() -> PairBounds:
    """Return the bounds that were chosen on people and groups the pair model never saw."""
    return PairBounds(**_fitted("pair_minilm"))


@cache
def load_decisions(name: str) -> Decisions:
    """Return the decisions fitted for a state model, by the name of its weights file."""
    fitted = _fitted(name.removesuffix(".onnx"))
    return Decisions(
        ReplacementModel(**fitted["replacement"]), np.array(fitted["ranker"], np.float32),
        Logistic(**fitted["earlier"]), Logistic(**fitted["answers"]), Gate(**fitted["gate"]),
    )  # fmt: skip


def _fitted(name: str) -> dict[str, Any]:
    source = files("lamina.models") / "weights" / f"{name}.json"
    return dict(json.loads(source.read_text(encoding="utf-8")))
