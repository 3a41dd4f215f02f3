"""Encodes every passage: a few immediately if a recall needs them, the rest in the background under a lease; and
computes again the token states of texts that are stored without them."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import TypeAlias

from lamina.atom.provenance import Scope
from lamina.errors import LaminaError
from lamina.logs import summarise_error
from lamina.models.embedder import Embedder, TextToEncode, TokenStates
from lamina.models.errors import ModelError
from lamina.store.base import Store
from lamina.store.encodings import PackedStates, TextEncoding, UnencodedText
from lamina.store.queue import new_lease_token
from lamina.worker import Worker

logger = logging.getLogger(__name__)

MAX_CHUNKS, MAX_PART_CHUNKS = 32, 2
"""How many chunks of a text are encoded: of an assistant's long answers only two, because more made no difference."""
LEASE_SECONDS = 30.0
BATCH_SECONDS = 1.0
TEXTS_PER_TURN = 200
"""Texts that a model encodes before the next model takes its turn; fewer than `models/minilm.py` caches."""
LOOKUP_LIMIT = 20_000
"""Texts that are looked up at a time: finding what is missing reads every passage."""

EncodingProgress = Callable[[str, int, int], None]


def encode_up_to(store: Store, embedder: Embedder, limit: int, scopes: Sequence[Scope] | None = None) -> int:
    """Encode up to `limit` texts that the model has not encoded, of these scopes or of all; return how many."""
    texts = store.passages.encodings.find_missing(embedder.model.id, limit, scopes, embedder.model.states.value)
    _encode_texts(store, embedder, texts)
    return len(texts)


def _encode_texts(store: Store, embedder: Embedder, texts: Sequence[UnencodedText]) -> None:
    """Encode texts and store the result."""
    if texts:
        encoded, packing = (
            embedder.encode_passages([text_to_encode(text) for text in texts]),
            embedder.model.states.value,
        )
        store.passages.encodings.put(
            embedder.model.id,
            [
                TextEncoding(text.digest, result.vectors, PackedStates(packing, result.states))
                for text, result in zip(texts, encoded, strict=True)
            ],
        )


def encode_all(
    store: Store,
    embedder: Embedder,
    stop: Callable[[], bool],
    progress: EncodingProgress | None = None,
    limit: int | None = None,
) -> int:
    """Encode everything the model has not encoded, or about `limit` texts, unless another process is doing so; return
    how many.

    The lease is renewed after each batch, and batches grow or shrink to about a second.
    """
    name, holder = _job_name(embedder.model.id), new_lease_token()
    total = _count_missing(store, embedder)
    if not total or not store.queue.lease(name, holder, LEASE_SECONDS):
        return 0
    done, error = 0, ""
    try:
        for count in _encode_batches(store, embedder, stop, limit):
            done += count
            if progress:
                progress(f"encoding with {embedder.model.id}", done, max(total, done))
            if not store.queue.lease(name, holder, LEASE_SECONDS, (done, max(total, done))):
                return done
            if limit is not None and done >= limit:
                return done
        return done
    except LaminaError as problem:
        error = str(problem)
        raise
    finally:
        store.queue.release(name, holder, error)


def _encode_batches(store: Store, embedder: Embedder, stop: Callable[[], bool], limit: int | None) -> Iterator[int]:
    """Encode what is missing, about a second's work at a time and at most `limit` texts; yield how many each time."""
    batch, largest = 8, min(2000, limit or 2000)
    while not stop():
        pending = store.passages.encodings.find_missing(
            embedder.model.id, LOOKUP_LIMIT, None, embedder.model.states.value
        )
        if not pending:
            return
        while pending and not stop():
            started, texts, pending = time.monotonic(), pending[:batch], pending[batch:]
            _encode_texts(store, embedder, texts)
            yield len(texts)
            batch = max(1, min(largest, int(batch * min(2.0, BATCH_SECONDS / max(0.001, time.monotonic() - started)))))


def encode_with_all(
    store: Store, embedders: Sequence[Embedder], stop: Callable[[], bool], progress: EncodingProgress | None = None
) -> int:
    """Encode everything with each model; when all is done, drop the results of models that are no longer in use.

    The models take turns: the state model reuses what the transformer has just computed for a text.
    """
    done, count = 0, 1
    while count and not stop():
        count = sum(encode_all(store, embedder, stop, progress, TEXTS_PER_TURN) for embedder in embedders)
        done += count
    if not stop():
        _drop_unused_models(store, embedders)
    return done


def _drop_unused_models(store: Store, embedders: Sequence[Embedder]) -> None:
    """Drop the results of models that are no longer in use, once nothing is missing."""
    in_use = {embedder.model.id for embedder in embedders}
    others = [model for model in store.passages.encodings.count().encoded if model not in in_use]
    # Static vectors are a fallback: using only them for a while does not mean that the transformer is no longer in use.
    if not others or all(embedder.model.states is TokenStates.PIECES for embedder in embedders):
        return
    if any(_count_missing(store, embedder) for embedder in embedders):
        return
    for model in others:
        _drop_model(store, model)


def _drop_model(store: Store, model: str) -> None:
    """Drop the results of a model, unless another process is encoding with it."""
    name, holder = _job_name(model), new_lease_token()
    if store.queue.lease(name, holder, LEASE_SECONDS):
        try:
            store.passages.encodings.drop_model(model)
        finally:
            store.queue.release(name, holder)


def _count_missing(store: Store, embedder: Embedder) -> int:
    """Return how many texts the model has not encoded."""
    packings = {embedder.model.id: embedder.model.states.value}
    return store.passages.encodings.count(packings).missing[embedder.model.id]


def _job_name(model: str) -> str:
    return f"encode {model}"


def text_to_encode(text: UnencodedText) -> TextToEncode:
    """Return as much of a text as is encoded."""
    return TextToEncode(text.text, MAX_PART_CHUNKS if text.is_partial else MAX_CHUNKS, text.is_quoted)


class EncodingWorker(Worker):
    """A thread that encodes what is missing whenever it is notified."""

    def __init__(
        self, store: Store, embedders: Callable[[], list[Embedder]], retry_seconds: float = LEASE_SECONDS
    ) -> None:
        super().__init__("encoding", self._encode)
        self._store, self._embedders, self._retry_seconds = store, embedders, retry_seconds

    def _encode(self, stop: Callable[[], bool]) -> float | None:
        """Encode what is missing. Return the seconds to wait if another process holds a lease, which may expire; None
        if nothing is missing."""
        embedders = self._embedders()
        encode_with_all(self._store, embedders, stop)
        return self._retry_seconds if any(_count_missing(self._store, embedder) for embedder in embedders) else None


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
