"""Every channel on one absolute scale: the terms of a relevance before, and without, a closer look."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.recall.candidate import Candidate
from lamina.recall.recipe import ASKS, Recipe


def fuse(candidates: Iterable[Candidate], recipe: Recipe, *, closely: bool) -> None:
    """Put the terms on the candidates; `closely`: token states will be compared too, so words and vectors say less."""
    text, vector = (recipe.text, recipe.vector) if closely else (recipe.first_text, recipe.first_vector)
    for each in candidates:
        if each.match is not None:
            each.terms["text"] = text * each.match.score
        if each.near.cosine:
            each.terms["vector"] = vector * each.near.cosine
        if each.near.asks:
            each.terms["question"] = ASKS
