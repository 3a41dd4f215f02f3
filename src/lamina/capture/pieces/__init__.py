"""Text cut into the pieces that become passages: a turn, a paragraph or a definition each, word for word."""

from lamina.capture.pieces.form import Form, form_of, pieces_of
from lamina.capture.pieces.piece import PARAGRAPH_LIMIT, TURN_LIMIT, Piece, paragraphs

__all__ = ["PARAGRAPH_LIMIT", "TURN_LIMIT", "Form", "Piece", "form_of", "paragraphs", "pieces_of"]
