"""The input of a capture: turns or pieces of one session.

Recalled context that an agent sends back is removed first, then secrets are replaced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.capture.caller_input import InputTurn
from lamina.capture.pieces import TextPiece, detect_format, split_text
from lamina.capture.recalled_context import remove_recalled_context
from lamina.capture.redact import redact
from lamina.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Conversation:
    """The text to store: pieces of one session.

    Also the names of redacted secrets and the number of removed blocks of recalled context.
    """

    pieces: tuple[TextPiece, ...]
    session_id: str
    source_id: str | None
    observed_at: datetime
    agents: tuple[str, ...] = ()
    redacted_secrets: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    recalled_blocks: int = 0


def parse_conversation(
    words: str | Sequence[InputTurn] | Sequence[TextPiece],
    session_id: str | None,
    source_id: str | None,
    observed_at: datetime,
    agents: tuple[str, ...] = (),
    *,
    file_name: str | None = None,
    tags: Sequence[str] = (),
    redact_personal: bool = False,
) -> Conversation:
    """Return the redacted pieces of a text or of a list of turns; InvalidInput if there is no text.

    A text is split by its format: a transcript into turns, markdown at headings, code at definitions. The `file_name`
    helps to detect the format. Without a `session_id`, one is derived from the words.
    """
    pieces, recalled = _split_words(words, observed_at, file_name)
    if not pieces:
        suffix = " besides recalled context" if recalled else ""
        raise InvalidInput(f"there are no words to capture{suffix}")
    redactor = _PieceRedactor(redact_personal)
    redacted_pieces = tuple(redactor.redact_piece(piece) for piece in pieces)
    session_name, source_name = redactor.redact_id(session_id or ""), redactor.redact_id(source_id or "")
    redacted_tags = tuple(dict.fromkeys(redactor.redact_label(tag) for tag in tags))
    return Conversation(
        redacted_pieces,
        session_name or _make_session_id(redacted_pieces, observed_at),
        source_name or None,
        observed_at,
        agents,
        tuple(redactor.secret_names),
        tags=redacted_tags,
        recalled_blocks=recalled,
    )


def _split_words(
    words: str | Sequence[InputTurn] | Sequence[TextPiece], observed_at: datetime, file_name: str | None
) -> tuple[list[TextPiece], int]:
    """Return the pieces, and the number of blocks of recalled context that were removed from them."""
    if isinstance(words, str):
        cleaned = remove_recalled_context(words)
        return split_text(
            cleaned.text, detect_format(cleaned.text, file_name), day=observed_at.date()
        ), cleaned.removed_blocks
    pieces, removed_blocks = list[TextPiece](), 0
    for part in words:
        piece = part if isinstance(part, TextPiece) else TextPiece(part.content, part.name, part.at or observed_at)
        cleaned = remove_recalled_context(piece.text)
        removed_blocks += cleaned.removed_blocks
        text = cleaned.text if isinstance(part, TextPiece) else cleaned.text.strip("\n")
        if text.strip() or not cleaned.removed_blocks:
            pieces.append(replace(piece, text=text))
    return pieces, removed_blocks


class _PieceRedactor:
    """Redacts pieces and labels and collects the names of the secrets.

    Labels are cached: many pieces share a heading.
    """

    def __init__(self, redact_personal: bool) -> None:
        self._personal = redact_personal
        self._labels: dict[str, str] = {"": ""}
        self.secret_names: list[str] = []

    def redact_piece(self, piece: TextPiece) -> TextPiece:
        """Return a piece with its text and labels redacted."""
        speaker = self.redact_label(piece.speaker) if piece.speaker else None
        return TextPiece(
            self._redact(piece.text), speaker, piece.at, self.redact_label(piece.context), self.redact_label(piece.page)
        )

    def redact_label(self, text: str) -> str:
        """Return a speaker, tag or heading redacted."""
        if text not in self._labels:
            self._labels[text] = self._redact(text)
        return self._labels[text]

    def redact_id(self, text: str) -> str:
        """Redact a session or source id. Personal numbers stay, because digits tell one id from another."""
        return self._redact(text, redact_personal=False)

    def _redact(self, text: str, redact_personal: bool | None = None) -> str:
        redacted = redact(text, personal=self._personal if redact_personal is None else redact_personal)
        self.secret_names += [secret.name for secret in redacted.secrets]
        return redacted.text


def _make_session_id(pieces: Sequence[TextPiece], at: datetime) -> str:
    words = "\n\n".join(piece.text for piece in pieces)
    return f"{at:%Y%m%d}-{hashlib.blake2b(words.encode(), digest_size=4).hexdigest()}"
