"""Caches encoded questions: results are paged and agents repeat themselves, so questions come again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from lamina.models.embedder import Embedder, EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode

MAX_QUESTIONS = 1_000


class CachingEmbedder:
    """An embedder that caches the last questions. Threads may share it."""

    def __init__(self, embedder: Embedder, limit: int = MAX_QUESTIONS) -> None:
        self.embedder = embedder
        self._limit = limit
        self._questions: OrderedDict[str, EncodedQuestion] = OrderedDict()
        self._lock = Lock()

    @property
    def model(self) -> EmbeddingModel:
        """The model of the wrapped embedder."""
        return self.embedder.model

    def encode_passages(self, texts: Sequence[TextToEncode]) -> list[EncodedText]:
        """Encode passages; they are not cached."""
        return self.embedder.encode_passages(texts)

    def encode_question(self, text: str) -> EncodedQuestion:
        """Encode a question, or return it from the cache."""
        with self._lock:
            cached = self._questions.get(text)
            if cached is not None:
                self._questions.move_to_end(text)
                return cached
        # Outside the lock, so that a slow question does not block the others; concurrent calls get the same numbers.
        encoded = self.embedder.encode_question(text)
        encoded.vector.setflags(write=False)
        encoded.tokens.setflags(write=False)
        self._store(text, encoded)
        return encoded

    def _store(self, text: str, encoded: EncodedQuestion) -> None:
        with self._lock:
            self._questions[text] = encoded
            self._questions.move_to_end(text)
            while len(self._questions) > self._limit:
                self._questions.popitem(last=False)
