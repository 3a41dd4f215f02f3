"""The numbers beside the words: each passage's vectors and token states, and the search over them.

An encoding belongs to a text, not to a row: two passages with the same words share one, and an index made anew keeps
what it has. None of it is history; what is missing is computed again from the words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.passage import Passage, digest_of, meant
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.text.roles import is_assistant
from lamina.vectors.levels import Asked, Floats

Key: TypeAlias = tuple[AtomId, int]
"""A passage: its atom and its number there."""
WHOLE = 32
"""Bits a dimension of a vector that is kept as it is."""
STATES_FROM = 8
"""Bits from which on the token states of a text are kept as well; below, they are made again when they are needed."""


@dataclass(frozen=True, slots=True)
class Unencoded:
    """A text a model has not seen yet; of one `in_part`, a machine's long answer, the beginning is enough. One that
    `is_quoted` is a statement taken from captured words, which are encoded themselves."""

    digest: bytes
    text: str
    in_part: bool
    is_quoted: bool = False


def unencoded(atom: Atom, passage: Passage) -> Unencoded:
    """A passage as it is shown to a model."""
    is_quoted = bool(atom.evidence) and not atom.is_segment
    return Unencoded(digest_of(atom, passage), meant(atom, passage), is_assistant(passage.speaker), is_quoted)


@dataclass(frozen=True, slots=True)
class States:
    """The token states of a text, and by what name the way they are packed goes."""

    packing: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Encoding:
    """What a model made of a text."""

    digest: bytes
    vectors: Floats
    states: States


@dataclass(frozen=True, slots=True)
class Moved:
    """Vectors of texts that are to be kept in other than the bits they were in, by how many that is, and texts whose
    token states are let go."""

    vectors: Mapping[int, int]
    states: int = 0


@dataclass(frozen=True, slots=True)
class Room:
    """What vectors of each precision take, and token states: how many texts of a model, and bytes."""

    vectors: Mapping[int, tuple[int, int]]
    states: tuple[int, int]


class When(Protocol):
    """A span of time a question names."""

    def contains(self, times_ms: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the moments lie inside."""


@dataclass(frozen=True, slots=True)
class Tilts:
    """What a passage gains or loses before it is looked at: by who said it, when, and of when it tells."""

    speakers: Mapping[str, float]
    when: When | None = None
    in_time: float = 0.0
    tells_of: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NearQuery:
    """Which passages: the best by `(cosine × vector + text score × text + tilts) × weight of their status`.

    A sum below 0 is not weighted: less weight would lift it. Filtered before they are ranked; a passage without a
    vector and without a text score is not looked at. `beside` of the passages before and after each of the best come
    along, and those in `also` if the filters let them through. Two moments take the place of `valid_at`: `true_at` lets
    through what held then, replaced or not, `known_by` what was there by then, whatever became of it.
    """

    scopes: tuple[Scope, ...]
    statuses: Mapping[Status, float]
    memory_types: frozenset[MemoryType]
    valid_at: datetime
    model: str
    asked: Asked
    vector: float
    texts: Mapping[Key, float]
    text: float
    tilts: Tilts
    limit: int
    beside: int = 0
    also: Collection[Key] = ()
    true_at: datetime | None = None
    known_by: datetime | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """A passage with the cosine of its nearest chunk (0 where it has none), who said it when, and where it stands.

    Times are milliseconds since 1970. `in_time`: said at the time in question; `tells_of`: said at another and telling
    of it; `tells_when`: telling of any time; `asks`: being a question. `session` and `position` tell its neighbours
    among what the query lets through, `digest` what its text is known by.
    """

    key: Key
    scope: Scope
    cosine: float
    score: float
    status: Status
    layer: Layer
    origin: Origin
    recorded_ms: int
    speaker: str
    at_ms: int
    in_time: bool
    tells_of: bool
    tells_when: bool
    asks: bool
    session: str
    position: int
    digest: bytes


class Encodings(Protocol):
    """Vectors and token states of passages, by model.

    A model's vectors are the same however its token states are packed; states packed otherwise serve until they are
    made anew.

    Each atom says in how many bits a dimension it wants its vectors kept, all of them where nothing was said; a text of
    several atoms is kept in the most that one of them wants. Fewer bits are made from the whole vector or from the text
    again, never from fewer.
    """

    def missing(
        self, model: str, limit: int, scopes: Sequence[Scope] | None = None, packing: str | None = None
    ) -> list[Unencoded]:
        """Texts that a model has not seen, those of recallable passages first; of these scopes, or of all.

        With a packing, also texts whose token states are packed otherwise, and after them those kept in other than the
        wanted bits.
        """

    def how_many_missing(self, model: str, packing: str | None = None) -> int:
        """How many texts a model has not seen, or with a packing, are not kept so or not in the wanted bits."""

    def put(self, model: str, encodings: Iterable[Encoding]) -> None:
        """Keep what a model made of these texts; texts that are no longer there are passed over.

        Of a text the model has seen before, the token states are replaced, and the vectors where they are kept in other
        than the wanted bits. In few bits no token states are kept.
        """

    def coverage(self, model: str, scopes: Sequence[Scope]) -> tuple[int, int]:
        """How many passages of these scopes a model has encoded, and how many there are."""

    def models(self) -> dict[str, int]:
        """How many texts each model has encoded."""

    def drop(self, model: str) -> None:
        """Forget all that a model made."""

    def nearest(self, query: NearQuery) -> list[Near]:
        """The best passages, in no order; a few more than the limit where they tie."""

    def withheld(self, query: NearQuery, above: float) -> dict[str, int]:
        """How many passages were filtered out though their cosine is at least so high, by what kept them out."""

    def cosines(self, model: str, asked: Asked, keys: Sequence[Key]) -> list[float]:
        """The cosine of each passage's nearest chunk with a question; 0 where it is not encoded."""

    def vectors(self, model: str, ids: Sequence[AtomId]) -> dict[AtomId, Floats]:
        """The vectors of the first passage of each atom, a row a chunk; those not encoded are left out."""

    def states(self, model: str, digests: Iterable[bytes]) -> dict[bytes, States]:
        """The token states of texts, however they are packed; those not encoded are left out."""

    def speakers(self, scopes: Sequence[Scope]) -> frozenset[str]:
        """Whoever said something here that recall searches; who was forgotten is not known."""

    def rarity(self, scopes: Sequence[Scope], tokens: Sequence[str]) -> dict[Scope, tuple[int, dict[str, int]]]:
        """For each scope how many passages recall searches there, and in how many each token stands."""

    def set_precision(self, bits: Mapping[AtomId, int], *, dry_run: bool = False) -> Moved:
        """Keep the vectors of these atoms in so many bits; what cannot be made from what is kept will be missing.

        Until then what is kept serves. A program that has the store open may go on with what it has read.
        """

    def coarse(self, model: str, keys: Collection[Key]) -> dict[Key, tuple[int, Floats]]:
        """Of those passages whose vectors are not kept whole, in how many bits, and what these tell, a row a chunk."""

    def room(self) -> Room:
        """What all vectors and token states take."""
