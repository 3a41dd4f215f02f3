"""Recomputes token states, while the caller waits, for texts that are stored without them; the last ones are cached."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TypeAlias

from lamina.logs import wordless
from lamina.models.embedder import Embedder
from lamina.models.encode import piece_of
from lamina.models.errors import ModelError
from lamina.store.encodings import States, Unencoded

logger = logging.getLogger(__name__)

MOST = 12
"""How many texts are encoded for one question, so that the caller does not wait long."""
KEPT = 2_000
"""How many are cached: a few megabytes."""

_Name: TypeAlias = tuple[str, str, bytes]


class Thawed:
    """The states computed last, by model, packing and text. Nothing is written to disk; threads may share it."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept, self._lock = kept, Lock()
        self._states: OrderedDict[_Name, States] = OrderedDict()

    def states(self, embedder: Embedder, texts: Sequence[Unencoded]) -> dict[bytes, States]:
        """Return the token states of the first few texts; which ones does not depend on the cache."""
        selected = texts[:MOST]
        keys = {text.digest: _name(embedder, text.digest) for text in selected}
        with self._lock:
            states_by_digest = {digest: self._states[key] for digest, key in keys.items() if key in self._states}
        states_by_digest |= self._made(embedder, [text for text in selected if text.digest not in states_by_digest])
        with self._lock:
            for digest, states in states_by_digest.items():
                self._states[keys[digest]] = states
                self._states.move_to_end(keys[digest])
            while len(self._states) > self._kept:
                self._states.popitem(last=False)
        return states_by_digest

    def _made(self, embedder: Embedder, texts: Sequence[Unencoded]) -> dict[bytes, States]:
        """Encode texts; return nothing if the model fails."""
        if not texts:
            return {}
        try:
            encoded = embedder.passages([piece_of(text) for text in texts])
        except ModelError as error:
            logger.warning("token states of cold passages cannot be computed: %s", wordless(error))
            return {}
        packing = embedder.model.states.value
        return {text.digest: States(packing, result.states) for text, result in zip(texts, encoded, strict=True)}


def _name(embedder: Embedder, digest: bytes) -> _Name:
    return embedder.model.id, embedder.model.states.value, digest
