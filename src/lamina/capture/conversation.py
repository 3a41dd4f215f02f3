"""Words on their way in: turns or pieces of one session.

What recall itself had put among them is taken out before anything else, then their secrets.
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
    """Words to keep: turns or pieces of one session, and what was taken out of them: secrets, and recalled context."""

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
    """The pieces of a text or a list of turns, without their secrets. Without a session the words name one.

    A text is cut as it is written: a transcript into turns, markdown by its headings, code by its definitions; the
    `name` of the file it stood in helps to tell.
    """
    pieces, recalled = _pieces(words, at, name)
    if not pieces:
        beyond = " besides what recall had told" if recalled else ""
        raise InvalidInput(f"there are no words to capture{beyond}")
    clean = _Cleaner(personal)
    kept = tuple(clean.piece(piece) for piece in pieces)
    session, source = clean.name(session_id or ""), clean.name(source_id or "")
    labels = tuple(dict.fromkeys(clean.label(tag) for tag in tags))
    return Conversation(
        kept, session or _name(kept, at), source or None, at, agents, tuple(clean.taken), tags=labels, recalled=recalled
    )


def _pieces(words: str | Sequence[Turn] | Sequence[Piece], at: datetime, name: str | None) -> tuple[list[Piece], int]:
    """The pieces, and how many stretches of recalled context stood in them."""
    if isinstance(words, str):
        own = without_recalled(words)
        return pieces_of(own.text, form_of(own.text, name), on=at.date()), own.taken
    pieces, recalled = list[Piece](), 0
    for word in words:
        piece = word if isinstance(word, Piece) else Piece(word.content, word.name, word.at or at)
        own = without_recalled(piece.text)
        recalled += own.taken
        text = own.text if isinstance(word, Piece) else own.text.strip("\n")
        if text.strip() or not own.taken:
            pieces.append(replace(piece, text=text))
    return pieces, recalled


class _Cleaner:
    """Takes secrets out, and remembers what they were called. The same heading stands above many pieces."""

    def __init__(self, personal: bool) -> None:
        self._personal = personal
        self._labels: dict[str, str] = {"": ""}
        self.taken: list[str] = []

    def piece(self, piece: Piece) -> Piece:
        speaker = self.label(piece.speaker) if piece.speaker else None
        return Piece(self._clean(piece.text), speaker, piece.at, self.label(piece.context), self.label(piece.page))

    def label(self, text: str) -> str:
        if text not in self._labels:
            self._labels[text] = self._clean(text)
        return self._labels[text]

    def name(self, text: str) -> str:
        """What a session or source goes by. Numbers in it tell one from another, so they are nobody's account."""
        return self._clean(text, personal=False)

    def _clean(self, text: str, personal: bool | None = None) -> str:
        clean = redact(text, personal=self._personal if personal is None else personal)
        self.taken += [secret.name for secret in clean.found]
        return clean.text


def _name(pieces: Sequence[Piece], at: datetime) -> str:
    words = "\n\n".join(piece.text for piece in pieces)
    return f"{at:%Y%m%d}-{hashlib.blake2b(words.encode(), digest_size=4).hexdigest()}"
