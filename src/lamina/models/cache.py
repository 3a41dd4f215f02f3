"""Caches encoded questions: results are paged and agents repeat themselves, so questions come again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from lamina.models.embedder import Embedder, Encoded, Model, Piece, Probe

MOST = 1_000


class CachedQuestions:
    """An embedder that caches the last questions. Threads may share it."""

    def __init__(self, embedder: Embedder, most: int = MOST) -> None:
        self.embedder = embedder
        self._most = most
        self._probes: OrderedDict[str, Probe] = OrderedDict()
        self._lock = Lock()

    @property
    def model(self) -> Model:
        """The model of the wrapped embedder."""
        return self.embedder.model

    def passages(self, pieces: Sequence[Piece]) -> list[Encoded]:
        """Encode passages; they are not cached."""
        return self.embedder.passages(pieces)

    def question(self, text: str) -> Probe:
        """Encode a question, or return it from the cache."""
        with self._lock:
            cached = self._probes.get(text)
            if cached is not None:
                self._probes.move_to_end(text)
                return cached
        # Outside the lock, so that a slow question does not block the others; concurrent calls get the same numbers.
        encoded = self.embedder.question(text)
        encoded.vector.setflags(write=False)
        encoded.tokens.setflags(write=False)
        self._keep(text, encoded)
        return encoded

    def _keep(self, text: str, probe: Probe) -> None:
        with self._lock:
            self._probes[text] = probe
            self._probes.move_to_end(text)
            while len(self._probes) > self._most:
                self._probes.popitem(last=False)
