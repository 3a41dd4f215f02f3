"""Embedders that return one vector for a text and nothing else: endpoints, and libraries that the user chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np

from lamina.models.embedder import EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode, TokenStates
from lamina.models.errors import ModelError
from lamina.models.unit_vectors import normalise_rows
from lamina.vectors.levels import Floats

EmbedFunction = Callable[[Sequence[str]], Floats]
"""Returns one row for each text, in order, of any length."""

MAX_CHARACTERS = 24_000
"""Characters; most such models read less, and endpoints reject much longer texts."""


class DenseEmbedder:
    """An embedder around a function; the width of its vectors is taken from the first result, unless it is given."""

    def __init__(
        self, model_id: str, passages: EmbedFunction, questions: EmbedFunction, *, dimensions: int | None = None
    ) -> None:
        self._id, self._passages, self._questions = model_id, passages, questions
        self._dimensions = dimensions
        self._lock = Lock()

    @property
    def model(self) -> EmbeddingModel:
        """The model; its width is measured with one call if it is not known."""
        if self._dimensions is None:
            self._rows(self._passages, ["width"])
        assert self._dimensions is not None
        return EmbeddingModel(self._id, self._dimensions, TokenStates.NONE)

    def encode_passages(self, texts: Sequence[TextToEncode]) -> list[EncodedText]:
        """Encode passages, in the order given."""
        return [
            EncodedText(row[None, :], b"") for row in self._embed_all(self._passages, [piece.text for piece in texts])
        ]

    def encode_question(self, text: str) -> EncodedQuestion:
        """Encode a question."""
        return EncodedQuestion(
            self._embed_all(self._questions, [text])[0], np.zeros((0, self.model.dimensions), np.float32), ()
        )

    def _embed_all(self, embed: EmbedFunction, texts: Sequence[str]) -> Floats:
        """Return a unit row for each text; zeros for a blank one, which endpoints reject."""
        sent = [n for n, text in enumerate(texts) if text.strip()]
        rows = np.zeros((len(texts), self.model.dimensions), np.float32)
        if sent:
            rows[sent] = normalise_rows(self._rows(embed, [_make_sendable(texts[n]) for n in sent]))
        return rows

    def _rows(self, embed: EmbedFunction, texts: Sequence[str]) -> Floats:
        """Call the function and check its result. Raises ModelError if the vectors are unusable."""
        rows = embed(texts)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise ModelError(f"{self._id} gave no usable vectors for {len(texts)} texts; is it an embedding model?")
        with self._lock:
            self._dimensions = self._dimensions or rows.shape[1]
        if rows.shape[1] != self._dimensions:
            raise ModelError(f"{self._id} gave {rows.shape[1]} dimensions where {self._dimensions} were expected")
        return rows


def _make_sendable(text: str) -> str:
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
