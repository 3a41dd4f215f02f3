"""Puts the scores of all channels on one absolute scale, before token states are compared."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.recall.candidate import Candidate
from lamina.recall.scoring_profiles import IS_QUESTION, ScoringProfile


def fuse_channels(candidates: Iterable[Candidate], profile: ScoringProfile, *, compare_tokens: bool) -> None:
    """Set the text, vector and question terms of the candidates. With `compare_tokens` the token states will be
    compared too, so text and vectors count less."""
    text, vector = (profile.text, profile.vector) if compare_tokens else (profile.first_text, profile.first_vector)
    for candidate in candidates:
        if candidate.match is not None:
            candidate.terms["text"] = text * candidate.match.score
        if candidate.near.cosine:
            candidate.terms["vector"] = vector * candidate.near.cosine
        if candidate.near.is_question:
            candidate.terms["question"] = IS_QUESTION
