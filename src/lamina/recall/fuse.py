"""Puts the scores of all channels on one absolute scale, before token states are compared."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.recall.candidate import Candidate
from lamina.recall.recipe import ASKS, Recipe


def fuse(candidates: Iterable[Candidate], recipe: Recipe, *, closely: bool) -> None:
    """Set the text, vector and question terms of the candidates. With `compare_tokens` the token states will be
    compared too, so text and vectors count less."""
    text, vector = (recipe.text, recipe.vector) if closely else (recipe.first_text, recipe.first_vector)
    for candidate in candidates:
        if candidate.match is not None:
            candidate.terms["text"] = text * candidate.match.score
        if candidate.near.cosine:
            candidate.terms["vector"] = vector * candidate.near.cosine
        if candidate.near.asks:
            candidate.terms["question"] = ASKS
