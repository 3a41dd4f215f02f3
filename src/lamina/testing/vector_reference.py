"""A small deterministic model and a brute-force search: the reference for tests of vector search."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from lamina.atom.atom import Atom
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import Passage, passage_digest, passage_model_text, passages_of
from lamina.atom.provenance import Scope
from lamina.atom.status import ENDED, Status
from lamina.store.encodings import PackedStates, PassageKey, TextEncoding
from lamina.store.passages import NearPassage, Partition, PassageFilter, VectorQuery
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
    """Return a vector query with defaults; fields of its filter can be overridden too."""
    names = {field.name for field in fields(PassageFilter)}
    passage_filter = PassageFilter(
        **{
            "scopes": scopes or (LOCAL,),
            "statuses": frozenset({Status.ACTIVE, Status.ARCHIVED}),
            "memory_types": frozenset(MemoryType),
            "valid_at": harness.clock.now(),
            **{name: value for name, value in overrides.items() if name in names},
        }
    )
    others = {name: value for name, value in overrides.items() if name not in names}
    query_fields: dict[str, Any] = {"model": MODEL, "limit": 10, **others}
    return VectorQuery(filter=passage_filter, query_vector=question_vector(question), **query_fields)


def nearest_passages(
    harness: StoreHarness, question: str, *scopes: Scope, **overrides: Any
) -> dict[PassageKey, NearPassage]:
    """Return the nearest passages by their key, nearest first."""
    passages = harness.store.passages.find_nearest(vector_query(harness, question, *scopes, **overrides))
    assert len({passage.key for passage in passages}) == len(passages)
    return {passage.key: passage for passage in sorted(passages, key=lambda passage: (-passage.cosine, passage.key))}


def nearest_cosines(harness: StoreHarness, question: str, *scopes: Scope, **overrides: Any) -> dict[PassageKey, float]:
    """Return the cosines of the nearest passages, to be compared exactly."""
    passages = nearest_passages(harness, question, *scopes, **overrides)
    return {key: passage.cosine for key, passage in passages.items()}


def brute_force_cosines(harness: StoreHarness, text: str, query: VectorQuery) -> dict[PassageKey, float]:
    """Return the cosine of every passage that a query admits, computed one by one."""
    question = make_vectors(text)[0].astype(np.float64)
    return {
        (atom.id, passage.n): float((make_vectors(passage_model_text(atom, passage)) @ question).max())
        for atom, passage in _matching_passages(harness, query.filter)
    }


def part_of(partition: Partition, passage: NearPassage) -> tuple[object, ...]:
    """Return what the passages of one part of a partition have in common."""
    contains = partition.window.contains if partition.window is not None else lambda times: np.zeros(len(times), bool)
    is_said = bool(contains(np.array([passage.at_ms]))[0])
    mentioned = [] if passage.mentioned_ms is None else [passage.mentioned_ms]
    return (
        [passage.status in statuses for statuses in partition.statuses],
        [passage.speaker in speakers for speakers in partition.speakers],
        is_said,
        not is_said and bool(contains(np.array(mentioned, dtype=np.int64)).any()),
    )


def _matching_passages(harness: StoreHarness, passage_filter: PassageFilter) -> Iterator[tuple[Atom, Passage]]:
    valid_at, layers = passage_filter.valid_at, passage_filter.layers
    for atom in harness.read(*passage_filter.scopes):
        begun = atom.valid_from is None or atom.valid_from <= valid_at
        lasts = atom.valid_until is None or valid_at < atom.valid_until
        if (
            atom.status in passage_filter.statuses
            and atom.memory_type in passage_filter.memory_types
            and (layers is None or atom.layer in layers)
            and (atom.status in ENDED or (begun and lasts))
        ):
            for passage in passages_of(atom):
                yield atom, passage


def text_digests(atom: Atom) -> list[bytes]:
    """Return the digests of the texts of an atom."""
    return [passage_digest(atom, passage) for passage in passages_of(atom)]
