"""all-MiniLM-L6-v2, quantised to eight bits, on onnxruntime: a vector for each chunk and the states of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lamina.models.chunks import MAX_CHUNK_PIECES, split_into_chunks
from lamina.models.embedder import EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode, TokenStates
from lamina.models.minilm_network import DIMENSIONS, open_network
from lamina.models.model_files import MINILM, MINILM_WEIGHTS, ModelStore
from lamina.models.unit_vectors import normalise_rows
from lamina.vectors.levels import Floats
from lamina.vectors.packed_states import to_nibbles, to_signs

MODEL = EmbeddingModel(f"{MINILM}@{MINILM_WEIGHTS.sha256[:8]}", DIMENSIONS, TokenStates.SIGNS)
_PACKINGS = {1: (TokenStates.SIGNS, to_signs), 4: (TokenStates.NIBBLES, to_nibbles)}
"""By bits per dimension: 48 or 192 bytes per token."""
MAX_QUESTION_PIECES = 254
"""Word pieces; with [CLS] and [SEP] the 256 that the model was trained on."""
_MAX_CHARS_PER_PIECE = 32
"""Text beyond this many characters per piece is not even tokenised; only text with hardly any words is that long."""


class MiniLM:
    """An embedder whose files are in a model store. They are loaded at first use; threads may share it."""

    def __init__(self, store: ModelStore, token_bits: int = 1) -> None:
        self._network = open_network(store.folder)
        packing, self._pack = _PACKINGS[token_bits]
        self.model = replace(MODEL, states=packing)

    def encode_passages(self, texts: Sequence[TextToEncode]) -> list[EncodedText]:
        """Encode passages, in the order given."""
        return [self._encode_passage(piece) for piece in texts]

    def encode_question(self, text: str) -> EncodedQuestion:
        """Encode a question."""
        tokens = self._network.tokeniser.encode(text[: MAX_QUESTION_PIECES * _MAX_CHARS_PER_PIECE]).first(
            MAX_QUESTION_PIECES
        )
        states = self._network.states(tokens.ids).last
        spans = tuple(span for span, word in zip(tokens.spans, tokens.is_word, strict=True) if word)
        return EncodedQuestion(_mean_vector(states), normalise_rows(states[1:-1][tokens.is_word]), spans)

    def _encode_passage(self, piece: TextToEncode) -> EncodedText:
        limit = max(1, piece.chunks)
        text = piece.text[: limit * MAX_CHUNK_PIECES * _MAX_CHARS_PER_PIECE]
        tokens = self._network.tokeniser.encode(text)
        # A text without a word still has the two special tokens, and so a vector.
        parts = split_into_chunks(text, tokens.spans)[:limit] or [(0, 0)]
        # One run per chunk: the eight-bit scale of a batch depends on everything in it.
        states = [self._network.states(tokens.ids[start:end]).last for start, end in parts]
        words = [
            chunk_states[1:-1][tokens.is_word[start:end]]
            for chunk_states, (start, end) in zip(states, parts, strict=True)
        ]
        return EncodedText(
            np.stack([_mean_vector(state) for state in states]),
            b"".join(self._pack(normalise_rows(word)) for word in words),
        )


def _mean_vector(states: Floats) -> Floats:
    return normalise_rows(states.mean(axis=0))
