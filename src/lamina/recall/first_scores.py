"""The score by which a search selects its candidates, before their words are compared: the one formula for every
database, computed from the plain values that the store returns.

`(cosine × first_vector + text score × first_text + terms) × weight of the status`, with the terms of the speaker and of
the time. A sum below 0 is not weighted, because less weight would raise it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import TypeVar

import numpy as np

from lamina.atom.passage import is_assistant
from lamina.atom.status import Status
from lamina.recall.candidate_scoring import Candidate
from lamina.recall.recall_query import RecallQuery
from lamina.recall.scoring_profiles import NAMED_SPEAKER, SAID_AT_TIME, SAID_BY_ASSISTANT, TELLS_OF_TIME, ScoringProfile
from lamina.store.encodings import PassageKey
from lamina.store.passages import NearPassage, Partition, TextMatch
from lamina.text.time_windows import TimeWindows

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
