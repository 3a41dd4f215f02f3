"""Passages: queries for text and vectors, and the `Passages` port that answers them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from lamina.atom.atom import AtomId
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.store.encodings import Encodings, PassageKey
from lamina.text.time_windows import TimeWindows
from lamina.vectors.integer_vectors import QueryVector


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFilter:
    """The passages that a search may return.

    Two moments replace `valid_at`: `true_at` selects what was valid then, superseded or not; `known_by` selects what
    was recorded by then, whatever its status is now. `agent`: only what this agent learnt (`is_of_agent`). `layers`:
    None for every layer.
    """

    scopes: tuple[Scope, ...]
    statuses: frozenset[Status]
    memory_types: frozenset[MemoryType]
    valid_at: datetime
    true_at: datetime | None = None
    known_by: datetime | None = None
    agent: str | None = None
    layers: frozenset[Layer] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery:
    """A search for passages with any of the tokens and all of `required_tokens`, filtered before ranking.

    `is_exhaustive` scores every match of the most common word too; pruning is measured against it.
    """

    filter: PassageFilter
    tokens: tuple[str, ...]
    limit: int
    required_tokens: tuple[str, ...] = ()
    is_exhaustive: bool = False


@dataclass(frozen=True, slots=True)
class Partition:
    """A division of passages into parts that each return their nearest.

    Two passages are in one part if their statuses are in the same of these sets (or both in none), their speakers
    likewise, and if both were said in the window, or both mention it and were not said in it, or neither. A caller
    whose score adds and multiplies the same for all passages of a part finds the best by score among the nearest of
    every part, because within one the order by score is the order by cosine.
    """

    statuses: tuple[frozenset[Status], ...] = ()
    speakers: tuple[frozenset[str], ...] = ()
    window: TimeWindows | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorQuery:
    """A selection of passages: from each part the `limit` nearest to a vector, those in `keys`, and those around
    `neighbours_of`: up to `reach` passages before and after each of these in its session, without these themselves.

    Passages are filtered before they are compared, those in `keys` too. Passages without a vector are never among the
    nearest.
    """

    filter: PassageFilter
    model: str
    query_vector: QueryVector
    limit: int = 0
    partition: Partition = field(default_factory=Partition)
    keys: Collection[PassageKey] = ()
    neighbours_of: Collection[PassageKey] = ()
    reach: int = 1


class NearPassage(NamedTuple):
    """A passage with the cosine of its nearest chunk (0 if it has no vector), its speaker, times and place.

    Times are milliseconds since 1970; `mentioned_ms` is the time that its words mention, if any. `session` and
    `position` give its neighbours among the passages that the query allows; `digest` identifies its text. A tuple,
    because a recall makes hundreds of them.
    """

    key: PassageKey
    scope: Scope
    cosine: float
    status: Status
    layer: Layer
    origin: Origin
    recorded_ms: int
    speaker: str
    at_ms: int
    mentioned_ms: int | None
    is_question: bool
    session: str
    position: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A passage that contains some of the tokens: its BM25 score, what each token adds to it, and its atom's status.

    `past`: the passage itself, if its atom no longer has it.
    """

    atom_id: AtomId
    n: int
    status: Status
    score: float
    token_scores: tuple[tuple[str, float], ...]
    past: NearPassage | None = None


@dataclass(frozen=True, slots=True)
class PassageStatistics:
    """Of some scopes: the speakers of all recallable passages, how many passages there are, and how many of them each
    model has encoded. `tokens`: for each scope the number of recallable passages, and in how many each token occurs."""

    speakers: frozenset[str]
    count: int
    encoded: Mapping[str, int]
    tokens: Mapping[Scope, tuple[int, dict[str, int]]]


class Passages(Protocol):
    """Candidates for a query, and the statistics that scores are computed from. Who asks computes the scores."""

    @property
    def encodings(self) -> Encodings:
        """Return the vectors and token states that models computed for the passages."""

    def search_text(self, query: TextQuery) -> list[TextMatch]:
        """Return the best passages for the tokens, more than the limit if some tie.

        With `known_by` also the best past passages: those that atoms no longer have; no other field filters them.
        """

    def find_nearest(self, query: VectorQuery) -> list[NearPassage]:
        """Return the selected passages, unordered. Of a part with more than the limit, passages that tie at the cut are
        all returned, or if they are too many, the newest."""

    def count_filtered_out(self, query: VectorQuery, min_cosine: float) -> dict[str, int]:
        """Return how many passages with at least this cosine were filtered out, by the reason."""

    def cosines(self, model: str, query_vector: QueryVector, keys: Sequence[PassageKey]) -> list[float]:
        """Return the cosine of each passage's nearest chunk with a query; 0 if it is not encoded."""

    def statistics(
        self, scopes: Sequence[Scope], models: Sequence[str] = (), tokens: Sequence[str] | None = None
    ) -> PassageStatistics:
        """Return the speakers, and the numbers of passages with vectors of these models and with these tokens.

        Speakers of forgotten passages are left out. Without `tokens` none are counted.
        """
