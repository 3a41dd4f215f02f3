"""The scores of candidates: the first score, by which a search selects them, the terms that add up to their relevance,
and the weights that the relevance is multiplied by.

The first score is `(cosine × first_vector + text score × first_text + terms) × weight of the status`, with the terms of
the speaker and of the time, computed from the plain values of any store. A sum below 0 is not weighted, because less
weight would raise it.

Weights of ageing are as the last dream computed them; an atom that no dream has looked at has neutral weights.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nsmallest
from math import prod
from typing import TypeVar

import numpy as np

from lamina.atom.atom import Signals
from lamina.atom.kinds import Layer
from lamina.atom.passage import is_assistant
from lamina.atom.provenance import Origin, is_of_agent, statements_need_review, trust_of
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.lifecycle.standing import STATE_WEIGHTS
from lamina.logs import summarise_error
from lamina.models.errors import ModelError
from lamina.models.reranker import Reranker
from lamina.recall.recall_view import RecallView
from lamina.recall.request_and_question import RecallQuery
from lamina.recall.scoring_profiles import (
    IS_QUESTION,
    LEARNT_BY_AGENT,
    NAMED_SPEAKER,
    RERANKED_COUNT,
    RERANKER_SHARE,
    SAID_AT_TIME,
    SAID_BY_ASSISTANT,
    TELLS_OF_TIME,
    ScoringProfile,
)
from lamina.store.base import Edge
from lamina.store.encodings import PassageKey
from lamina.store.passages import NearPassage, Partition, TextMatch
from lamina.store.signals_and_ageing import AgeingState
from lamina.text.time_windows import TimeWindows

logger = logging.getLogger(__name__)

MIN_WEIGHT, MAX_WEIGHT = 0.5, 1.5
NOT_SEARCHED, CHALLENGED = 0.9, 0.88
"""For statuses that ordinary recall does not search, if they were requested."""
TRUSTED_MINIMUM, UNTRUSTED_MINIMUM = 0.9, 0.75
"""The weight of a passage from an origin without any trust, for origins whose statements count immediately and for
those whose statements are held for review."""
NO_RETENTION, NO_IMPORTANCE, NO_RECENCY = 0.94, 0.97, 0.97
"""The weights of a memory with no retention left, of one without importance, and of one that is very old for its
kind."""
FULL_RETENTION, FULL_IMPORTANCE, FULL_RECENCY = 1.0, 1.03, 1.0
"""The weights of a memory with full retention, of one with the highest importance, and of one from this moment."""
LAYER_WEIGHTS: Mapping[Layer, float] = {
    Layer.WORKING: 0.9,
    Layer.EPISODIC: 1.0,
    Layer.CODEBASE: 1.0,
    Layer.SEMANTIC: 1.1,
    Layer.PROCEDURAL: 1.1,
    Layer.PROFILE: 1.1,
}
LIFECYCLE_WEIGHTS: Mapping[str, float] = {state.value: weight for state, weight in STATE_WEIGHTS.items()}

Weights = tuple[tuple[str, float], ...]
"""Each weight with its name."""

NEUTRAL_WEIGHTS: Weights = (("retention", 1.0), ("importance", 1.0), ("recency", 1.0), ("lifecycle", 1.0))
"""For atoms that no dream has looked at."""
AGENT_TERM = "agent"
"""The name of the term for what the calling agent learnt; it changes the order and makes nothing an answer."""
_DIGITS = 2
"""More digits would make no difference, and would defeat the cache."""


@dataclass(slots=True)
class Candidate:
    """A passage that may answer: its position in the store, its text match, and the terms added to its relevance so
    far. `first_score`: the score by which the search selected it."""

    key: PassageKey
    near: NearPassage
    match: TextMatch | None = None
    terms: dict[str, float] = field(default_factory=dict)
    first_score: float = 0.0
    links: tuple[Edge, ...] = ()

    @property
    def relevance(self) -> float:
        """The sum of the terms, at least 0."""
        return max(0.0, sum(self.terms.values()))


def add_channel_terms(candidates: Iterable[Candidate], profile: ScoringProfile, *, compare_tokens: bool) -> None:
    """Add the text, vector and question terms to the candidates, in place.

    With `compare_tokens` the terms of comparing token states are added later, so text and vectors count less.
    """
    text, vector = (profile.text, profile.vector) if compare_tokens else (profile.first_text, profile.first_vector)
    for candidate in candidates:
        if candidate.match is not None:
            candidate.terms["text"] = text * candidate.match.score
        if candidate.near.cosine:
            candidate.terms["vector"] = vector * candidate.near.cosine
        if candidate.near.is_question:
            candidate.terms["question"] = IS_QUESTION


def add_agent_terms(candidates: Sequence[Candidate], agent: str, profile: ScoringProfile, view: RecallView) -> None:
    """Add a term to the candidates that the calling agent learnt, in place, so that it finds them before those of
    others."""
    atoms = view.atoms(candidate.key[0] for candidate in candidates)
    learnt = {atom.id for atom in atoms.values() if is_of_agent(agent, atom.scope, atom.agents)}
    if len(learnt) < len(atoms):
        for candidate in candidates:
            if candidate.key[0] in learnt:
                candidate.terms[AGENT_TERM] = LEARNT_BY_AGENT * profile.prior


def add_reranker_term(
    candidates: Sequence[Candidate], question: str, reranker: Reranker | None, view: RecallView
) -> None:
    """Add the reranker's scores to the terms of the best candidates; nothing is added without one, or if it fails."""
    if reranker is None:
        return
    best = sorted(candidates, key=lambda candidate: (-candidate.relevance, candidate.key))[:RERANKED_COUNT]
    passages = view.passages(candidate.key for candidate in best)
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


def compute_weights(near: NearPassage, signals: Signals, ageing: AgeingState | None = None) -> Weights:
    """Return each weight by name, between a half and one and a half: a memory is ranked lower, never hidden."""
    fixed = _fixed_weights(near.status, near.layer, near.origin, signals.quality_score)
    if ageing is None:
        return fixed + NEUTRAL_WEIGHTS
    return fixed + _ageing_weights(
        round(ageing.retention, _DIGITS),
        round(ageing.importance, _DIGITS),
        round(ageing.recency, _DIGITS),
        ageing.state if near.status is Status.ACTIVE else "",
    )


@lru_cache(maxsize=4096)
def multiply_weights(weights: Weights) -> float:
    """Return the product of the weights."""
    return prod(value for _, value in weights)


@lru_cache(maxsize=1024)
def _fixed_weights(status: Status, layer: Layer, origin: Origin, quality: float) -> Weights:
    return _bound(
        {
            "status": status_weight(status),
            "layer": LAYER_WEIGHTS[layer],
            "trust": trust_weight(origin),
            "quality": quality**0.5,
        }
    )


@lru_cache(maxsize=4096)
def _ageing_weights(retention: float, importance: float, recency: float, state: str) -> Weights:
    """Return the weights of ageing. No state is given if the status says the same, so that a dispute or an archival
    counts once."""
    return _bound(
        {
            "retention": NO_RETENTION + (FULL_RETENTION - NO_RETENTION) * retention,
            "importance": NO_IMPORTANCE + (FULL_IMPORTANCE - NO_IMPORTANCE) * importance,
            "recency": NO_RECENCY + (FULL_RECENCY - NO_RECENCY) * recency,
            "lifecycle": LIFECYCLE_WEIGHTS.get(state, 1.0),
        }
    )


def _bound(weights: Mapping[str, float]) -> Weights:
    return tuple((name, min(MAX_WEIGHT, max(MIN_WEIGHT, value))) for name, value in weights.items())


def trust_weight(origin: Origin) -> float:
    """Return the weight of an origin: nearly equal for origins whose statements count immediately, lower for the
    others."""
    minimum = UNTRUSTED_MINIMUM if statements_need_review(origin) else TRUSTED_MINIMUM
    return minimum + (1.0 - minimum) * trust_of(origin)


def status_weight(status: Status) -> float:
    """Return the weight of a status."""
    return CHALLENGED if status is Status.CHALLENGED else RECALL_WEIGHT.get(status, NOT_SEARCHED)


Member = TypeVar("Member", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ScoreTerms:
    """Numbers added to a passage's score: by speaker, by when it was said, and by the time it mentions.

    `window`: spans of whole days, and days that return every year.
    """

    speakers: Mapping[str, float]
    window: TimeWindows | None = None
    in_window: float = 0.0
    mentions_window: float = 0.0

    def of(self, passages: Sequence[NearPassage]) -> list[dict[str, float]]:
        """Return the terms of each passage, by name."""
        said = self._in_window([passage.at_ms for passage in passages])
        mentioned = self._in_window([passage.mentioned_ms for passage in passages])
        terms = list[dict[str, float]]()
        for passage, is_said, is_mentioned in zip(passages, said, mentioned, strict=True):
            speaker = self.speakers.get(passage.speaker, 0.0)
            passage_terms = {"speaker": speaker} if speaker else {}
            if is_said or is_mentioned:
                passage_terms["time"] = self.in_window if is_said else self.mentions_window
            terms.append(passage_terms)
        return terms

    def _in_window(self, times_ms: Sequence[int | None]) -> Sequence[bool]:
        if self.window is None:
            return [False] * len(times_ms)
        known = [number for number, time_ms in enumerate(times_ms) if time_ms is not None]
        inside = np.zeros(len(times_ms), dtype=np.bool_)
        inside[known] = self.window.contains(np.array([times_ms[number] for number in known], dtype=np.int64))
        return inside.tolist()


def compute_score_terms(
    query: RecallQuery, speakers: Iterable[str], assistant_prior: float, prior: float
) -> ScoreTerms:
    """Return what a passage gains or loses for a question by its speaker and time."""
    amounts = {
        name: SAID_BY_ASSISTANT if query.asks_assistant else assistant_prior for name in speakers if is_assistant(name)
    }
    amounts |= dict.fromkeys(query.speakers, NAMED_SPEAKER)
    scaled = {speaker: prior * amount for speaker, amount in amounts.items()}
    return ScoreTerms(
        scaled, query.time_windows if query.time_windows else None, prior * SAID_AT_TIME, prior * TELLS_OF_TIME
    )


@dataclass(frozen=True, slots=True)
class FirstScores:
    """Scores the passages of one search. `status_weights`: of every status that the search allows."""

    profile: ScoringProfile
    terms: ScoreTerms
    status_weights: Mapping[Status, float]

    @property
    def partition(self) -> Partition:
        """Return a division of passages such that within a part the order by score is the order by cosine."""
        return Partition(
            _group_equal(self.status_weights, self.status_weights.__getitem__),
            _group_equal(
                [speaker for speaker, amount in self.terms.speakers.items() if amount], self.terms.speakers.__getitem__
            ),
            self.terms.window,
        )

    def to_candidates(
        self,
        passages: Sequence[NearPassage],
        matches: Mapping[PassageKey, TextMatch],
        text_scores: Mapping[PassageKey, float],
    ) -> list[Candidate]:
        """Return a candidate for each passage, with its first score and the terms that the score contains."""
        candidates = []
        for passage, terms in zip(passages, self.terms.of(passages), strict=True):
            score = (
                passage.cosine * self.profile.first_vector
                + text_scores.get(passage.key, 0.0) * self.profile.first_text
                + sum(terms.values())
            )
            weight = self.status_weights.get(passage.status, 1.0) if score > 0 else 1.0
            candidates.append(Candidate(passage.key, passage, matches.get(passage.key), terms, score * weight))
        return candidates


def select_best(candidates: Collection[Candidate], limit: int) -> list[Candidate]:
    """Return the candidates with the best first scores, and all that tie at the cut; if those are too many, the newest
    of them."""
    if len(candidates) <= limit:
        return list(candidates)
    cut = sorted((candidate.first_score for candidate in candidates), reverse=True)[limit - 1]
    best = [candidate for candidate in candidates if candidate.first_score > cut]
    tied = [candidate for candidate in candidates if candidate.first_score == cut]
    if len(best) + len(tied) > 2 * limit:
        tied = nsmallest(limit - len(best), tied, key=lambda item: (-item.near.recorded_ms, item.key))
    return best + tied


def _group_equal(members: Iterable[Member], value_of: Callable[[Member], float]) -> tuple[frozenset[Member], ...]:
    """Return the members in sets of equal value."""
    groups: dict[float, set[Member]] = {}
    for member in members:
        groups.setdefault(value_of(member), set()).add(member)
    return tuple(frozenset(group) for group in groups.values())
