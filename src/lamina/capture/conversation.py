"""The input of a capture: turns or pieces of one session.

Recalled context that an agent sends back is removed first, then secrets are replaced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.capture.draft import Turn
from lamina.capture.fence import without_recalled
from lamina.capture.pieces import Piece, form_of, pieces_of
from lamina.capture.redact import redact
from lamina.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Conversation:
    """The text to store: pieces of one session.

    Also the names of redacted secrets and the number of removed blocks of recalled context.
    """

    pieces: tuple[Piece, ...]
    session_id: str
    source_id: str | None
    observed_at: datetime
    agents: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    recalled: int = 0


def conversation(
    words: str | Sequence[Turn] | Sequence[Piece],
    session_id: str | None,
    source_id: str | None,
    at: datetime,
    agents: tuple[str, ...] = (),
    *,
    name: str | None = None,
    tags: Sequence[str] = (),
    personal: bool = False,
) -> Conversation:
    """Return the redacted pieces of a text or of a list of turns; InvalidInput if there is no text.

    A text is split by its format: a transcript into turns, markdown at headings, code at definitions. The `file_name`
    helps to detect the format. Without a `session_id`, one is derived from the words.
    """
    pieces, recalled = _pieces(words, at, name)
    if not pieces:
        suffix = " besides recalled context" if recalled else ""
        raise InvalidInput(f"there are no words to capture{suffix}")
    redactor = _Cleaner(personal)
    redacted_pieces = tuple(redactor.piece(piece) for piece in pieces)
    session_name, source_name = redactor.name(session_id or ""), redactor.name(source_id or "")
    redacted_tags = tuple(dict.fromkeys(redactor.label(tag) for tag in tags))
    return Conversation(
        redacted_pieces,
        session_name or _name(redacted_pieces, at),
        source_name or None,
        at,
        agents,
        tuple(redactor.taken),
        tags=redacted_tags,
        recalled=recalled,
    )


def _pieces(words: str | Sequence[Turn] | Sequence[Piece], at: datetime, name: str | None) -> tuple[list[Piece], int]:
    """Return the pieces, and the number of blocks of recalled context that were removed from them."""
    if isinstance(words, str):
        cleaned = without_recalled(words)
        return pieces_of(cleaned.text, form_of(cleaned.text, name), on=at.date()), cleaned.taken
    pieces, removed_blocks = list[Piece](), 0
    for part in words:
        piece = part if isinstance(part, Piece) else Piece(part.content, part.name, part.at or at)
        cleaned = without_recalled(piece.text)
        removed_blocks += cleaned.taken
        text = cleaned.text if isinstance(part, Piece) else cleaned.text.strip("\n")
        if text.strip() or not cleaned.taken:
            pieces.append(replace(piece, text=text))
    return pieces, removed_blocks


class _Cleaner:
    """Redacts pieces and labels and collects the names of the secrets.

    Labels are cached: many pieces share a heading.
    """

    def __init__(self, personal: bool) -> None:
        self._personal = personal
        self._labels: dict[str, str] = {"": ""}
        self.taken: list[str] = []

    def piece(self, piece: Piece) -> Piece:
        """Return a piece with its text and labels redacted."""
        speaker = self.label(piece.speaker) if piece.speaker else None
        return Piece(self._clean(piece.text), speaker, piece.at, self.label(piece.context), self.label(piece.page))

    def label(self, text: str) -> str:
        """Return a speaker, tag or heading redacted."""
        if text not in self._labels:
            self._labels[text] = self._clean(text)
        return self._labels[text]

    def name(self, text: str) -> str:
        """Redact a session or source id. Personal numbers stay, because digits tell one id from another."""
        return self._clean(text, personal=False)

    def _clean(self, text: str, personal: bool | None = None) -> str:
        redacted = redact(text, personal=self._personal if personal is None else personal)
        self.taken += [secret.name for secret in redacted.found]
        return redacted.text


def _name(pieces: Sequence[Piece], at: datetime) -> str:
    words = "\n\n".join(piece.text for piece in pieces)
    return f"{at:%Y%m%d}-{hashlib.blake2b(words.encode(), digest_size=4).hexdigest()}"
