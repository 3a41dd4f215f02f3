"""Vectors and token states of passages, and the `Encodings` port that stores them.

An encoding belongs to a text, not to a row: two passages with the same text share one, and a rebuilt index keeps what
it has. None of it is history; what is missing is computed again from the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from lamina.atom.atom import Atom, AtomId
from lamina.atom.passage import Passage, is_assistant, passage_digest, passage_model_text
from lamina.atom.provenance import Scope
from lamina.vectors.integer_vectors import Floats

PassageKey: TypeAlias = tuple[AtomId, int]
"""A passage: its atom and its number in it."""
FULL_BITS = 32
"""Bits per dimension of a vector that is stored in full precision."""
MIN_BITS_FOR_STATES = 8
"""Bits from which on the token states of a text are stored too; below, they are recomputed when needed."""


@dataclass(frozen=True, slots=True)
class UnencodedText:
    """A text that a model has not encoded yet.

    `is_partial`: a long answer of an assistant, of which the beginning is enough. `is_quoted`: a statement extracted
    from captured words, which are encoded themselves.
    """

    digest: bytes
    text: str
    is_partial: bool
    is_quoted: bool = False


def to_unencoded_text(atom: Atom, passage: Passage) -> UnencodedText:
    """Return the text of a passage as an embedding model receives it."""
    is_quoted = bool(atom.evidence) and not atom.is_segment
    return UnencodedText(
        passage_digest(atom, passage), passage_model_text(atom, passage), is_assistant(passage.speaker), is_quoted
    )


@dataclass(frozen=True, slots=True)
class PackedStates:
    """The token states of a text, packed, and the name of the packing."""

    packing: str
    data: bytes


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """The vectors and token states that a model computed for a text."""

    digest: bytes
    vectors: Floats
    states: PackedStates


@dataclass(frozen=True, slots=True)
class PrecisionChange:
    """The effect of a change of precision.

    How many vectors change to each number of bits, and how many texts lose their token states.
    """

    vectors: Mapping[int, int]
    states: int = 0


@dataclass(frozen=True, slots=True)
class EncodingSizes:
    """The size of all vectors, by bits, and of all token states: number of texts and bytes."""

    vectors: Mapping[int, tuple[int, int]]
    states: tuple[int, int]


class Encodings(Protocol):
    """Vectors and token states of passages, by model.

    The vectors of a model do not depend on how its token states are packed; states in another packing are used until
    they are recomputed.

    Each atom has a wanted number of bits per dimension, full precision by default; a text of several atoms is stored in
    the most bits that one of them wants. Lower precision is computed from the full vector or from the text, never from
    a vector of lower precision.
    """

    def find_missing(
        self, model: str, limit: int, scopes: Sequence[Scope] | None = None, packing: str | None = None
    ) -> list[UnencodedText]:
        """Return texts that a model has not encoded, in these scopes or all, those of recallable passages first.

        With a packing, also texts whose token states have another packing, and after them those stored in other than
        the wanted bits.
        """

    def count_missing(self, model: str, packing: str | None = None) -> int:
        """Return how many texts `find_missing` would return without a limit."""

    def put(self, model: str, encodings: Iterable[TextEncoding]) -> None:
        """Store what a model computed for these texts; texts that no longer exist are skipped.

        For a text that was encoded before, the token states are replaced, and the vectors if they are stored in other
        than the wanted bits. Below `MIN_BITS_FOR_STATES` no token states are stored.
        """

    def count_by_model(self) -> dict[str, int]:
        """Return how many texts each model has encoded."""

    def drop_model(self, model: str) -> None:
        """Delete everything that a model computed."""

    def vectors(self, model: str, ids: Sequence[AtomId]) -> dict[AtomId, Floats]:
        """Return the vectors of the first passage of each atom, one row per chunk; without those not encoded."""

    def states(self, models: Sequence[str], digests: Iterable[bytes]) -> dict[str, dict[bytes, PackedStates]]:
        """Return for each model the token states of texts in any packing; without those not encoded."""

    def set_precision(self, bits: Mapping[AtomId, int], *, dry_run: bool = False) -> PrecisionChange:
        """Store the vectors of these atoms in so many bits; those that cannot be converted become missing.

        Until they are encoded again the stored ones are used. Another process may continue with what it has loaded.
        """

    def unused_bytes(self) -> int:
        """Return about how many bytes of the index hold nothing since vectors were stored in fewer bits or deleted."""

    def reclaim(self) -> int:
        """Give unused bytes back to the disk if they are worth the work; return how many. Waits for no reader."""

    def coarse_vectors(self, model: str, keys: Collection[PassageKey]) -> dict[PassageKey, tuple[int, Floats]]:
        """Return, for passages below full precision, the bits and the decoded vectors, one row per chunk."""

    def sizes(self) -> EncodingSizes:
        """Return the size of all vectors and token states."""
