"""Splitting text into the pieces that become passages: turns, paragraphs or definitions, verbatim."""

from lamina.capture.pieces.piece import PARAGRAPH_LIMIT, TURN_LIMIT, TextPiece, split_paragraphs
from lamina.capture.pieces.text_format import TextFormat, detect_format, split_text

__all__ = [
    "PARAGRAPH_LIMIT",
    "TURN_LIMIT",
    "TextFormat",
    "TextPiece",
    "detect_format",
    "split_paragraphs",
    "split_text",
]
