"""all-MiniLM-L6-v2, quantised to eight bits, on onnxruntime: its token states, and the embedder that reads them.

The embedder reads the states of the last layer, the state model those of the middle layer, the list reader both. One
run returns both, so a text passes through the transformer once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.models.embedder import EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode, TokenStates
from lamina.models.model_files import MINILM, MINILM_TOKENIZER, MINILM_WEIGHTS, ModelStore
from lamina.models.onnx_models import add_output, open_session
from lamina.models.tokeniser import MAX_CHUNK_PIECES, Tokeniser, split_into_chunks
from lamina.vectors.integer_vectors import Floats, normalise_rows
from lamina.vectors.stored_vectors import to_nibbles, to_signs

DIMENSIONS = 384
CACHED_TEXTS = 256
"""Chunks whose states are cached: at most 52 MB. Longer texts, such as long questions, are not cached."""
MIDDLE_LAYER = b"/encoder/layer.2/output/LayerNorm/Add_1_output_0"
"""The output of the third of six layers."""


MODEL = EmbeddingModel(f"{MINILM}@{MINILM_WEIGHTS.sha256[:8]}", DIMENSIONS, TokenStates.SIGNS)
_PACKINGS = {1: (TokenStates.SIGNS, to_signs), 4: (TokenStates.NIBBLES, to_nibbles)}
"""By bits per dimension: 48 or 192 bytes per token."""
MAX_QUESTION_PIECES = 254
"""Word pieces; with [CLS] and [SEP] the 256 that the model was trained on."""
_MAX_CHARS_PER_PIECE = 32
"""Text beyond this many characters per piece is not even tokenised; only text with hardly any words is that long."""


class LayerStates(NamedTuple):
    """The states of word pieces after the third and after the last layer, with [CLS] in front and [SEP] behind."""

    middle: Floats
    last: Floats


class MiniLmNetwork:
    """Computes token states and caches the last results. Loaded at first use; threads may share it."""

    def __init__(self, store: ModelStore) -> None:
        self._store = store
        self._cached_states = lru_cache(CACHED_TEXTS)(self._compute_states)

    @cached_property
    def tokeniser(self) -> Tokeniser:
        """The tokenizer, loaded at first use."""
        return Tokeniser(self._store.require(MINILM_TOKENIZER))

    def states(self, ids: NDArray[np.int64]) -> LayerStates:
        """Return the states of word pieces. Raises ModelMissing if the files are not installed."""
        compute = self._cached_states if len(ids) <= MAX_CHUNK_PIECES else self._compute_states
        return compute(ids.tobytes())

    def _compute_states(self, id_bytes: bytes) -> LayerStates:
        cls, sep = self.tokeniser.id_of("[CLS]"), self.tokeniser.id_of("[SEP]")
        row = np.concatenate(([cls], np.frombuffer(id_bytes, np.int64), [sep]))[None, :]
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        outputs = [np.asarray(output[0], np.float32) for output in self._session.run(None, inputs)]
        states = LayerStates(middle=outputs[1], last=outputs[0])
        for state in states:
            state.setflags(write=False)
        return states

    @cached_property
    def _session(self) -> Any:
        return open_session(add_output(self._store.require(MINILM_WEIGHTS).read_bytes(), MIDDLE_LAYER))


@cache
def open_network(folder: Path) -> MiniLmNetwork:
    """Return the network of a models folder, one for the whole process."""
    return MiniLmNetwork(ModelStore(folder))


class MiniLM:
    """An embedder whose files are in a model store. They are loaded at first use; threads may share it."""

    def __init__(self, store: ModelStore, token_bits: int = 1) -> None:
        self._network = open_network(store.folder)
        packing, self._pack = _PACKINGS[token_bits]
        self.model = replace(MODEL, states=packing)

    def encode_passages(self, texts: Sequence[TextToEncode]) -> list[EncodedText]:
        return [self._encode_passage(piece) for piece in texts]

    def encode_question(self, text: str) -> EncodedQuestion:
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
