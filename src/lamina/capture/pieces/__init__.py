"""Splitting text into the pieces that become passages: turns, paragraphs or definitions, verbatim."""

from lamina.capture.pieces.form import Form, form_of, pieces_of
from lamina.capture.pieces.piece import PARAGRAPH_LIMIT, TURN_LIMIT, Piece, paragraphs

__all__ = ["PARAGRAPH_LIMIT", "TURN_LIMIT", "Form", "Piece", "form_of", "paragraphs", "pieces_of"]
