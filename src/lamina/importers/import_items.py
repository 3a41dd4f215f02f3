"""Define the items of an import, each with an idempotency key that does not depend on where its file is."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from lamina.atom.atom import RelationName, Signals
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.capture.caller_input import Draft
from lamina.capture.pieces import TextPiece
from lamina.capture.redact import redact
from lamina.text.analyser import to_nfkc

IMPORTED_FROM = "imported_from"
"""The metadata key for the memory and the id a statement comes from, if its `source_id` is the one it had there."""


@dataclass(frozen=True, slots=True)
class EvidenceQuote:
    """The words a statement rests on in another memory: in which session, by whom and when they were said."""

    session_id: str
    speaker: str | None
    at: datetime | None
    words: str


class _KeyedItem:
    """An item with a content hash, by which it is recognised when it is imported again."""

    __slots__ = ()
    content_hash: str

    @property
    def key(self) -> str:
        """Return the idempotency key of the commit that imports the item."""
        return idempotency_key(self.content_hash)


@dataclass(frozen=True, slots=True)
class ImportedConversation(_KeyedItem):
    """One conversation; `prefix_hashes` has the hash of each of its beginnings, one for each piece.

    `foreign_id` is the atom that held the words in the other memory and `passage_numbers` the passage of each piece;
    `has_statements` means that their statements are imported with them.
    """

    title: str
    session_id: str
    source_id: str
    observed_at: datetime | None
    pieces: tuple[TextPiece, ...]
    prefix_hashes: tuple[str, ...]
    path: str
    content_hash: str
    origin: Origin = Origin.IMPORT
    foreign_id: str = ""
    passage_numbers: tuple[int, ...] = ()
    has_statements: bool = False

    def after(self, count: int) -> ImportedConversation:
        """Return the conversation without its first pieces, which were imported when it was shorter."""
        return replace(self, pieces=self.pieces[count:], passage_numbers=self.passage_numbers[count:])

    def without_passages(self, passage_numbers: Collection[int]) -> ImportedConversation:
        """Return the conversation without the pieces of these passages."""
        remaining = [n for n, place in enumerate(self.passage_numbers) if place not in passage_numbers]
        return replace(
            self,
            pieces=tuple(self.pieces[n] for n in remaining),
            passage_numbers=tuple(self.passage_numbers[n] for n in remaining),
        )


@dataclass(frozen=True, slots=True)
class ImportedDocument(_KeyedItem):
    """A note or file, split into pieces."""

    title: str
    session_id: str
    source_id: str
    observed_at: datetime | None
    pieces: tuple[TextPiece, ...]
    path: str
    content_hash: str
    tags: tuple[str, ...] = ()
    origin: Origin = Origin.DOCUMENT


@dataclass(frozen=True, slots=True)
class ImportedFact(_KeyedItem):
    """A statement of another memory: `constrained` until a person confirms it, or ended as it was there.

    `quotes` are the words it rests on, as far as they are known; `replaces` the ids of statements that it superseded
    there, `sources` those it was made of. `labels` are fields of the atom that a draft does not have, `left_out` fields
    that are not imported. `keeps_retracted`: it is written even if it was retracted there and rests on no words.
    `note` is added to the reason of its commit. `has_faded`: it was hidden there by its age, not on request.
    """

    draft: Draft
    status: Status
    foreign_id: str
    replaced_by: str | None
    source_id: str
    path: str
    content_hash: str
    origin: Origin = Origin.IMPORT
    quotes: tuple[EvidenceQuote, ...] = ()
    signals: Signals = field(default_factory=Signals)
    labels: Mapping[str, str] = field(default_factory=dict)
    replaces: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    run_id: str | None = None
    sources: tuple[str, ...] = ()
    keeps_retracted: bool = False
    note: str = ""
    has_faded: bool = False


@dataclass(frozen=True, slots=True)
class ImportedLink:
    """A link between two memories, by their ids in the other memory."""

    source: str
    name: RelationName
    target: str
    confidence: float = 1.0
    last_reinforced_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ImportedLinks(_KeyedItem):
    """All links between the memories of a source; written after them."""

    links: tuple[ImportedLink, ...]
    path: str
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedBox(_KeyedItem):
    """A sealed box: its topics, and its members by their ids in the other memory; written after them."""

    foreign_id: str
    topics: tuple[str, ...]
    members: tuple[str, ...]
    trace_id: str | None
    session_id: str | None
    observed_at: datetime | None
    metadata: Mapping[str, str]
    path: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """Something that could not be read; the rest of the import continues."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """Something that is not imported, and why."""

    path: str
    reason: str


ImportedItem: TypeAlias = ImportedConversation | ImportedDocument | ImportedFact | ImportedBox | ImportedLinks
ImportStep: TypeAlias = ImportedItem | ImportProblem | SkippedItem


def idempotency_key(content_hash: str) -> str:
    """Return the idempotency key of the commit that imports the item with this hash."""
    return f"import:{content_hash}"


def content_hash_of(*parts: str) -> str:
    """Return a hash of an item's text and source; white space and paths do not change it."""
    return _digest("", parts)


def prefix_hashes(identity: str, pieces: Sequence[TextPiece]) -> tuple[str, ...]:
    """Return a hash for every beginning of a conversation."""
    marks: list[str] = []
    mark = _digest("", [identity])
    for piece in pieces:
        mark = _digest(mark, [piece.speaker or "", piece.text])
        marks.append(mark)
    return tuple(marks)


def _digest(before: str, parts: Iterable[str]) -> str:
    """Return a hash of redacted, normalised text, so that not even the hash depends on a secret."""
    words = "\0".join([before, *(" ".join(to_nfkc(redact(part).text).split()) for part in parts)])
    return hashlib.blake2b(words.encode(), digest_size=16).hexdigest()
