"""Questions come again: a page of results is asked for twice, an agent repeats itself."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from lamina.models.embedder import Embedder, Encoded, Model, Piece, Probe

MOST = 1_000


class CachedQuestions:
    """An embedder that remembers the questions it was asked last. Threads may share it."""

    def __init__(self, embedder: Embedder, most: int = MOST) -> None:
        self.embedder = embedder
        self._most = most
        self._probes: OrderedDict[str, Probe] = OrderedDict()
        self._lock = Lock()

    @property
    def model(self) -> Model:
        return self.embedder.model

    def passages(self, pieces: Sequence[Piece]) -> list[Encoded]:
        return self.embedder.passages(pieces)

    def question(self, text: str) -> Probe:
        with self._lock:
            known = self._probes.get(text)
            if known is not None:
                self._probes.move_to_end(text)
                return known
        # Outside the lock, so that one slow question does not hold up the others; two at once get the same numbers.
        probe = self.embedder.question(text)
        probe.vector.setflags(write=False)
        probe.tokens.setflags(write=False)
        self._keep(text, probe)
        return probe

    def _keep(self, text: str, probe: Probe) -> None:
        with self._lock:
            self._probes[text] = probe
            self._probes.move_to_end(text)
            while len(self._probes) > self._most:
                self._probes.popitem(last=False)
