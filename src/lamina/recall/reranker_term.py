"""An optional reranker reads the question together with the best candidates."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from lamina.logs import summarise_error
from lamina.models.errors import ModelError
from lamina.models.reranker import Reranker
from lamina.recall.candidate import Candidate, read_passages
from lamina.recall.recall_view import RecallView
from lamina.recall.scoring_profiles import RERANKED_COUNT, RERANKER_SHARE

logger = logging.getLogger(__name__)


def add_reranker_term(
    candidates: Sequence[Candidate], question: str, reranker: Reranker | None, view: RecallView
) -> None:
    """Add the reranker's scores to the terms of the best candidates; nothing is added without one, or if it fails."""
    if reranker is None:
        return
    best = sorted(candidates, key=lambda candidate: (-candidate.relevance, candidate.key))[:RERANKED_COUNT]
    passages = read_passages(best, view)
    existing = [candidate for candidate in best if candidate.key in passages]
    try:
        scores = (
            reranker.scores(question, [passages[candidate.key][1].text for candidate in existing]) if existing else []
        )
    except ModelError as error:
        logger.warning("no second opinion: %s", summarise_error(error))
        return
    for candidate, score in zip(existing, scores, strict=True):
        candidate.terms["reranker"] = RERANKER_SHARE * score
