"""A small model of its own and a slow look at every passage: what a vector search is measured against."""

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
"""How far a cosine may be off: a store may keep vectors in less than full precision."""


@dataclass(frozen=True, slots=True)
class Span:
    """Some milliseconds."""

    start: int
    end: int

    def contains(self, times_ms: NDArray[np.int64]) -> NDArray[np.bool_]:
        return (times_ms >= self.start) & (times_ms < self.end)


def vectors_of(text: str) -> Floats:
    """One to three unit vectors that hang on nothing but the text."""
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    thrown = np.random.default_rng(seed).standard_normal((1 + len(text) % 3, WIDTH))
    return np.asarray(thrown / np.linalg.norm(thrown, axis=1, keepdims=True), dtype=np.float32)


def states_of(text: str, packing: str = "bytes") -> States:
    return States(packing, text.encode()[:40])


def asked(text: str) -> Asked:
    return to_asked(vectors_of(text)[0])


def encode(hand: Hand, model: str = MODEL, packing: str = "bytes") -> int:
    """Show the model whatever it has not seen, or not in this packing; returns how many texts."""
    done = 0
    while found := hand.store.encodings.missing(model, 50, packing=packing):
        hand.store.encodings.put(
            model, [Encoding(each.digest, vectors_of(each.text), states_of(each.text, packing)) for each in found]
        )
        done += len(found)
    return done


def query(hand: Hand, question: str, *scopes: Scope, **wanted: Any) -> NearQuery:
    own: dict[str, Any] = {
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
    return NearQuery(scopes=scopes or (LOCAL,), asked=asked(question), **own)


def near(hand: Hand, question: str, *scopes: Scope, **wanted: Any) -> dict[Key, Near]:
    """The nearest passages by their key, best first."""
    found = hand.store.encodings.nearest(query(hand, question, *scopes, **wanted))
    assert len({each.key for each in found}) == len(found)
    return {each.key: each for each in sorted(found, key=lambda each: (-each.score, each.key))}


def scores(hand: Hand, question: str, *scopes: Scope, **wanted: Any) -> dict[Key, tuple[float, float]]:
    """The cosine and the score of the nearest passages, to be compared to the last bit."""
    return {key: (each.cosine, each.score) for key, each in near(hand, question, *scopes, **wanted).items()}


def by_hand(hand: Hand, text: str, query: NearQuery) -> dict[Key, tuple[float, float]]:
    """The cosine and the score of every passage a query lets through, worked out one by one."""
    question = vectors_of(text)[0].astype(np.float64)
    found = {}
    for atom, passage in _let_through(hand, query):
        cosine = float((vectors_of(meant(atom, passage)).astype(np.float64) @ question).max())
        score = cosine * query.vector + query.texts.get((atom.id, passage.n), 0.0) * query.text
        score += query.tilts.speakers.get(passage.speaker or "", 0.0)
        if query.tilts.when is not None and query.tilts.when.contains(_times(atom, passage))[0]:
            score += query.tilts.in_time
        weight = query.statuses[atom.status] if score > 0 else 1.0
        found[atom.id, passage.n] = cosine, score * weight
    return found


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
    """What the texts of an atom are known by."""
    return [digest_of(atom, passage) for passage in passages_of(atom)]
