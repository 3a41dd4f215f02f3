"""Whether a new statement replaces an earlier one so surely that the earlier one is withheld."""

from __future__ import annotations

import numpy as np

from lamina.states.decisions import load_pair_bounds
from lamina.states.state_reader import StateReader
from lamina.vectors.levels import Floats

LONGEST_OLD = 14
"""Words of a sentence that may be withheld: a longer one mostly says something else as well, which still holds."""


def surely_replaces(new: str, old: str, reader: StateReader) -> bool:
    """Whether both models agree: the pair model that the old sentence no longer holds, the state model that both
    sentences are about one slot."""
    if reader.pairs is None or len(old.split()) > LONGEST_OLD:
        return False
    bounds = load_pair_bounds()
    if reader.pairs.read(old, new).outdates < bounds.sure:
        return False
    one, other = _slot(old, reader), _slot(new, reader)
    return one is not None and other is not None and float(one @ other) >= bounds.same_slot


def _slot(sentence: str, reader: StateReader) -> Floats | None:
    """The slot of the part of a sentence that asserts most."""
    surest = max(reader.read(sentence), key=lambda state: state.asserts, default=None)
    return None if surest is None else np.asarray(surest.slot, np.float32)
