"""Erasure: text leaves the journal for good, unfinished work survives a crash, and the text is recognised if it comes
again.

A fingerprint is a keyed hash of erased text. It reveals nothing to anyone who does not have the text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from lamina.atom.atom import Atom, AtomId
from lamina.atom.provenance import Origin, Scope


class FingerprintKind(StrEnum):
    """The kind of text that a fingerprint stands for.

    `VALUE_WITH_TOPIC`: a value with one word of what it is the value of. `SENTENCE_WITH_NEIGHBOUR`: a sentence with
    words that were next to it.
    """

    STATEMENT = "statement"
    SENTENCE = "sentence"
    CLAIM = "claim"
    VALUE = "value"
    VALUE_WITH_TOPIC = "echo"
    SENTENCE_WITH_NEIGHBOUR = "beside"


@dataclass(frozen=True, slots=True)
class FingerprintText:
    """A text that was or may have been erased, in normal form. It counts in every scope of an organisation."""

    organisation: str
    kind: FingerprintKind
    form: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """The request to erase from the journal, in one commit.

    `erased_ids`: atoms of which only a stub stays, each with the fingerprint in `stub_fingerprints`. `rewritten`: every
    version of other atoms without the erased text, oldest first. `reasons`: the journal positions of commits that lose
    their reason. `fingerprints`: texts to recognise, each with the highest trust of the words it recognises.
    `search_json`: how copies in files are found; it is stored until they are cleaned, and must not contain the text.
    """

    actor: str
    reason: str
    scope: Scope
    erased_ids: tuple[AtomId, ...]
    rewritten: Mapping[AtomId, Sequence[Atom]]
    reasons: frozenset[int]
    fingerprints: Mapping[FingerprintText, float]
    stub_fingerprints: Mapping[AtomId, FingerprintText]
    search_json: str


@dataclass(frozen=True, slots=True)
class PendingErasure:
    """An erasure of which the files may not be cleaned yet.

    `search_json` is empty once they are, and only free space has to be scrubbed.
    """

    seq: int
    commit: str
    at: datetime
    erased_ids: tuple[AtomId, ...]
    rewritten_ids: tuple[AtomId, ...]
    paths: tuple[str, ...]
    search_json: str
    version_count: int


@dataclass(frozen=True, slots=True)
class CommitReason:
    """The reason of the commit at a journal position, and the origin of who gave it."""

    seq: int
    origin: Origin
    text: str


@dataclass(frozen=True, slots=True)
class Mentions:
    """The places where words occur: atoms of which any version contains one of them, and reasons of commits."""

    atom_ids: tuple[AtomId, ...]
    reasons: tuple[CommitReason, ...]


@dataclass(frozen=True, slots=True)
class ErasureStub:
    """The stub that remains of an erased atom."""

    atom_id: AtomId
    scope: Scope
    at: datetime
    actor: str
    reason: str
    fingerprint: str


class Erasures(Protocol):
    """Removes text from a store. The change of the journal is one durable step; the rest can be finished later."""

    def find_mentions(self, words: Collection[str], scopes: Sequence[Scope]) -> Mentions:
        """Return the atoms and the reasons of commits, within the scopes, that contain a word, in normal form."""

    def apply(self, erasure: Erasure) -> PendingErasure:
        """Remove the text from the journal and the ledger; the hash chain still verifies."""

    def list_pending(self) -> list[PendingErasure]:
        """Return the erasures that are not finished, oldest first."""

    def finish(self, cleaned: Collection[int], swap_copies: Collection[str] = ()) -> None:
        """Store at which positions are erasures whose files are clean, and delete these swapped-out bytes by SHA-256.

        Then remove every byte of erased text from free space, logs and indexes: what has clean files is finished.
        """

    def has_fingerprints(self) -> bool:
        """Return whether anything was ever erased."""

    def find_erased(self, texts: Collection[FingerprintText], trust: float) -> dict[FingerprintText, datetime]:
        """Return when those of the texts were last erased that were erased as words of at least this trust."""

    def list_stubs(self, scopes: Sequence[Scope], id_suffix: str = "") -> list[ErasureStub]:
        """Return the stubs of erased atoms, those whose id ends so, oldest erasure first."""
