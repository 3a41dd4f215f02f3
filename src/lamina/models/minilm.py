"""all-MiniLM-L6-v2, quantised to eight bits, on onnxruntime: a vector for each chunk and the states of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lamina.models.chunks import MOST, chunks
from lamina.models.embedder import Encoded, Model, Piece, Probe, TokenStates
from lamina.models.files import MINILM, MINILM_WEIGHTS, ModelStore
from lamina.models.minilm_network import DIMENSIONS, open_network
from lamina.models.unit import unit
from lamina.vectors.levels import Floats
from lamina.vectors.packed import to_nibbles, to_signs

MODEL = Model(f"{MINILM}@{MINILM_WEIGHTS.sha256[:8]}", DIMENSIONS, TokenStates.SIGNS)
_PACKINGS = {1: (TokenStates.SIGNS, to_signs), 4: (TokenStates.NIBBLES, to_nibbles)}
"""By bits per dimension: 48 or 192 bytes per token."""
LONGEST_QUESTION = 254
"""Word pieces; with [CLS] and [SEP] the 256 that the model was trained on."""
_CHARS_A_PIECE = 32
"""Text beyond this many characters per piece is not even tokenised; only text with hardly any words is that long."""


class MiniLM:
    """An embedder whose files are in a model store. They are loaded at first use; threads may share it."""

    def __init__(self, store: ModelStore, token_bits: int = 1) -> None:
        self._network = open_network(store.folder)
        packing, self._pack = _PACKINGS[token_bits]
        self.model = replace(MODEL, states=packing)

    def passages(self, pieces: Sequence[Piece]) -> list[Encoded]:
        """Encode passages, in the order given."""
        return [self._passage(piece) for piece in pieces]

    def question(self, text: str) -> Probe:
        """Encode a question."""
        tokens = self._network.tokeniser.encode(text[: LONGEST_QUESTION * _CHARS_A_PIECE]).first(LONGEST_QUESTION)
        states = self._network.states(tokens.ids).last
        spans = tuple(span for span, word in zip(tokens.spans, tokens.words, strict=True) if word)
        return Probe(_mean(states), unit(states[1:-1][tokens.words]), spans)

    def _passage(self, piece: Piece) -> Encoded:
        limit = max(1, piece.chunks)
        text = piece.text[: limit * MOST * _CHARS_A_PIECE]
        tokens = self._network.tokeniser.encode(text)
        # A text without a word still has the two special tokens, and so a vector.
        parts = chunks(text, tokens.spans)[:limit] or [(0, 0)]
        # One run per chunk: the eight-bit scale of a batch depends on everything in it.
        states = [self._network.states(tokens.ids[start:end]).last for start, end in parts]
        words = [
            chunk_states[1:-1][tokens.words[start:end]]
            for chunk_states, (start, end) in zip(states, parts, strict=True)
        ]
        return Encoded(np.stack([_mean(state) for state in states]), b"".join(self._pack(unit(word)) for word in words))


def _mean(states: Floats) -> Floats:
    return unit(states.mean(axis=0))
