"""The frozen lower half of the embedding model: the token states the network is trained on, as at run time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lamina.models.light_embedder import WordLlama
from lamina.models.state_model import LightTrunk, MiniLmTrunk, StateTrunk

__all__ = ["StateCache", "TextStates", "TextVectors", "Vectors", "open_trunk"]


@dataclass(frozen=True, slots=True)
class TextStates:
    """The trunk's states of a text's tokens (special tokens included) and the position of each token."""

    states: NDArray[np.float16]
    spans: tuple[tuple[int, int], ...]


def open_trunk(name: str, models: Path) -> StateTrunk:
    """Return the trunk of a path: "minilm" or "light"."""
    return MiniLmTrunk(models) if name == "minilm" else LightTrunk(WordLlama())


class StateCache:
    """Computes the trunk's states of each text once."""

    def __init__(self, trunk: StateTrunk, longest: int = 96) -> None:
        self._trunk, self._longest = trunk, longest
        self._cache: dict[str, TextStates] = {}

    def __getitem__(self, text: str) -> TextStates:
        if text not in self._cache:
            tokens = self._trunk.tokens(text).first(self._longest)
            states = self._trunk.states(tokens.ids)
            self._cache[text] = TextStates(states.astype(np.float16), tokens.spans)
        return self._cache[text]


class TextVectors(Protocol):
    """One vector for each text."""

    def __getitem__(self, text: str) -> NDArray[np.float32]: ...


class Vectors:
    """Computes the embedding of each text once."""

    def __init__(self, trunk: MiniLmTrunk, longest: int = 96) -> None:
        self._trunk, self._longest = trunk, longest
        self._cache: dict[str, NDArray[np.float32]] = {}

    def __getitem__(self, text: str) -> NDArray[np.float32]:
        if text not in self._cache:
            mean = self._trunk.network.states(self._trunk.tokens(text).first(self._longest).ids).last.mean(0)
            self._cache[text] = mean / max(1e-9, float(np.linalg.norm(mean)))
        return self._cache[text]
