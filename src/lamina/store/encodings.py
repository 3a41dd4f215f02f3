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
from lamina.store.precision import Precision
from lamina.vectors.integer_vectors import Floats

PassageKey: TypeAlias = tuple[AtomId, int]
"""A passage: its atom and its number in it."""


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
class PassageVectors:
    """The vectors of a passage, one row per chunk, and the bits per dimension that they are stored in."""

    bits: int
    rows: Floats


@dataclass(frozen=True, slots=True)
class EncodingCounts:
    """The numbers of texts that each model has encoded, and that a model still has to encode."""

    encoded: Mapping[str, int]
    missing: Mapping[str, int]


class Encodings(Protocol):
    """Vectors and token states of passages, by model.

    The vectors of a model do not depend on how its token states are packed; states in another packing are used until
    they are recomputed.
    """

    @property
    def precision(self) -> Precision:
        """Return the bits per dimension that vectors are stored in; `FullPrecision` for a backend that has one form."""

    def find_missing(
        self, model: str, limit: int, scopes: Sequence[Scope] | None = None, packing: str | None = None
    ) -> list[UnencodedText]:
        """Return texts that a model has not encoded, in these scopes or all, those of recallable passages first.

        With a packing, also texts whose token states have another packing, and after them those stored in other than
        the wanted bits.
        """

    def count(self, packings: Mapping[str, str | None] | None = None) -> EncodingCounts:
        """Return how many texts each model has encoded, and how many texts `find_missing` would return without a limit
        for each of these models with its packing."""

    def put(self, model: str, encodings: Iterable[TextEncoding]) -> None:
        """Store what a model computed for these texts; texts that no longer exist are skipped.

        For a text that was encoded before, the token states are replaced, and the vectors if they are stored in other
        than the wanted bits. Below `MIN_BITS_FOR_STATES` no token states are stored.
        """

    def drop_model(self, model: str) -> None:
        """Delete everything that a model computed."""

    def vectors(
        self, model: str, keys: Collection[PassageKey], *, only_reduced: bool = False
    ) -> dict[PassageKey, PassageVectors]:
        """Return the vectors of passages, without those not encoded; `only_reduced`: those in less than full
        precision."""

    def states(self, models: Sequence[str], digests: Iterable[bytes]) -> dict[str, dict[bytes, PackedStates]]:
        """Return for each model the token states of texts in any packing; without those not encoded."""
