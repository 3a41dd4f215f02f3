"""What an import brings, one thing at a time, each with a key by which it is known again wherever it lies."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.capture.draft import Draft
from lamina.capture.pieces import Piece
from lamina.capture.redact import redact
from lamina.text.normal import compatible


@dataclass(frozen=True, slots=True)
class Quote:
    """Words a statement rests on, as they were said elsewhere: in which session, by whom and when."""

    session_id: str
    speaker: str | None
    at: datetime | None
    words: str


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """What was said in one conversation; `marks` are the hashes of its beginnings, one a piece.

    `foreign_id` is the atom that held the words elsewhere and `places` where each piece stood in it; `is_read`: what
    was made of them there comes with them.
    """

    title: str
    session_id: str
    source_id: str
    observed_at: datetime | None
    pieces: tuple[Piece, ...]
    marks: tuple[str, ...]
    path: str
    content_hash: str
    origin: Origin = Origin.IMPORT
    told_before: int = 0
    foreign_id: str = ""
    places: tuple[int, ...] = ()
    is_read: bool = False

    @property
    def key(self) -> str:
        return key_of(self.content_hash)

    def after(self, count: int) -> ImportedConversation:
        """The same conversation without its first pieces, which were imported when it was shorter."""
        return replace(self, pieces=self.pieces[count:], places=self.places[count:], told_before=count)

    def without(self, places: Collection[int]) -> ImportedConversation:
        """The same conversation without the pieces that stood in these places."""
        left = [n for n, place in enumerate(self.places) if place not in places]
        return replace(self, pieces=tuple(self.pieces[n] for n in left), places=tuple(self.places[n] for n in left))


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """A note or a file, its words in pieces."""

    title: str
    session_id: str
    source_id: str
    observed_at: datetime | None
    pieces: tuple[Piece, ...]
    path: str
    content_hash: str
    tags: tuple[str, ...] = ()
    origin: Origin = Origin.DOCUMENT

    @property
    def key(self) -> str:
        return key_of(self.content_hash)


@dataclass(frozen=True, slots=True)
class ImportedFact:
    """A statement another memory kept: `constrained` until a person confirms it, or over as it was there.

    `quotes` are the words it rests on, so far as they are known.
    """

    draft: Draft
    status: Status
    foreign_id: str
    replaced_by: str | None
    source_id: str
    path: str
    content_hash: str
    origin: Origin = Origin.IMPORT
    quotes: tuple[Quote, ...] = ()

    @property
    def key(self) -> str:
        return key_of(self.content_hash)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read; the rest goes on."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something left out on purpose."""

    path: str
    reason: str


Item: TypeAlias = ImportedConversation | ImportedDocument | ImportedFact
Step: TypeAlias = Item | Problem | Skipped


def key_of(content_hash: str) -> str:
    """The key of the commit that imports what has this hash."""
    return f"import:{content_hash}"


def hash_of(*parts: str) -> str:
    """By which the same words from the same source are known again; white space and paths do not count."""
    return _digest("", parts)


def marks_of(identity: str, pieces: Sequence[Piece]) -> tuple[str, ...]:
    """A hash for every beginning of a conversation."""
    marks: list[str] = []
    mark = _digest("", [identity])
    for piece in pieces:
        mark = _digest(mark, [piece.speaker or "", piece.text])
        marks.append(mark)
    return tuple(marks)


def _digest(before: str, parts: Iterable[str]) -> str:
    """Not even a hash knows of a secret."""
    words = "\0".join([before, *(" ".join(compatible(redact(part).text).split()) for part in parts)])
    return hashlib.blake2b(words.encode(), digest_size=16).hexdigest()
