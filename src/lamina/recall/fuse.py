"""Every channel on one absolute scale: the terms of a relevance before, and without, a closer look."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.recall.candidate import Candidate
from lamina.recall.recipe import ASKS, Recipe


def fuse(candidates: Iterable[Candidate], recipe: Recipe, *, closely: bool) -> None:
    """Put the terms on the candidates; `closely`: token states will be compared too, so words and vectors say less."""
    text, vector = (recipe.text, recipe.vector) if closely else (recipe.first_text, recipe.first_vector)
    for candidate in candidates:
        if candidate.match is not None:
            candidate.terms["text"] = text * candidate.match.score
        if candidate.near.cosine:
            candidate.terms["vector"] = vector * candidate.near.cosine
        if candidate.near.asks:
            candidate.terms["question"] = ASKS
