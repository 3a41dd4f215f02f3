"""Token states made while somebody waits, of texts too cold to have theirs kept: a few at once, the last in memory."""

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
"""How many texts are encoded for one look, so that nobody waits long for them."""
KEPT = 2_000
"""How many are remembered: some megabytes."""

_Name: TypeAlias = tuple[str, str, bytes]


class Thawed:
    """Whatever was made last, by model, packing and text. Nothing of it is written; threads may share it."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept, self._lock = kept, Lock()
        self._states: OrderedDict[_Name, States] = OrderedDict()

    def states(self, embedder: Embedder, texts: Sequence[Unencoded]) -> dict[bytes, States]:
        """The token states of the first few texts; which ones does not hang on what is remembered."""
        some = texts[:MOST]
        names = {unencoded.digest: _name(embedder, unencoded.digest) for unencoded in some}
        with self._lock:
            found = {digest: self._states[name] for digest, name in names.items() if name in self._states}
        found |= self._made(embedder, [unencoded for unencoded in some if unencoded.digest not in found])
        with self._lock:
            for digest, states in found.items():
                self._states[names[digest]] = states
                self._states.move_to_end(names[digest])
            while len(self._states) > self._kept:
                self._states.popitem(last=False)
        return found

    def _made(self, embedder: Embedder, texts: Sequence[Unencoded]) -> dict[bytes, States]:
        if not texts:
            return {}
        try:
            made = embedder.passages([piece_of(text) for text in texts])
        except ModelError as error:
            logger.warning("cold passages are not read closely: %s", wordless(error))
            return {}
        packing = embedder.model.states.value
        return {each.digest: States(packing, it.states) for each, it in zip(texts, made, strict=True)}


def _name(embedder: Embedder, digest: bytes) -> _Name:
    return embedder.model.id, embedder.model.states.value, digest
