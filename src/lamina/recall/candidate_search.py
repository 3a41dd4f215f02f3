"""The search channels: every passage that text, vectors, names, times or links lead to, with the score of each
channel.

Superseded and challenged statements are candidates too, though ordinary recall does not show them: a question that
names only the old value of something must find its successor. They are scored by themselves, so they change no other
score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lamina.atom.atom import Atom
from lamina.atom.passage import passage_digest, passages_of
from lamina.atom.status import Status
from lamina.recall.candidate_scoring import (
    Candidate,
    FirstScores,
    ScoreTerms,
    add_channel_terms,
    select_best,
    status_weight,
)
from lamina.recall.graph_walk import find_named_atoms, walk_graph
from lamina.recall.late_interaction import add_token_terms
from lamina.recall.recall_view import RecallView
from lamina.recall.request_and_question import QuestionShape, RecallQuery
from lamina.recall.scoring_profiles import GRAPH_NEARNESS, NEIGHBOURS, POOL, STATES_A_TIME, TEXT_POOL
from lamina.recall.selected_models import SelectedModels
from lamina.store.base import Store, TextMatch, TextQuery
from lamina.store.encodings import PassageKey
from lamina.store.passages import NearPassage, PassageFilter, VectorQuery
from lamina.text.timestamps import to_millis
from lamina.vectors.integer_vectors import QueryVector, to_query_vector

_NO_VECTOR = to_query_vector(np.zeros(1, dtype=np.float32))


def _encode(query: RecallQuery, models: SelectedModels) -> QueryVector:
    """Return the vector of a question, without the names in it."""
    if models.main is None:
        return _NO_VECTOR
    return to_query_vector(models.main.encode_question(query.text_without_names).vector)


class CandidateSearch:
    """The candidate search of one question."""

    def __init__(
        self,
        query: RecallQuery,
        passage_filter: PassageFilter,
        models: SelectedModels,
        store: Store,
        score_terms: ScoreTerms,
    ) -> None:
        self._question, self._filter, self._models, self._store = query, passage_filter, models, store
        # For another time a status is weighed later, as it was then.
        is_present = passage_filter.true_at is None and passage_filter.known_by is None
        status_weights = {status: status_weight(status) if is_present else 1.0 for status in passage_filter.statuses}
        self._scores = FirstScores(models.profile, score_terms, status_weights)
        self._vector_query = VectorQuery(
            filter=passage_filter,
            model=models.main.model.id if models.main is not None else "",
            query_vector=_encode(query, models),
        )
        self.pool = POOL
        self._search_text()

    def widen(self, factor: int) -> None:
        """Search again with a pool this many times as large, because some of the results did not count."""
        self.pool *= factor
        self._search_text()

    def find_candidates(self) -> list[Candidate]:
        """Return the best passages of all channels, their neighbours, and facts that are linked to them."""
        matched = {token for match in self._matches.values() for token, _ in match.token_scores}
        unmatched = [
            query_token.word for query_token in self._question.query_tokens if query_token.token not in matched
        ]
        exact = find_named_atoms(
            self._question.text, self._filter.scopes, self._filter.statuses, self._store, unmatched
        )
        candidates = self._select_candidates({(atom_id, 1) for atom_id in exact})
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
        candidates += self.load_candidates(linked_keys)
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
        return self._find(replace(self._vector_query, keys=keys)) if keys else []

    def _select_candidates(self, named_keys: Collection[PassageKey]) -> list[Candidate]:
        """Return the best passages by their first score with their neighbours, and the named ones.

        Asked for are the nearest of every part and all that match by words: the best by score are among them, because
        within a part the nearest have the best scores.
        """
        query = replace(
            self._vector_query,
            limit=self.pool,
            partition=self._scores.partition,
            keys=self._text_scores.keys() | named_keys,
        )
        candidates = {candidate.key: candidate for candidate in self._find(query)}
        best = {candidate.key for candidate in select_best(candidates.values(), self.pool)}
        selected = [candidate for key, candidate in candidates.items() if key in best or key in named_keys]
        if self._models.main is None:
            return selected
        around = self._find(replace(self._vector_query, neighbours_of=best, reach=NEIGHBOURS))
        return selected + [candidate for candidate in around if candidate.key not in named_keys]

    def _find(self, query: VectorQuery) -> list[Candidate]:
        return self._to_candidates(self._store.passages.find_nearest(query), self._matches, self._text_scores)

    def _to_candidates(
        self,
        passages: Sequence[NearPassage],
        matches: Mapping[PassageKey, TextMatch],
        text_scores: Mapping[PassageKey, float],
    ) -> list[Candidate]:
        candidates = self._scores.to_candidates(passages, matches, text_scores)
        if self._question.shape is QuestionShape.TEMPORAL:
            for candidate in candidates:
                if candidate.near.mentioned_ms is not None:
                    candidate.terms["tells when"] = STATES_A_TIME * self._models.profile.prior
        return candidates

    def _search_text(self) -> None:
        """Search by words, for a question about what was known at another time also in the former texts of atoms."""
        matches = self._store.passages.search_text(self._text_query())
        self._matches = {(match.atom_id, match.n): match for match in matches if match.past is None}
        self._text_scores = {key: match.score for key, match in self._matches.items()}
        self.former_texts: dict[PassageKey, dict[bytes, Candidate]] = {}
        for match in matches:
            if match.past is not None:
                key = match.past.key
                (candidate,) = self._to_candidates([match.past], {key: match}, {key: match.score})
                self.former_texts.setdefault(key, {})[match.past.digest] = candidate
                self._text_scores[key] = max(match.score, self._text_scores.get(key, 0.0))

    def _text_query(self) -> TextQuery:
        """Return the text query of the question."""
        return TextQuery(filter=self._filter, tokens=self._question.tokens, limit=TEXT_POOL * self.pool // POOL)

    def count_filtered_out(self, candidates: Collection[Candidate]) -> tuple[tuple[str, int], ...]:
        """Return how many passages were filtered out that are as similar as those shown, by reason."""
        nearest = [candidate.near.cosine for candidate in candidates if candidate.near.cosine > 0]
        if not nearest or self._models.main is None:
            return ()
        return tuple(self._store.passages.count_filtered_out(self._vector_query, min(nearest)).items())


MAX_SUPERSEDED = 10
"""How many of them are looked at."""
RARE_COUNT = 3
"""A word that at most this many candidates contain may name an old value."""
SEARCHED_STATUSES = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.MERGED, Status.CHALLENGED})


def find_superseded_candidates(
    query: RecallQuery,
    passage_filter: PassageFilter,
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
    statuses = SEARCHED_STATUSES - passage_filter.statuses
    tokens = query.tokens if view.include_ended else _rare_tokens(query, candidates)
    if view.is_historical or not statuses or not tokens:
        return []
    text_query = TextQuery(
        filter=replace(passage_filter, statuses=statuses, valid_at=view.at), tokens=tokens, limit=MAX_SUPERSEDED
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
        cosines = view.store.passages.cosines(models.main.model.id, _encode(query, models), keys)
    return [
        Candidate((atom.id, match.n), _make_near(atom, match, cosine), match, first_score=match.score)
        for (match, atom), cosine in zip(matches, cosines, strict=True)
    ]


def _make_near(atom: Atom, match: TextMatch, cosine: float) -> NearPassage:
    """Return the statement as the vector search would return it, but for its speaker and its place."""
    return NearPassage(
        (atom.id, match.n),
        atom.scope,
        cosine,
        atom.status,
        atom.layer,
        atom.origin,
        to_millis(atom.recorded_at or atom.observed_at),
        "",
        to_millis(atom.observed_at),
        None,
        False,
        f"superseded/{atom.id}",
        0,
        passage_digest(atom, passages_of(atom)[0]),
    )
