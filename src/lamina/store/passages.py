"""Passages: queries for text and vectors, and the `Passages` port that answers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import AtomId
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.provenance import Scope
from lamina.atom.status import Status
from lamina.store.encodings import Encodings, NearPassage, PassageKey, VectorQuery
from lamina.vectors.integer_vectors import QueryVector


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery:
    """A search for passages with any of the tokens and all of `required_tokens`, filtered before ranking.

    `is_exhaustive` scores every match of the most common word too; pruning is measured against it. Two moments replace
    `valid_at`: `true_at` selects what was valid then, superseded or not; `known_by` selects what was recorded by then,
    whatever its status is now. `agent`: only what this agent learnt (`is_of_agent`). `layers`: None for every layer.
    """

    scopes: tuple[Scope, ...]
    tokens: tuple[str, ...]
    statuses: frozenset[Status]
    memory_types: frozenset[MemoryType]
    valid_at: datetime
    limit: int
    required_tokens: tuple[str, ...] = ()
    is_exhaustive: bool = False
    true_at: datetime | None = None
    known_by: datetime | None = None
    agent: str | None = None
    layers: frozenset[Layer] | None = None


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A passage that contains some of the tokens: its BM25 score, what each token adds to it, and its atom's status."""

    atom_id: AtomId
    n: int
    status: Status
    score: float
    token_scores: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class PassageSummary:
    """Of some scopes: the speakers of all recallable passages, how many passages there are, and how many of them each
    model has encoded."""

    speakers: frozenset[str]
    count: int
    encoded: Mapping[str, int]


class Passages(Protocol):
    """Candidates for a query, and the statistics that scores are computed from."""

    @property
    def encodings(self) -> Encodings:
        """Return the vectors and token states that models computed for the passages."""

    def search_text(self, query: TextQuery) -> list[TextMatch]:
        """Return the best passages for the tokens."""

    def search_past(self, query: TextQuery) -> list[tuple[TextMatch, NearPassage]]:
        """Return the best past passages for the tokens: those that atoms no longer have. Only `known_by` filters."""

    def find_nearest(self, query: VectorQuery) -> list[NearPassage]:
        """Return the best passages, unordered; more than the limit if some tie."""

    def count_filtered_out(self, query: VectorQuery, min_cosine: float) -> dict[str, int]:
        """Return how many passages with at least this cosine were filtered out, by the reason."""

    def cosines(self, model: str, query_vector: QueryVector, keys: Sequence[PassageKey]) -> list[float]:
        """Return the cosine of each passage's nearest chunk with a query; 0 if it is not encoded."""

    def summary(self, scopes: Sequence[Scope], models: Sequence[str] = ()) -> PassageSummary:
        """Return the speakers and the numbers of passages; speakers of forgotten passages are left out."""

    def token_statistics(
        self, scopes: Sequence[Scope], tokens: Sequence[str]
    ) -> dict[Scope, tuple[int, dict[str, int]]]:
        """Return for each scope the number of recallable passages, and in how many each token occurs."""
