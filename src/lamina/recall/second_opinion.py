"""An optional second opinion: a model that reads question and passage together looks at the best few."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from lamina.logs import wordless
from lamina.models.errors import ModelError
from lamina.models.reranker import Reranker
from lamina.recall.candidate import Candidate, passages_read
from lamina.recall.recipe import READ_AGAIN, SECOND_OPINION
from lamina.recall.view import View

logger = logging.getLogger(__name__)


def second_opinion(candidates: Sequence[Candidate], question: str, reranker: Reranker | None, view: View) -> None:
    """Add what a reranker says to the terms of the best; without one, or if it fails, nothing is added."""
    if reranker is None:
        return
    best = sorted(candidates, key=lambda each: (-each.relevance, each.key))[:READ_AGAIN]
    read = passages_read(best, view)
    there = [candidate for candidate in best if candidate.key in read]
    try:
        scores = reranker.scores(question, [read[each.key][1].text for each in there]) if there else []
    except ModelError as error:
        logger.warning("no second opinion: %s", wordless(error))
        return
    for each, score in zip(there, scores, strict=True):
        each.terms["reranker"] = SECOND_OPINION * score
