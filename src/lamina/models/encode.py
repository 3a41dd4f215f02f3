"""Keeps every passage encoded: a few at once where a recall needs them, the rest in the background under a lease."""

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
"""How much of a text is read: a machine's long answers only to their second chunk, more gave nothing."""
LEASE_SECONDS = 30.0
BATCH_SECONDS = 1.0
AT_A_TURN = 200
"""Texts that a model encodes before the next one has its turn; fewer than `models/minilm_network.py` remembers."""
WAITING = 20_000
"""Texts that are looked up at a time: to find what is missing, every passage is looked at."""

Progress = Callable[[str, int, int], None]


def encode_some(store: Store, embedder: Embedder, most: int, scopes: Sequence[Scope] | None = None) -> int:
    """Encode up to so many texts that the model has not seen, of these scopes or of all; returns how many."""
    found = store.encodings.missing(embedder.model.id, most, scopes, embedder.model.states.value)
    _encode(store, embedder, found)
    return len(found)


def _encode(store: Store, embedder: Embedder, texts: Sequence[Unencoded]) -> None:
    if texts:
        made, packing = embedder.passages([piece_of(text) for text in texts]), embedder.model.states.value
        store.encodings.put(
            embedder.model.id,
            [
                Encoding(each.digest, it.vectors, States(packing, it.states))
                for each, it in zip(texts, made, strict=True)
            ],
        )


def encode_all(
    store: Store,
    embedder: Embedder,
    stop: Callable[[], bool],
    progress: Progress | None = None,
    most: int | None = None,
) -> int:
    """Encode everything the model has not seen, or about `most` texts, unless another process is at it; returns how
    many texts.

    The lease is renewed a batch at a time, and batches grow or shrink to about a second.
    """
    name, holder = _job(embedder.model.id), _holder()
    total = _left(store, embedder)
    if not total or not store.jobs.take(name, holder, LEASE_SECONDS):
        return 0
    done, error = 0, ""
    try:
        for made in _batches(store, embedder, stop, most):
            done += made
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
    """Encode what is missing, about a second's work at a time and at most `most` texts; tells how much each time."""
    batch, largest = 8, min(2000, most or 2000)
    while not stop():
        waiting = store.encodings.missing(embedder.model.id, WAITING, None, embedder.model.states.value)
        if not waiting:
            return
        while waiting and not stop():
            began, some, waiting = time.monotonic(), waiting[:batch], waiting[batch:]
            _encode(store, embedder, some)
            yield len(some)
            batch = max(1, min(largest, int(batch * min(2.0, BATCH_SECONDS / max(0.001, time.monotonic() - began)))))


def encode_each(
    store: Store, embedders: Sequence[Embedder], stop: Callable[[], bool], progress: Progress | None = None
) -> int:
    """Encode everything with each model; when all is done, what models no longer in use have made is dropped.

    The models take turns: what the transformer has just computed of a text, the state model need not compute again.
    """
    done, made = 0, 1
    while made and not stop():
        made = sum(encode_all(store, embedder, stop, progress, AT_A_TURN) for embedder in embedders)
        done += made
    if not stop():
        _drop_replaced(store, embedders)
    return done


def _drop_replaced(store: Store, embedders: Sequence[Embedder]) -> None:
    in_use = {embedder.model.id for embedder in embedders}
    others = [model for model in store.encodings.models() if model not in in_use]
    # Static vectors are a stand-in: whoever works with them alone for a while has not done with the transformer.
    if not others or all(embedder.model.states is TokenStates.PIECES for embedder in embedders):
        return
    if any(_left(store, embedder) for embedder in embedders):
        return
    for model in others:
        _drop(store, model)


def _drop(store: Store, model: str) -> None:
    """Forget what a model made, unless somebody is encoding with it at this moment."""
    name, holder = _job(model), _holder()
    if store.jobs.take(name, holder, LEASE_SECONDS):
        try:
            store.encodings.drop(model)
        finally:
            store.jobs.release(name, holder)


def _left(store: Store, embedder: Embedder) -> int:
    return store.encodings.how_many_missing(embedder.model.id, embedder.model.states.value)


def _job(model: str) -> str:
    return f"encode {model}"


def _holder() -> str:
    return f"{os.getpid()}-{secrets.token_hex(4)}"


def piece_of(text: Unencoded) -> Piece:
    """As much of a text as is read of it."""
    return Piece(text.text, PART_CHUNKS if text.in_part else WHOLE_CHUNKS, text.is_quoted)


class Background(Worker):
    """A thread that encodes what is missing whenever it is told that something may be."""

    def __init__(
        self, store: Store, embedders: Callable[[], list[Embedder]], look_again: float = LEASE_SECONDS
    ) -> None:
        super().__init__("encoding", self._encode)
        self._store, self._embedders, self._look_again = store, embedders, look_again

    def _encode(self, stop: Callable[[], bool]) -> float | None:
        """Do what is there to do. Whoever is at the rest may have died; then its lease runs out."""
        embedders = self._embedders()
        encode_each(self._store, embedders, stop)
        return self._look_again if any(_left(self._store, embedder) for embedder in embedders) else None
