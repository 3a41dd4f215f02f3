"""Builds the hits of an answer: the best candidates as results, weighed, ordered, and with everything that explains
their scores.

A hit counts as an answer if it is above the floor. A fact that was written with entity names is meant to be found by
them: if the question names it, it is an answer, however little else they share, and so is what it depends on; if the
question names such facts, others must be very similar to count beside them. What was captured from conversations has no
declared names and is judged by its words alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence

import numpy as np

from lamina.atom.atom import Atom, RelationName
from lamina.recall.candidate_scoring import AGENT_TERM, Candidate, compute_weights, multiply_weights
from lamina.recall.marks import HitMark
from lamina.recall.recall_result import Hit, HitList, VectorPrecision
from lamina.recall.recall_view import RecallView
from lamina.recall.request_and_question import RecallQuery, RecallRequest
from lamina.recall.result_passages import ResultOptions, ResultPassage
from lamina.recall.result_selection import count_omitted, select_results
from lamina.recall.scoring_profiles import LONG_SESSION, ScoringProfile
from lamina.recall.selected_models import SelectedModels
from lamina.recall.state_terms import STATE_TERM, StateTerms
from lamina.store.encodings import PassageKey, PassageVectors
from lamina.store.precision import FULL_BITS
from lamina.vectors.fisher_rao import frqad
from lamina.vectors.integer_vectors import Floats
from lamina.vectors.quantisation import expected_error

DIMENSION_DEVIATION = 0.01
"""The assumed standard deviation of each dimension of a unit vector before it is rounded."""
NAMING_TERMS = ("exact", "entity")
"""The terms of a fact whose subject, or one of whose entities, the question names."""
_EARLIER_MARK = (HitMark.EARLIER.value,)


def build_hits(
    candidates: Sequence[Candidate],
    superseded: Sequence[Candidate],
    request: RecallRequest,
    query: RecallQuery,
    selected: SelectedModels,
    view: RecallView,
    states: StateTerms | None,
) -> HitList:
    """Return the best k hits with their weights. A passage that says the same as a better one is folded into it."""
    all_candidates = [*candidates, *superseded]
    ids = {candidate.key[0] for candidate in all_candidates}
    signals, ageing = view.signals(ids), view.ageing_states(ids)
    weights = {
        candidate.key: compute_weights(candidate.near, signals[candidate.key[0]], ageing.get(candidate.key[0]))
        for candidate in all_candidates
    }
    ordered = sorted(
        all_candidates, key=lambda candidate: _sort_key(candidate, multiply_weights(weights[candidate.key]))
    )
    options = ResultOptions(
        superseded_keys=frozenset(candidate.key for candidate in superseded),
        selects=request.selects,
        include_history=request.includes_history,
    )
    words = {query_token.token: query_token.word for query_token in query.query_tokens}
    selection = select_results(ordered, request.k, view, options, filter_stale=request.filter_stale)
    best = {n: selection.results[n] for n in selection.selected}
    is_relevant = _build_relevance_test(
        selection.results, candidates, selected.profile, view, compare_tokens=not request.fast, states=states
    )
    ranks = _channel_ranks(candidates)
    precisions = _measure_precision(
        {result.candidate.key for result in best.values()}, query.text_without_names, selected, view
    )
    hits = tuple(
        _build_hit(
            result,
            weights[result.candidate.key],
            words,
            is_relevant,
            ranks(result.candidate),
            selection.folded_into(n),
            precisions.get(result.candidate.key),
            states,
        )
        for n, result in best.items()
    )
    ranks_by_key = {candidate.key: n for n, candidate in enumerate(ordered)}
    last_rank = max((ranks_by_key[result.candidate.key] for result in best.values()), default=0)
    return HitList(hits, count_omitted(selection.omitted, last_rank if len(hits) == request.k else None))


def _channel_ranks(candidates: Sequence[Candidate]) -> Callable[[Candidate], tuple[tuple[str, int, float], ...]]:
    """Return a function that gives the rank and score of a candidate in each channel alone."""
    scores = {
        "text": {candidate.key: candidate.match.score for candidate in candidates if candidate.match is not None},
        "vector": {candidate.key: candidate.near.cosine for candidate in candidates if candidate.near.cosine > 0},
        "graph": {candidate.key: candidate.terms["graph"] for candidate in candidates if "graph" in candidate.terms},
    }
    ordered = {name: sorted(channel_scores.values(), reverse=True) for name, channel_scores in scores.items()}

    def of(candidate: Candidate) -> tuple[tuple[str, int, float], ...]:
        candidate_scores = (
            (name, channel_scores[candidate.key])
            for name, channel_scores in scores.items()
            if candidate.key in channel_scores
        )
        return tuple((name, ordered[name].index(score) + 1, score) for name, score in candidate_scores)

    return of


def _build_hit(
    result: ResultPassage,
    weights: tuple[tuple[str, float], ...],
    words: dict[str, str],
    is_relevant: Callable[[ResultPassage], bool],
    channels: tuple[tuple[str, int, float], ...],
    folded: tuple[PassageKey, ...],
    precision: VectorPrecision | None,
    states: StateTerms | None,
) -> Hit:
    """Build a hit from a result passage and everything that explains its score."""
    candidate, atom, match = result.candidate, result.atom, result.candidate.match
    earlier = states.earlier.get(result.key) if states else None
    scale = candidate.terms["text"] / match.score if match is not None and match.score else 0.0
    return Hit(
        atom,
        result.passage,
        None,
        tuple(candidate.terms.items()),
        weights,
        words=tuple((words[token], scale * part) for token, part in match.token_scores) if match else (),
        channels=channels,
        folded=folded,
        links=tuple((edge.source, edge.name, edge.target, edge.confidence) for edge in candidate.links),
        marks=(*result.rendered.marks, *(_EARLIER_MARK if earlier else ())),
        relevant=is_relevant(result),
        statements=tuple(result.statements),
        shown_text=result.rendered.text,
        transitions=result.rendered.transitions,
        instead_of=result.replaced_passage,
        before=result.moved_before,
        precision=precision,
        earlier=earlier,
        answers=states.answers.get(candidate.key) if states else None,
    )


def _sort_key(candidate: Candidate, weight: float) -> tuple[float, int, PassageKey]:
    """Return the sort key: by score, then the newer record, then id and passage number. The same question always gives
    the same order."""
    return -candidate.relevance * weight, -candidate.near.recorded_ms, candidate.key


def _build_relevance_test(
    results: Sequence[ResultPassage],
    candidates: Sequence[Candidate],
    profile: ScoringProfile,
    view: RecallView,
    *,
    compare_tokens: bool,
    states: StateTerms | None = None,
) -> Callable[[ResultPassage], bool]:
    """Return a function that says whether a result counts as an answer: by the probability of the state model, if it
    gave one."""
    session_counts = Counter(candidate.near.session for candidate in candidates)
    named_ids = {
        result.atom.id for result in results if _has_declared_names(result.atom) and _is_named_in_question(result)
    }
    needed = {
        edge.target
        for edge in (view.store.graph.edges(sorted(named_ids), view.scopes) if named_ids else ())
        if edge.name == RelationName.DEPENDS_ON and edge.source in named_ids
    }

    def counts(result: ResultPassage) -> bool:
        relevance = _relevance_of_words(result.candidate)
        chance = states.answers.get(result.candidate.key) if states is not None else None
        is_talk = result.atom.is_segment or bool(result.atom.evidence)
        match = result.candidate.match
        holds_all = states is not None and match is not None and len(match.token_scores) >= max(1, states.word_count)
        if chance is not None and states is not None and is_talk and not holds_all:
            return chance >= states.threshold
        if not _has_declared_names(result.atom):
            return relevance >= _relevance_floor(
                profile, session_counts[result.candidate.near.session], compare_tokens=compare_tokens
            )
        if result.atom.id in named_ids or result.atom.id in needed:
            return True
        return relevance >= profile.unnamed_floor[bool(named_ids)]

    return counts


def _relevance_of_words(candidate: Candidate) -> float:
    """Return the relevance for which the floors were chosen: state and agent terms only change the order of hits, they
    make nothing an answer."""
    terms = (
        amount for name, amount in candidate.terms.items() if not name.startswith(STATE_TERM) and name != AGENT_TERM
    )
    return max(0.0, sum(terms))


def _has_declared_names(atom: Atom) -> bool:
    """Return whether a fact was written with entity names; what was extracted from words has evidence instead."""
    return bool(atom.entities) and not atom.evidence and not atom.is_segment


def _is_named_in_question(result: ResultPassage) -> bool:
    """Return whether the question names a fact, or the one it replaced."""
    return result.replaced_passage is not None or any(name in result.candidate.terms for name in NAMING_TERMS)


def _relevance_floor(profile: ScoringProfile, session_passages: int, *, compare_tokens: bool) -> float:
    """Return the relevance a passage must have to count as an answer, given how many passages of its session are
    candidates."""
    if not compare_tokens:
        return profile.first_floor
    single, in_long_session = profile.floor
    return single + (in_long_session - single) * min(1.0, math.log2(max(1, session_passages)) / math.log2(LONG_SESSION))


def _measure_precision(
    keys: Collection[PassageKey], text: str, models: SelectedModels, view: RecallView
) -> dict[PassageKey, VectorPrecision]:
    """Return, for those passages whose vectors are stored with reduced precision, what that means for a question."""
    if models.main is None or not keys:
        return {}
    question = models.main.encode_question(text).vector
    stored = view.store.passages.encodings.vectors(models.main.model.id, keys, only_reduced=True)
    return {key: _measure_vectors(question, vectors) for key, vectors in stored.items()}


def _measure_vectors(question: Floats, vectors: PassageVectors) -> VectorPrecision:
    """Return the precision of the vector that is nearest to the question."""
    bits, rows = vectors.bits, vectors.rows
    nearest = rows[int(np.argmax(rows @ question))].astype(np.float64)
    exact_question = question.astype(np.float64)
    length = math.hypot(*nearest.tolist()) * math.hypot(*exact_question.tolist())
    cosine = float(nearest @ exact_question) / length if length else 0.0
    error = expected_error(bits, len(nearest)) * math.sqrt(max(0.0, 1 - cosine * cosine))
    return VectorPrecision(
        bits, error, frqad(exact_question, DIMENSION_DEVIATION, FULL_BITS, nearest, DIMENSION_DEVIATION, bits)
    )
