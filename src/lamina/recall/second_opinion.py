"""An optional reranker reads the question together with the best candidates."""

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
    """Add the reranker's scores to the terms of the best candidates; nothing is added without one, or if it fails."""
    if reranker is None:
        return
    best = sorted(candidates, key=lambda candidate: (-candidate.relevance, candidate.key))[:READ_AGAIN]
    passages = passages_read(best, view)
    existing = [candidate for candidate in best if candidate.key in passages]
    try:
        scores = (
            reranker.scores(question, [passages[candidate.key][1].text for candidate in existing]) if existing else []
        )
    except ModelError as error:
        logger.warning("no second opinion: %s", wordless(error))
        return
    for candidate, score in zip(existing, scores, strict=True):
        candidate.terms["reranker"] = SECOND_OPINION * score
