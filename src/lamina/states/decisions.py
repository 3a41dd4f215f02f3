"""The fitted decisions that go with a state model: what replaces what, what comes first, what answers at all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from lamina.states.logistic import Logistic
from lamina.states.replacement import ReplacementModel
from lamina.vectors.levels import Floats


@dataclass(frozen=True, slots=True)
class Decisions:
    """`ranker` is what each ranking feature adds to relevance."""

    replacement: ReplacementModel
    ranker: Floats
    earlier: Logistic
    answers: Logistic


@cache
def load_decisions(name: str) -> Decisions:
    """Return the decisions fitted for a state model, by the name of its weights file."""
    source = files("lamina.models") / "weights" / f"{name.removesuffix('.onnx')}.json"
    fitted = json.loads(source.read_text(encoding="utf-8"))
    return Decisions(
        ReplacementModel(**fitted["replacement"]), np.array(fitted["ranker"], np.float32),
        Logistic(**fitted["earlier"]), Logistic(**fitted["answers"]),
    )  # fmt: skip
