"""Recomputes token states, while the caller waits, for texts that are stored without them; the last ones are cached."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TypeAlias

from lamina.logs import summarise_error
from lamina.models.embedder import Embedder
from lamina.models.encoding_worker import text_to_encode
from lamina.models.errors import ModelError
from lamina.store.encodings import PackedStates, UnencodedText

logger = logging.getLogger(__name__)

MAX_RECOMPUTED = 12
"""How many texts are encoded for one question, so that the caller does not wait long."""
CACHED_STATES = 2_000
"""How many are cached: a few megabytes."""

_CacheKey: TypeAlias = tuple[str, str, bytes]


class RecomputedStates:
    """The states computed last, by model, packing and text. Nothing is written to disk; threads may share it."""

    def __init__(self, limit: int = CACHED_STATES) -> None:
        self._limit, self._lock = limit, Lock()
        self._states: OrderedDict[_CacheKey, PackedStates] = OrderedDict()

    def states(self, embedder: Embedder, texts: Sequence[UnencodedText]) -> dict[bytes, PackedStates]:
        """Return the token states of the first few texts; which ones does not depend on the cache."""
        selected = texts[:MAX_RECOMPUTED]
        keys = {text.digest: _cache_key(embedder, text.digest) for text in selected}
        with self._lock:
            states_by_digest = {digest: self._states[key] for digest, key in keys.items() if key in self._states}
        states_by_digest |= self._compute(embedder, [text for text in selected if text.digest not in states_by_digest])
        with self._lock:
            for digest, states in states_by_digest.items():
                self._states[keys[digest]] = states
                self._states.move_to_end(keys[digest])
            while len(self._states) > self._limit:
                self._states.popitem(last=False)
        return states_by_digest

    def _compute(self, embedder: Embedder, texts: Sequence[UnencodedText]) -> dict[bytes, PackedStates]:
        """Encode texts; return nothing if the model fails."""
        if not texts:
            return {}
        try:
            encoded = embedder.encode_passages([text_to_encode(text) for text in texts])
        except ModelError as error:
            logger.warning("token states of cold passages cannot be computed: %s", summarise_error(error))
            return {}
        packing = embedder.model.states.value
        return {text.digest: PackedStates(packing, result.states) for text, result in zip(texts, encoded, strict=True)}


def _cache_key(embedder: Embedder, digest: bytes) -> _CacheKey:
    return embedder.model.id, embedder.model.states.value, digest
