"""The search channels: every passage that text, vectors, names, times or links lead to, with the score of each
channel.

Superseded and challenged statements are candidates too, though ordinary recall does not show them: a question that
names only the old value of something must find its successor. They are scored by themselves, so they change no other
score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.passage import is_assistant, passage_digest, passages_of
from lamina.atom.provenance import Scope
from lamina.atom.status import Status
from lamina.recall.candidate_scoring import Candidate, add_channel_terms, status_weight
from lamina.recall.graph_walk import find_named_atoms, walk_graph
from lamina.recall.late_interaction import add_token_terms
from lamina.recall.recall_query import QuestionShape, RecallQuery
from lamina.recall.recall_view import RecallView
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
from lamina.recall.selected_models import SelectedModels
from lamina.store.base import Store, TextMatch, TextQuery
from lamina.store.encodings import NearPassage, PassageKey, ScoreTerms, VectorQuery
from lamina.vectors.integer_vectors import to_query_vector

_NO_VECTOR = to_query_vector(np.zeros(1, dtype=np.float32))


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFilter:
    """A filter of candidates: scopes, statuses, memory types, layers, and when they must be valid.

    `true_at` or `known_by` replace `valid_at`: what was valid at that time, superseded since or not; what existed by
    that time. `agent`: only what this agent learnt.
    """

    scopes: tuple[Scope, ...]
    statuses: frozenset[Status]
    memory_types: frozenset[MemoryType]
    valid_at: datetime
    true_at: datetime | None = None
    known_by: datetime | None = None
    agent: str | None = None
    layers: frozenset[Layer] | None = None


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
        self.former_texts = self._search_former_texts()

    def widen(self, factor: int) -> None:
        """Search again with a pool this many times as large, because some of the results did not count."""
        self.pool *= factor
        self._matches = self._search_current()
        self.former_texts = self._search_former_texts()

    def find_candidates(self) -> list[Candidate]:
        """Return the best passages of all channels, their neighbours, and facts that are linked to them."""
        matched = {token for match in self._matches.values() for token, _ in match.token_scores}
        unmatched = [
            query_token.word for query_token in self._question.query_tokens if query_token.token not in matched
        ]
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
        return self._store.passages.search_text(
            replace(self._text_query(), tokens=tokens, required_tokens=required, limit=limit)
        )

    def load_candidates(self, keys: Collection[PassageKey]) -> list[Candidate]:
        """Return candidates for passages that no channel found, as far as they may answer."""
        return [self._make_candidate(passage) for passage in self._find_nearest(0, 0, keys)] if keys else []

    def _search_current(self) -> dict[PassageKey, TextMatch]:
        """Return the text matches by passage."""
        return {(match.atom_id, match.n): match for match in self._store.passages.search_text(self._text_query())}

    def _search_former_texts(self) -> dict[PassageKey, dict[bytes, Candidate]]:
        """Return matches in former texts of atoms, by passage and digest; empty unless the question is about what was
        known at another time."""
        candidates: dict[PassageKey, dict[bytes, Candidate]] = {}
        if self._filter.known_by is not None:
            for match, near in self._store.passages.search_past(self._text_query()):
                candidates.setdefault(near.key, {})[near.digest] = self._make_candidate(near, match)
        return candidates

    def _text_query(self) -> TextQuery:
        """Return the text query of the question."""
        return TextQuery(
            scopes=self._filter.scopes,
            tokens=self._question.tokens,
            statuses=self._filter.statuses,
            memory_types=self._filter.memory_types,
            valid_at=self._filter.valid_at,
            limit=TEXT_POOL * self.pool // POOL,
            true_at=self._filter.true_at,
            known_by=self._filter.known_by,
            agent=self._filter.agent,
            layers=self._filter.layers,
        )

    def _text_scores(self) -> dict[PassageKey, float]:
        """Return the text score of each matching passage, the best of its former texts included."""
        scores = {key: match.score for key, match in self._matches.items()}
        for key, candidates in self.former_texts.items():
            scores[key] = max(
                scores.get(key, 0.0), *(candidate.match.score for candidate in candidates.values() if candidate.match)
            )
        return scores

    def count_filtered_out(self, candidates: Collection[Candidate]) -> tuple[tuple[str, int], ...]:
        """Return how many passages were filtered out that are as similar as those shown, by reason."""
        nearest = [candidate.near.cosine for candidate in candidates if candidate.near.cosine > 0]
        if not nearest or self._models.main is None:
            return ()
        return tuple(self._store.passages.count_filtered_out(self._near_query(0, 0, ()), min(nearest)).items())

    def _find_nearest(self, limit: int, neighbours: int, extra_keys: Collection[PassageKey] = ()) -> list[NearPassage]:
        """Return the nearest passages."""
        return self._store.passages.find_nearest(self._near_query(limit, neighbours, extra_keys))

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
            agent=self._filter.agent,
            layers=self._filter.layers,
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


MAX_SUPERSEDED = 10
"""How many of them are looked at."""
RARE_COUNT = 3
"""A word that at most this many candidates contain may name an old value."""
SEARCHED_STATUSES = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.MERGED, Status.CHALLENGED})


def find_superseded_candidates(
    query: RecallQuery,
    candidate_filter: CandidateFilter,
    models: SelectedModels,
    view: RecallView,
    candidates: Sequence[Candidate],
    *,
    compare_tokens: bool,
) -> list[Candidate]:
    """Return the superseded and challenged statements that contain words of a question which hardly any candidate
    contains, scored like all other candidates; for a question about the past, those that contain any of its words.

    A statement whose source passage is a candidate is left out, because that passage leads on by itself.
    """
    statuses = SEARCHED_STATUSES - candidate_filter.statuses
    tokens = query.tokens if view.include_ended else _rare_tokens(query, candidates)
    if view.is_historical or not statuses or not tokens:
        return []
    text_query = TextQuery(
        scopes=candidate_filter.scopes,
        tokens=tokens,
        statuses=statuses,
        memory_types=candidate_filter.memory_types,
        valid_at=view.at,
        limit=MAX_SUPERSEDED,
        agent=candidate_filter.agent,
        layers=candidate_filter.layers,
    )
    matches = sorted(
        view.store.passages.search_text(text_query), key=lambda entry: (-entry.score, entry.atom_id, entry.n)
    )[:MAX_SUPERSEDED]
    atoms = view.atoms(match.atom_id for match in matches) if matches else {}
    matched = [(match, atoms[match.atom_id]) for match in matches if match.atom_id in atoms]
    candidate_keys = {candidate.key for candidate in candidates}
    superseded = _make_candidates(
        [entry for entry in matched if _has_no_candidate_source(entry[1], candidate_keys)], query, models, view
    )
    if superseded:
        add_channel_terms(superseded, models.profile, compare_tokens=compare_tokens)
        if compare_tokens:
            add_token_terms(superseded, query.text_without_names, models, view)
    return superseded


def _rare_tokens(query: RecallQuery, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Return the words of a question that hardly any candidate contains: an ended statement may be the only one."""
    counts = Counter(
        token for candidate in candidates if candidate.match is not None for token, _ in candidate.match.token_scores
    )
    return tuple(token for token in query.tokens if counts[token] <= RARE_COUNT)


def _has_no_candidate_source(atom: Atom, known: Container[PassageKey]) -> bool:
    """Return whether none of the source passages of a statement is a candidate."""
    return not atom.is_segment and not any((evidence.segment, evidence.passage) in known for evidence in atom.evidence)


def _make_candidates(
    matches: list[tuple[TextMatch, Atom]], query: RecallQuery, models: SelectedModels, view: RecallView
) -> list[Candidate]:
    keys = [(match.atom_id, match.n) for match, _ in matches]
    cosines = [0.0] * len(keys)
    if models.main is not None and keys:
        vector = to_query_vector(models.main.encode_question(query.text_without_names).vector)
        cosines = view.store.passages.cosines(models.main.model.id, vector, keys)
    return [
        Candidate((atom.id, match.n), _make_near(atom, match, cosine), match)
        for (match, atom), cosine in zip(matches, cosines, strict=True)
    ]


def _make_near(atom: Atom, match: TextMatch, cosine: float) -> NearPassage:
    """Return the statement's position in the store, as the vector search would return it."""
    return NearPassage(
        (atom.id, match.n),
        atom.scope,
        cosine,
        match.score,
        atom.status,
        atom.layer,
        atom.origin,
        _to_millis(atom.recorded_at or atom.observed_at),
        "",
        _to_millis(atom.observed_at),
        False,
        False,
        False,
        False,
        f"superseded/{atom.id}",
        0,
        passage_digest(atom, passages_of(atom)[0]),
    )


def _to_millis(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
