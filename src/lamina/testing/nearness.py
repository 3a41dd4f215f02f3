"""A small deterministic model and a brute-force search: the reference for tests of vector search."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.atom.atom import Atom
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import Passage, digest_of, meant, passages_of
from lamina.atom.scope import Scope
from lamina.atom.status import ENDED, Status
from lamina.store.encodings import Encoding, Key, Near, NearQuery, States, Tilts
from lamina.testing.hand import LOCAL, Hand
from lamina.vectors.levels import Asked, Floats, to_asked

MODEL, OTHER_MODEL = "dice@16", "other dice@16"
WIDTH = 16
CLOSE = 0.01
"""How much a cosine may differ: a store may keep vectors in less than full precision."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of milliseconds."""

    start: int
    end: int

    def contains(self, times_ms: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each time whether it is in the range."""
        return (times_ms >= self.start) & (times_ms < self.end)


def vectors_of(text: str) -> Floats:
    """Return one to three unit vectors that depend on the text only."""
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    thrown = np.random.default_rng(seed).standard_normal((1 + len(text) % 3, WIDTH))
    return np.asarray(thrown / np.linalg.norm(thrown, axis=1, keepdims=True), dtype=np.float32)


def states_of(text: str, packing: str = "bytes") -> States:
    """Return token states that depend on the text only."""
    return States(packing, text.encode()[:40])


def asked(text: str) -> Asked:
    """Return the prepared vector of a question."""
    return to_asked(vectors_of(text)[0])


def encode(hand: Hand, model: str = MODEL, packing: str = "bytes") -> int:
    """Encode all texts that have no encoding, or none in this packing; return how many."""
    count = 0
    while missing := hand.store.encodings.missing(model, 50, packing=packing):
        hand.store.encodings.put(
            model, [Encoding(text.digest, vectors_of(text.text), states_of(text.text, packing)) for text in missing]
        )
        count += len(missing)
    return count


def query(hand: Hand, question: str, *scopes: Scope, **wanted: Any) -> NearQuery:
    """Return a vector query with defaults."""
    fields: dict[str, Any] = {
        "statuses": {Status.ACTIVE: 1.0, Status.ARCHIVED: 0.5},
        "memory_types": frozenset(MemoryType),
        "valid_at": hand.clock.now(),
        "model": MODEL,
        "vector": 1.0,
        "texts": {},
        "text": 0.0,
        "tilts": Tilts({}),
        "limit": 10,
        **wanted,
    }
    return NearQuery(scopes=scopes or (LOCAL,), asked=asked(question), **fields)


def near(hand: Hand, question: str, *scopes: Scope, **wanted: Any) -> dict[Key, Near]:
    """Return the nearest passages by their key, best first."""
    passages = hand.store.encodings.nearest(query(hand, question, *scopes, **wanted))
    assert len({passage.key for passage in passages}) == len(passages)
    return {passage.key: passage for passage in sorted(passages, key=lambda passage: (-passage.score, passage.key))}


def scores(hand: Hand, question: str, *scopes: Scope, **wanted: Any) -> dict[Key, tuple[float, float]]:
    """Return the cosine and score of the nearest passages, to be compared exactly."""
    return {key: (passage.cosine, passage.score) for key, passage in near(hand, question, *scopes, **wanted).items()}


def by_hand(hand: Hand, text: str, query: NearQuery) -> dict[Key, tuple[float, float]]:
    """Return the cosine and score of every passage that a query admits, computed one by one."""
    question = vectors_of(text)[0].astype(np.float64)
    results = {}
    for atom, passage in _let_through(hand, query):
        cosine = float((vectors_of(meant(atom, passage)).astype(np.float64) @ question).max())
        score = cosine * query.vector + query.texts.get((atom.id, passage.n), 0.0) * query.text
        score += query.tilts.speakers.get(passage.speaker or "", 0.0)
        if query.tilts.when is not None and query.tilts.when.contains(_times(atom, passage))[0]:
            score += query.tilts.in_time
        weight = query.statuses[atom.status] if score > 0 else 1.0
        results[atom.id, passage.n] = cosine, score * weight
    return results


def _let_through(hand: Hand, query: NearQuery) -> Iterator[tuple[Atom, Passage]]:
    for atom in hand.read(*query.scopes):
        begun = atom.valid_from is None or atom.valid_from <= query.valid_at
        lasts = atom.valid_until is None or query.valid_at < atom.valid_until
        if (
            atom.status in query.statuses
            and atom.memory_type in query.memory_types
            and (atom.status in ENDED or (begun and lasts))
        ):
            for passage in passages_of(atom):
                yield atom, passage


def _times(atom: Atom, passage: Passage) -> NDArray[np.int64]:
    return np.array([round((passage.at or atom.observed_at).timestamp() * 1000)], dtype=np.int64)


def digests(atom: Atom) -> list[bytes]:
    """Return the digests of the texts of an atom."""
    return [digest_of(atom, passage) for passage in passages_of(atom)]
