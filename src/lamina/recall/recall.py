"""The read path: `recall` answers from one snapshot of the store, and repeats it if anything was committed meanwhile.

`_search_and_rank` finds candidates, adds the terms of their scores, and builds hits from the best of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from lamina.models.model_choice import ModelChoice
from lamina.recall.candidate_scoring import (
    Candidate,
    add_agent_terms,
    add_channel_terms,
    add_reranker_term,
    compute_score_terms,
)
from lamina.recall.candidate_search import CandidateSearch, find_superseded_candidates
from lamina.recall.fact_chains import add_hop_terms, find_chained_facts
from lamina.recall.hit_builder import build_hits
from lamina.recall.late_interaction import add_token_terms
from lamina.recall.plain_ranking import find_plain_hits
from lamina.recall.recall_result import HitList, Recall
from lamina.recall.recall_view import RecallView, ViewTime
from lamina.recall.request_and_question import RecallQuery, RecallRequest, parse_question
from lamina.recall.result_selection import SPARE_CANDIDATES
from lamina.recall.selected_models import SelectedModels, prepare_models, read_summary
from lamina.recall.state_terms import StateTerms, add_newer_value_terms, add_state_terms
from lamina.recall.widening_search import build_historical_filter, find_fresh_candidates, find_historical_candidates
from lamina.store.base import Store, Transaction, TransactionMode
from lamina.store.passages import PassageFilter
from lamina.store.projection import KnownFiles
from lamina.text.analyser import analyse

CANDIDATE_FACTOR = 2
"""A search whose candidates may be rejected continues until it has this multiple of the candidates that are needed."""
MAX_ATTEMPTS_PER_ANSWER = 3
"""How often an answer is attempted, the first time included, if the models have not encoded all passages."""
MAX_ANSWERS_PER_REQUEST = 6
"""How often a request is answered, the first time included, if something is committed meanwhile."""

FileEditCommit = Callable[[KnownFiles], int]
"""Commits what a person edited in these files; returns the current journal position, commits of others included."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """The hits of one snapshot, the model they were found with, and what was understood of the question.

    `read_position` is the journal position of the snapshot; `view_position` that of the view, which is earlier if the
    request asks what was known at a time.
    """

    hit_list: HitList
    model: str
    understood: tuple[tuple[str, str], ...]
    read_position: int
    view_position: int


def recall(
    request: RecallRequest, store: Store, models: ModelChoice, commit_file_edits: FileEditCommit, recall_id: str
) -> Recall:
    """Return the passages that answer a request, best first.

    If a file of a hit was edited, or anything else was committed meanwhile, the request is answered again, up to
    MAX_ANSWERS_PER_REQUEST times. The last answer is returned even if newer commits exist: it is that of one recent
    snapshot.
    """
    for _ in range(MAX_ANSWERS_PER_REQUEST):
        answer = _answer_request(request, store, models)
        hits = answer.hit_list.hits
        ids = {atom.id for hit in hits for atom in (hit.atom, *hit.statements)}
        files = store.projection.read(ids=ids)
        if commit_file_edits(files) == answer.read_position:
            break
    paths = files.paths
    paths |= store.projection.paths_of(ids) if len(paths) < len(ids) else {}
    return Recall(
        recall_id,
        request.text,
        tuple(replace(hit, path=paths.get(hit.atom.id)) for hit in hits),
        answer.view_position,
        answer.model,
        request.at,
        answer.understood,
        tuple(sorted(answer.hit_list.filtered.items())),
    )


def _answer_request(request: RecallRequest, store: Store, models: ModelChoice) -> _Answer:
    """Answer from one snapshot: nothing for small talk, the plain ranking if requested, else a search with models.

    The models encode the question before the snapshot is opened, because other threads wait while it is open.
    """
    # "Last week" in a question is counted from the time of the view.
    view_moment = request.view_time.as_of or request.view_time.known_at or request.at
    for attempt in range(MAX_ATTEMPTS_PER_ANSWER):
        summary = read_summary(store, request.scopes, models)
        query = parse_question(request.text, summary.speakers, view_moment)
        if query.is_small_talk or request.ranking == "plain":
            return _answer_without_models(request, query, store)
        # This also encodes the passages that the attempt before found missing.
        selected = prepare_models(query.text_without_names, store, request.scopes, models, summary)
        is_last = attempt == MAX_ATTEMPTS_PER_ANSWER - 1
        with store.transaction(TransactionMode.SNAPSHOT) as snapshot:
            # Without vectors for some passages hits would favour the others; only the last attempt accepts missing
            # vectors. First check: another writer may have added passages since the models were selected.
            summary = read_summary(snapshot, request.scopes, models)
            if is_last or selected.have_encoded_all(summary):
                view = _open_view(request, query, snapshot, selected)
                hit_list = _search_and_rank(request, query, selected, models, view, summary.speakers)
                # Second check: a search that meets a damaged index rebuilds it, and the new one may lack vectors.
                if is_last or selected.have_encoded_all(read_summary(snapshot, request.scopes, models)):
                    return _to_answer(hit_list, selected.name, request, query, view, snapshot)
    raise AssertionError("the last attempt returns")


def _answer_without_models(request: RecallRequest, query: RecallQuery, store: Store) -> _Answer:
    with store.transaction(TransactionMode.SNAPSHOT) as snapshot:
        view = _open_view(request, query, snapshot)
        if query.is_small_talk:
            return _to_answer(HitList((), {}), "none", request, query, view, snapshot)
        return _to_answer(find_plain_hits(request, view), "plain", request, query, view, snapshot)


def _open_view(
    request: RecallRequest, query: RecallQuery, store: Store, selected: SelectedModels | None = None
) -> RecallView:
    """Open the view of a store, or of a snapshot of it, at the time that the request names."""
    return request.view_time.view(
        store,
        request.scopes,
        request.at,
        include_ended=query.is_about_past or request.includes_history,
        token_state_models=selected.token_state_models if selected is not None else (),
    )


def _search_and_rank(
    request: RecallRequest,
    query: RecallQuery,
    selected: SelectedModels,
    models: ModelChoice,
    view: RecallView,
    speakers: Collection[str],
) -> HitList:
    """Search, rank and build the hits with the selected models. The functions that add terms do so in place."""
    # One read from the store for the statistics of all tokens that later steps need.
    view.token_statistics({*query.tokens, *analyse(query.text_without_names)})
    passage_filter = _build_filter(request, view)
    score_terms = compute_score_terms(query, speakers, request.assistant_prior, selected.profile.prior)
    search = CandidateSearch(query, passage_filter, selected, view.store, score_terms)
    candidates = _find_candidates(request, search, view)
    # The text and vector terms are smaller if the terms of comparing tokens follow.
    add_channel_terms(candidates, selected.profile, compare_tokens=not request.fast)
    if not request.fast:
        add_token_terms(candidates, query.text_without_names, selected, view)
        if not view.is_historical:  # chains lead through facts and links as they are now
            _add_chained_facts(candidates, search, query, selected, view)
        add_reranker_term(candidates, query.text, models.reranker, view)
    states = _add_state_terms(candidates, request, query, selected, view)
    if not view.include_ended and not query.time_windows.phrases:
        add_newer_value_terms(candidates, query.text, view)
    if request.agent is not None and not request.learnt_only:
        add_agent_terms(candidates, request.agent, selected.profile, view)
    superseded = (
        find_superseded_candidates(query, passage_filter, selected, view, candidates, compare_tokens=not request.fast)
        if request.only_statuses is None
        else []
    )
    hit_list = build_hits(candidates, superseded, request, query, selected, view, states)
    if view.is_historical:
        return hit_list  # the index can only count what the filters of the present leave out
    # What the index filtered out is counted if it is as similar as the least similar hit; `hit_list.filtered` counts
    # what was rejected after the search.
    shown_keys = {(hit.atom.id, hit.passage.n) for hit in hit_list.hits}
    filtered_out = search.count_filtered_out([candidate for candidate in candidates if candidate.key in shown_keys])
    return HitList(hit_list.hits, Counter(hit_list.filtered) + Counter(dict(filtered_out)))


def _build_filter(request: RecallRequest, view: RecallView) -> PassageFilter:
    """Return the filter of the candidates, at the time of the view."""
    if view.is_historical:
        return build_historical_filter(request, view)
    return PassageFilter(
        scopes=request.scopes,
        statuses=request.statuses,
        memory_types=request.memory_types,
        valid_at=request.at,
        agent=request.learnt_by,
        layers=request.layers,
    )


def _find_candidates(request: RecallRequest, search: CandidateSearch, view: RecallView) -> list[Candidate]:
    """Find the candidates; where only some of them count, search further until enough do."""
    enough = CANDIDATE_FACTOR * (request.k + SPARE_CANDIDATES)
    if view.is_historical:
        return find_historical_candidates(search, view, request, enough)
    if request.filter_stale:
        return find_fresh_candidates(search, view, enough)
    return search.find_candidates()


def _add_chained_facts(
    candidates: list[Candidate], search: CandidateSearch, query: RecallQuery, selected: SelectedModels, view: RecallView
) -> None:
    """Add facts that names in the best candidates lead to, and a term to every candidate of such a chain."""
    chained_facts = find_chained_facts(query, candidates, selected, view, search.search_text)
    if chained_facts:
        added = search.load_candidates(sorted(chained_facts.keys() - {candidate.key for candidate in candidates}))
        add_channel_terms(added, selected.profile, compare_tokens=True)
        add_token_terms(added, query.text_without_names, selected, view)
        candidates += added
        add_hop_terms(candidates, chained_facts)


def _add_state_terms(
    candidates: Sequence[Candidate],
    request: RecallRequest,
    query: RecallQuery,
    selected: SelectedModels,
    view: RecallView,
) -> StateTerms | None:
    """Add the terms of the state model to the candidates; return None if no state model applies."""
    # The state model prefers the latest value; a question that names a time asks for the value of that time.
    if selected.state_encoder is None or request.fast or query.time_windows.phrases:
        return None
    return add_state_terms(
        candidates,
        query.text_without_names,
        selected.state_encoder,
        selected.recomputed_states,
        view,
        # A question about the past asks for earlier values, so they get no mark, except in a historical view: there
        # they are marked as they would have been then.
        mark_earlier_values=view.is_historical or not view.include_ended,
    )


def _to_answer(
    hit_list: HitList, model: str, request: RecallRequest, query: RecallQuery, view: RecallView, snapshot: Transaction
) -> _Answer:
    read_position = snapshot.position
    view_position = read_position if view.journal_position is None else view.journal_position
    return _Answer(hit_list, model, _describe_query(query, request.view_time), read_position, view_position)


def _describe_query(query: RecallQuery, view_time: ViewTime) -> tuple[tuple[str, str], ...]:
    """Return what was understood of a question, as named values for the answer."""
    description = view_time.describe() | {
        "shape": query.shape.value,
        "speakers": ", ".join(query.speakers),
        "time": ", ".join(query.time_windows.phrases),
        "asks the assistant": "yes" if query.asks_assistant else "",
        "about the past": "yes" if query.is_about_past else "",
    }
    return tuple((name, value) for name, value in description.items() if value)
