"""Encodes every passage: a few immediately if a recall needs them, the rest in the background under a lease."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence

from lamina.atom.scope import Scope
from lamina.errors import LaminaError
from lamina.models.embedder import Embedder, Piece, TokenStates
from lamina.store.base import Store
from lamina.store.encodings import Encoding, States, Unencoded
from lamina.worker import Worker

logger = logging.getLogger(__name__)

WHOLE_CHUNKS, PART_CHUNKS = 32, 2
"""How many chunks of a text are encoded: of an assistant's long answers only two, because more made no difference."""
LEASE_SECONDS = 30.0
BATCH_SECONDS = 1.0
AT_A_TURN = 200
"""Texts that a model encodes before the next model takes its turn; fewer than `models/minilm_network.py` caches."""
WAITING = 20_000
"""Texts that are looked up at a time: finding what is missing reads every passage."""

Progress = Callable[[str, int, int], None]


def encode_some(store: Store, embedder: Embedder, most: int, scopes: Sequence[Scope] | None = None) -> int:
    """Encode up to `limit` texts that the model has not encoded, of these scopes or of all; return how many."""
    texts = store.encodings.missing(embedder.model.id, most, scopes, embedder.model.states.value)
    _encode(store, embedder, texts)
    return len(texts)


def _encode(store: Store, embedder: Embedder, texts: Sequence[Unencoded]) -> None:
    """Encode texts and store the result."""
    if texts:
        encoded, packing = embedder.passages([piece_of(text) for text in texts]), embedder.model.states.value
        store.encodings.put(
            embedder.model.id,
            [
                Encoding(text.digest, result.vectors, States(packing, result.states))
                for text, result in zip(texts, encoded, strict=True)
            ],
        )


def encode_all(
    store: Store,
    embedder: Embedder,
    stop: Callable[[], bool],
    progress: Progress | None = None,
    most: int | None = None,
) -> int:
    """Encode everything the model has not encoded, or about `limit` texts, unless another process is doing so; return
    how many.

    The lease is renewed after each batch, and batches grow or shrink to about a second.
    """
    name, holder = _job(embedder.model.id), _holder()
    total = _left(store, embedder)
    if not total or not store.jobs.take(name, holder, LEASE_SECONDS):
        return 0
    done, error = 0, ""
    try:
        for count in _batches(store, embedder, stop, most):
            done += count
            if progress:
                progress(f"encoding with {embedder.model.id}", done, max(total, done))
            if not store.jobs.renew(name, holder, LEASE_SECONDS, done, max(total, done)):
                return done
            if most is not None and done >= most:
                return done
        return done
    except LaminaError as problem:
        error = str(problem)
        raise
    finally:
        store.jobs.release(name, holder, error)


def _batches(store: Store, embedder: Embedder, stop: Callable[[], bool], most: int | None) -> Iterator[int]:
    """Encode what is missing, about a second's work at a time and at most `limit` texts; yield how many each time."""
    batch, largest = 8, min(2000, most or 2000)
    while not stop():
        pending = store.encodings.missing(embedder.model.id, WAITING, None, embedder.model.states.value)
        if not pending:
            return
        while pending and not stop():
            started, texts, pending = time.monotonic(), pending[:batch], pending[batch:]
            _encode(store, embedder, texts)
            yield len(texts)
            batch = max(1, min(largest, int(batch * min(2.0, BATCH_SECONDS / max(0.001, time.monotonic() - started)))))


def encode_each(
    store: Store, embedders: Sequence[Embedder], stop: Callable[[], bool], progress: Progress | None = None
) -> int:
    """Encode everything with each model; when all is done, drop the results of models that are no longer in use.

    The models take turns: the state model reuses what the transformer has just computed for a text.
    """
    done, count = 0, 1
    while count and not stop():
        count = sum(encode_all(store, embedder, stop, progress, AT_A_TURN) for embedder in embedders)
        done += count
    if not stop():
        _drop_replaced(store, embedders)
    return done


def _drop_replaced(store: Store, embedders: Sequence[Embedder]) -> None:
    """Drop the results of models that are no longer in use, once nothing is missing."""
    in_use = {embedder.model.id for embedder in embedders}
    others = [model for model in store.encodings.models() if model not in in_use]
    # Static vectors are a fallback: using only them for a while does not mean that the transformer is no longer in use.
    if not others or all(embedder.model.states is TokenStates.PIECES for embedder in embedders):
        return
    if any(_left(store, embedder) for embedder in embedders):
        return
    for model in others:
        _drop(store, model)


def _drop(store: Store, model: str) -> None:
    """Drop the results of a model, unless another process is encoding with it."""
    name, holder = _job(model), _holder()
    if store.jobs.take(name, holder, LEASE_SECONDS):
        try:
            store.encodings.drop(model)
        finally:
            store.jobs.release(name, holder)


def _left(store: Store, embedder: Embedder) -> int:
    """Return how many texts the model has not encoded."""
    return store.encodings.how_many_missing(embedder.model.id, embedder.model.states.value)


def _job(model: str) -> str:
    return f"encode {model}"


def _holder() -> str:
    return f"{os.getpid()}-{secrets.token_hex(4)}"


def piece_of(text: Unencoded) -> Piece:
    """Return as much of a text as is encoded."""
    return Piece(text.text, PART_CHUNKS if text.in_part else WHOLE_CHUNKS, text.is_quoted)


class Background(Worker):
    """A thread that encodes what is missing whenever it is notified."""

    def __init__(
        self, store: Store, embedders: Callable[[], list[Embedder]], look_again: float = LEASE_SECONDS
    ) -> None:
        super().__init__("encoding", self._encode)
        self._store, self._embedders, self._look_again = store, embedders, look_again

    def _encode(self, stop: Callable[[], bool]) -> float | None:
        """Encode what is missing. Return the seconds to wait if another process holds a lease, which may expire; None
        if nothing is missing."""
        embedders = self._embedders()
        encode_each(self._store, embedders, stop)
        return self._look_again if any(_left(self._store, embedder) for embedder in embedders) else None
