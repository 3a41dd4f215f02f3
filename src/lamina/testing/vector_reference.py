"""A small deterministic model and a brute-force search: the reference for tests of vector search."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.atom.atom import Atom
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import Passage, passage_digest, passage_model_text, passages_of
from lamina.atom.provenance import Scope
from lamina.atom.status import ENDED, Status
from lamina.store.encodings import NearPassage, PackedStates, PassageKey, ScoreTerms, TextEncoding, VectorQuery
from lamina.testing.store_harness import LOCAL, StoreHarness
from lamina.vectors.integer_vectors import Floats, QueryVector, to_query_vector

MODEL, OTHER_MODEL = "dice@16", "other dice@16"
WIDTH = 16
COSINE_TOLERANCE = 0.01
"""How much a cosine may differ: a store may keep vectors in less than full precision."""


def make_vectors(text: str) -> Floats:
    """Return one to three unit vectors that depend on the text only."""
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    thrown = np.random.default_rng(seed).standard_normal((1 + len(text) % 3, WIDTH))
    return np.asarray(thrown / np.linalg.norm(thrown, axis=1, keepdims=True), dtype=np.float32)


def make_states(text: str, packing: str = "bytes") -> PackedStates:
    """Return token states that depend on the text only."""
    return PackedStates(packing, text.encode()[:40])


def question_vector(text: str) -> QueryVector:
    """Return the prepared vector of a question."""
    return to_query_vector(make_vectors(text)[0])


def encode_missing(harness: StoreHarness, model: str = MODEL, packing: str = "bytes") -> int:
    """Encode all texts that have no encoding, or none in this packing; return how many."""
    count = 0
    while missing := harness.encodings.find_missing(model, 50, packing=packing):
        harness.encodings.put(
            model,
            [TextEncoding(text.digest, make_vectors(text.text), make_states(text.text, packing)) for text in missing],
        )
        count += len(missing)
    return count


def vector_query(harness: StoreHarness, question: str, *scopes: Scope, **overrides: Any) -> VectorQuery:
    """Return a vector query with defaults."""
    fields: dict[str, Any] = {
        "status_weights": {Status.ACTIVE: 1.0, Status.ARCHIVED: 0.5},
        "memory_types": frozenset(MemoryType),
        "valid_at": harness.clock.now(),
        "model": MODEL,
        "vector_weight": 1.0,
        "text_scores": {},
        "text_weight": 0.0,
        "terms": ScoreTerms({}),
        "limit": 10,
        **overrides,
    }
    return VectorQuery(scopes=scopes or (LOCAL,), query_vector=question_vector(question), **fields)


def nearest_passages(
    harness: StoreHarness, question: str, *scopes: Scope, **overrides: Any
) -> dict[PassageKey, NearPassage]:
    """Return the nearest passages by their key, best first."""
    passages = harness.store.passages.find_nearest(vector_query(harness, question, *scopes, **overrides))
    assert len({passage.key for passage in passages}) == len(passages)
    return {passage.key: passage for passage in sorted(passages, key=lambda passage: (-passage.score, passage.key))}


def nearest_scores(
    harness: StoreHarness, question: str, *scopes: Scope, **overrides: Any
) -> dict[PassageKey, tuple[float, float]]:
    """Return the cosine and score of the nearest passages, to be compared exactly."""
    return {
        key: (passage.cosine, passage.score)
        for key, passage in nearest_passages(harness, question, *scopes, **overrides).items()
    }


def brute_force_scores(harness: StoreHarness, text: str, query: VectorQuery) -> dict[PassageKey, tuple[float, float]]:
    """Return the cosine and score of every passage that a query admits, computed one by one."""
    question = make_vectors(text)[0].astype(np.float64)
    results = {}
    for atom, passage in _matching_passages(harness, query):
        cosine = float((make_vectors(passage_model_text(atom, passage)).astype(np.float64) @ question).max())
        score = cosine * query.vector_weight + query.text_scores.get((atom.id, passage.n), 0.0) * query.text_weight
        score += query.terms.speakers.get(passage.speaker or "", 0.0)
        if query.terms.window is not None and query.terms.window.contains(_times(atom, passage))[0]:
            score += query.terms.in_window
        weight = query.status_weights[atom.status] if score > 0 else 1.0
        results[atom.id, passage.n] = cosine, score * weight
    return results


def _matching_passages(harness: StoreHarness, query: VectorQuery) -> Iterator[tuple[Atom, Passage]]:
    for atom in harness.read(*query.scopes):
        begun = atom.valid_from is None or atom.valid_from <= query.valid_at
        lasts = atom.valid_until is None or query.valid_at < atom.valid_until
        if (
            atom.status in query.status_weights
            and atom.memory_type in query.memory_types
            and (query.layers is None or atom.layer in query.layers)
            and (atom.status in ENDED or (begun and lasts))
        ):
            for passage in passages_of(atom):
                yield atom, passage


def _times(atom: Atom, passage: Passage) -> NDArray[np.int64]:
    return np.array([round((passage.at or atom.observed_at).timestamp() * 1000)], dtype=np.int64)


def text_digests(atom: Atom) -> list[bytes]:
    """Return the digests of the texts of an atom."""
    return [passage_digest(atom, passage) for passage in passages_of(atom)]
