"""The search channels: every passage that text, vectors, names, times or links lead to, with the score of each
channel."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from lamina.atom.kinds import MemoryType
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.recall.candidate import Candidate
from lamina.recall.graph_walk import walk_graph
from lamina.recall.hit_weights import status_weight
from lamina.recall.model_selection import SelectedModels
from lamina.recall.name_lookup import find_named_atoms
from lamina.recall.recall_query import QuestionShape, RecallQuery
from lamina.recall.scoring_profiles import (
    GRAPH_NEARNESS,
    NAMED_SPEAKER,
    NEIGHBOURS,
    POOL,
    SAID_AT_TIME,
    SAID_BY_ASSISTANT,
    STATES_A_TIME,
    TELLS_OF_TIME,
    TEXT_POOL,
)
from lamina.store.base import Store, TextMatch, TextQuery
from lamina.store.encodings import NearPassage, PassageKey, ScoreTerms, VectorQuery
from lamina.text.speaker_roles import is_assistant
from lamina.vectors.levels import to_query_vector

_NO_VECTOR = to_query_vector(np.zeros(1, dtype=np.float32))


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFilter:
    """What may answer: scopes, statuses, memory types, and when it must be valid.

    `true_at` or `known_by` replace `valid_at`: what was valid at that time, superseded since or not; what existed by
    that time.
    """

    scopes: tuple[Scope, ...]
    statuses: frozenset[Status]
    memory_types: frozenset[MemoryType]
    valid_at: datetime
    true_at: datetime | None = None
    known_by: datetime | None = None


class CandidateSearch:
    """The candidate search of one question."""

    def __init__(
        self,
        query: RecallQuery,
        candidate_filter: CandidateFilter,
        models: SelectedModels,
        store: Store,
        score_terms: ScoreTerms,
    ) -> None:
        self._question, self._filter, self._models, self._store, self._score_terms = (
            query,
            candidate_filter,
            models,
            store,
            score_terms,
        )
        self._vector = (
            to_query_vector(models.main.encode_question(query.text_without_names).vector)
            if models.main is not None
            else _NO_VECTOR
        )
        self.pool = POOL
        self._matches = self._search_current()
        self.past_texts = self._search_past()

    def widen(self, factor: int) -> None:
        """Search again with a pool this many times as large, because some of the results did not count."""
        self.pool *= factor
        self._matches = self._search_current()
        self.past_texts = self._search_past()

    def find_candidates(self) -> list[Candidate]:
        """Return the best passages of all channels, their neighbours, and facts that are linked to them."""
        matched = {token for match in self._matches.values() for token, _ in match.token_scores}
        unmatched = [term.word for term in self._question.terms if term.token not in matched]
        exact = find_named_atoms(
            self._question.text, self._filter.scopes, self._filter.statuses, self._store, unmatched
        )
        named_keys = [(atom_id, 1) for atom_id in exact]
        neighbours = NEIGHBOURS if self._models.main is not None else 0
        candidates = [
            self._make_candidate(passage) for passage in self._find_nearest(self.pool, neighbours, named_keys)
        ]
        for candidate in candidates:
            if candidate.key[0] in exact:
                name, amount = exact[candidate.key[0]]
                candidate.terms[name] = amount * self._models.profile.prior
        graph_walk = walk_graph(candidates, self._filter.scopes, self._filter.statuses, self._store)
        if not graph_walk.nearness:
            return candidates
        linked_keys = [
            (atom_id, 1) for atom_id in graph_walk.select_new({candidate.key[0] for candidate in candidates})
        ]
        candidates += [self._make_candidate(passage) for passage in self._find_nearest(0, 0, linked_keys)]
        for candidate in candidates:
            if candidate.key[0] in graph_walk.nearness:
                candidate.terms["graph"] = (
                    GRAPH_NEARNESS * self._models.profile.prior * graph_walk.nearness[candidate.key[0]]
                )
                candidate.links = graph_walk.links_of(candidate.key[0])
        return candidates

    def search_text(self, tokens: tuple[str, ...], required: tuple[str, ...], limit: int) -> list[TextMatch]:
        """Return the best passages for some tokens that contain all `required` ones, among those that may answer."""
        return self._store.search_text(
            replace(self._text_query(), tokens=tokens, required_tokens=required, limit=limit)
        )

    def load_candidates(self, keys: Collection[PassageKey]) -> list[Candidate]:
        """Return candidates for passages that no channel found, as far as they may answer."""
        return [self._make_candidate(passage) for passage in self._find_nearest(0, 0, keys)] if keys else []

    def _search_current(self) -> dict[PassageKey, TextMatch]:
        """Return the text matches by passage."""
        return {(match.atom_id, match.n): match for match in self._store.search_text(self._text_query())}

    def _search_past(self) -> dict[PassageKey, dict[bytes, Candidate]]:
        """Return matches in former texts of atoms, by passage and digest; empty unless the question is about what was
        known at another time."""
        candidates: dict[PassageKey, dict[bytes, Candidate]] = {}
        if self._filter.known_by is not None:
            for match, near in self._store.search_past_passages(self._text_query()):
                candidates.setdefault(near.key, {})[near.digest] = self._make_candidate(near, match)
        return candidates

    def _text_query(self) -> TextQuery:
        """Return the text query of the question."""
        return TextQuery(
            scopes=self._filter.scopes,
            tokens=tuple(term.token for term in self._question.terms),
            statuses=self._filter.statuses,
            memory_types=self._filter.memory_types,
            valid_at=self._filter.valid_at,
            limit=TEXT_POOL * self.pool // POOL,
            true_at=self._filter.true_at,
            known_by=self._filter.known_by,
        )

    def _text_scores(self) -> dict[PassageKey, float]:
        """Return the text score of each matching passage, the best of its former texts included."""
        scores = {key: match.score for key, match in self._matches.items()}
        for key, candidates in self.past_texts.items():
            scores[key] = max(
                scores.get(key, 0.0), *(candidate.match.score for candidate in candidates.values() if candidate.match)
            )
        return scores

    def count_withheld(self, shown: Collection[Candidate]) -> tuple[tuple[str, int], ...]:
        """Return how many passages were filtered out that are as similar as those shown, by reason."""
        nearest = [candidate.near.cosine for candidate in shown if candidate.near.cosine > 0]
        if not nearest or self._models.main is None:
            return ()
        return tuple(self._store.encodings.count_filtered_out(self._near_query(0, 0, ()), min(nearest)).items())

    def _find_nearest(self, limit: int, neighbours: int, extra_keys: Collection[PassageKey] = ()) -> list[NearPassage]:
        """Return the nearest passages."""
        return self._store.encodings.find_nearest(self._near_query(limit, neighbours, extra_keys))

    def _near_query(self, limit: int, neighbours: int, extra_keys: Collection[PassageKey]) -> VectorQuery:
        """Return the vector query of the question."""
        recipe = self._models.profile
        return VectorQuery(
            scopes=self._filter.scopes,
            memory_types=self._filter.memory_types,
            valid_at=self._filter.valid_at,
            status_weights={status: self._status_weight(status) for status in self._filter.statuses},
            model=self._models.main.model.id if self._models.main else "",
            query_vector=self._vector,
            vector_weight=recipe.first_vector,
            text_scores=self._text_scores(),
            text_weight=recipe.first_text,
            terms=self._score_terms,
            limit=limit,
            neighbours=neighbours,
            extra_keys=extra_keys,
            true_at=self._filter.true_at,
            known_by=self._filter.known_by,
        )

    def _status_weight(self, status: Status) -> float:
        """Return how much a status counts in the search; for another time it is weighed later, as it was then."""
        is_present = self._filter.true_at is None and self._filter.known_by is None
        return status_weight(status) if is_present else 1.0

    def _make_candidate(self, near: NearPassage, match: TextMatch | None = None) -> Candidate:
        """Make a candidate with the terms that do not depend on its words: who said it, and when."""
        candidate = Candidate(near.key, near, match or self._matches.get(near.key))
        speaker_term = self._score_terms.speakers.get(near.speaker, 0.0)
        if speaker_term:
            candidate.terms["speaker"] = speaker_term
        if near.in_window or near.mentions_window:
            candidate.terms["time"] = (
                self._score_terms.in_window if near.in_window else self._score_terms.mentions_window
            )
        if near.mentions_time and self._question.shape is QuestionShape.TEMPORAL:
            candidate.terms["tells when"] = STATES_A_TIME * self._models.profile.prior
        return candidate


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
