"""The read path. `recall` is the story: parse the question, find candidates, fuse the channels, compare tokens, weigh,
order, and read again what changed meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.atom.atom import Signals
from lamina.atom.identity import AtomId
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import Passage
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.summary_sources import is_summary, is_summary_outdated
from lamina.models.model_choice import ModelChoice
from lamina.recall.answer_floor import build_relevance_test
from lamina.recall.candidate import Candidate
from lamina.recall.candidate_search import CandidateFilter, CandidateSearch, compute_score_terms
from lamina.recall.channel_fusion import fuse_channels
from lamina.recall.fact_chains import add_hop_terms, find_chained_facts
from lamina.recall.hit import CoreLoader, Hit, Recall
from lamina.recall.hit_weights import compute_weights, multiply_weights
from lamina.recall.late_interaction import add_token_terms
from lamina.recall.marks import HitMark
from lamina.recall.model_selection import SelectedModels, select_models_for
from lamina.recall.passage_rendering import RenderedPassage
from lamina.recall.past_candidates import build_past_filter, find_past_candidates
from lamina.recall.plain_ranking import PlainResult, rank_plainly
from lamina.recall.query_options import parse_query, select_memory_types, select_statuses
from lamina.recall.query_time import NOW, QueryTime, is_admitted, iterate_past_atoms
from lamina.recall.recall_query import RecallQuery
from lamina.recall.recall_view import RecallView
from lamina.recall.reranker_term import add_reranker_term
from lamina.recall.result_builder import ResultOptions, ResultPassage, render_atoms
from lamina.recall.result_selection import SPARE_CANDIDATES, select_results
from lamina.recall.stale_filter import OmittedHit, count_omitted, find_fresh_candidates, find_stale
from lamina.recall.state_terms import StateTerms, add_state_terms
from lamina.recall.superseded_candidates import find_superseded_candidates
from lamina.recall.vector_precision import VectorPrecision, measure_precision
from lamina.store.base import AtomFilter, Store
from lamina.store.encodings import PassageKey

CANDIDATE_FACTOR = 2
"""If only past or fresh passages count, the search widens until it has this many times as many candidates as are
read."""

_EARLIER_MARK = (HitMark.EARLIER.value,)

MAX_ATTEMPTS = 3
"""How often a recall starts again because a passage was found that the models had not encoded."""

Refresh = Callable[[Sequence[AtomId]], bool]
"""Updates the store from the files of these atoms; returns whether anything changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A question with its filters. `assistant_prior` is added to the relevance of an assistant's turns. `filter_stale`
    leaves out stale and archived atoms."""

    text: str
    scopes: tuple[Scope, ...]
    k: int
    mode: str
    include: tuple[str, ...]
    at: datetime
    fast: bool = False
    ranking: str = "full"
    assistant_prior: float = 0.0
    query_time: QueryTime = NOW
    filter_stale: bool = False


@dataclass(frozen=True, slots=True)
class _HitList:
    """Hits, and how many others were left out for which reason."""

    hits: tuple[Hit, ...]
    filtered: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _RecallResult:
    """Everything that one attempt at a recall found."""

    hits: tuple[Hit, ...]
    model: str
    understood: tuple[tuple[str, str], ...]
    position: int
    filtered: tuple[tuple[str, int], ...] = ()


def recall(
    request: RecallRequest,
    store: Store,
    models: ModelChoice,
    refresh: Refresh,
    recall_id: str,
    load_core: CoreLoader = list,
) -> Recall:
    """Return the passages that answer a request, best first. Files of hits that were edited are read again before the
    result is returned."""
    result = _answer_request(request, store, models)
    while refresh([atom.id for hit in result.hits for atom in (hit.atom, *hit.statements)]):
        result = _answer_request(request, store, models)
    return Recall(
        recall_id,
        request.text,
        result.hits,
        result.position,
        result.model,
        request.at,
        result.understood,
        result.filtered,
        load_core,
    )


def _answer_request(request: RecallRequest, store: Store, models: ModelChoice) -> _RecallResult:
    """Run the request: return nothing for small talk, use the plain ranking if asked for, else search with the best
    complete models."""
    at = request.query_time.as_of or request.query_time.known_at or request.at
    query = parse_query(request.text, store.encodings.speakers(request.scopes), at)
    if query.is_small_talk:
        return _RecallResult(
            (), "none", _describe_query(query, request.query_time), _open_view(request, query, store).position
        )
    if request.ranking == "plain":
        view = _open_view(request, query, store)
        plain_hits = _rank_plainly(request, view, select_statuses(request.include), select_memory_types(request.mode))
        description = _describe_query(query, request.query_time)
        return _RecallResult(plain_hits.hits, "plain", description, view.position, tuple(plain_hits.filtered.items()))
    for attempt in range(MAX_ATTEMPTS):
        selected, is_last = (
            select_models_for(query.text_without_names, store, request.scopes, models),
            attempt == MAX_ATTEMPTS - 1,
        )
        with store.read_snapshot():
            # After a concurrent write, or a rebuild of a damaged index, some passages have no vectors yet, and the
            # result would favour the others. Only the last attempt accepts that.
            if is_last or selected.cover_all_passages(store, request.scopes):
                result = _search_and_rank(request, query, selected, models, store)
                if is_last or selected.cover_all_passages(store, request.scopes):
                    return result
    raise AssertionError("the last attempt returns")


def _open_view(request: RecallRequest, query: RecallQuery, store: Store) -> RecallView:
    """Open the view of the store that the request asks about."""
    past = query.is_about_past or "history" in request.include
    return request.query_time.view(store, request.scopes, request.at, include_past=past)


def _search_and_rank(
    request: RecallRequest, query: RecallQuery, selected: SelectedModels, models: ModelChoice, store: Store
) -> _RecallResult:
    """Search, rank and build the hits with the selected models, while the store does not change."""
    view = _open_view(request, query, store)
    allowed_statuses, allowed_types = select_statuses(request.include), select_memory_types(request.mode)
    score_terms = compute_score_terms(
        query, store.encodings.speakers(request.scopes), request.assistant_prior, selected.profile.prior
    )
    if request.query_time:
        candidate_filter = build_past_filter(request.query_time, view, request.scopes, allowed_statuses, allowed_types)
        search = CandidateSearch(query, candidate_filter, selected, store, score_terms)
        candidates = find_past_candidates(
            search, view, allowed_statuses, allowed_types, CANDIDATE_FACTOR * (request.k + SPARE_CANDIDATES)
        )
    else:
        candidate_filter = CandidateFilter(
            scopes=request.scopes, statuses=allowed_statuses, memory_types=allowed_types, valid_at=request.at
        )
        search = CandidateSearch(query, candidate_filter, selected, store, score_terms)
        candidates = _find_candidates(request, search, view)
    fuse_channels(candidates, selected.profile, compare_tokens=not request.fast)
    if not request.fast:
        add_token_terms(candidates, query.text_without_names, selected, store)
        if not request.query_time:
            candidates += _add_chained_facts(candidates, search, query, selected, view)
        add_reranker_term(candidates, query.text, models.reranker, view)
    states = _add_state_terms(candidates, request, query, selected, view)
    superseded = find_superseded_candidates(
        query, candidate_filter, selected, view, candidates, compare_tokens=not request.fast
    )
    hit_list = _build_hits(candidates, superseded, request, query, selected, view, states)
    shown_keys = {(hit.atom.id, hit.passage.n) for hit in hit_list.hits}
    shown_candidates = [candidate for candidate in candidates if candidate.key in shown_keys]
    filtered = Counter(hit_list.filtered) + Counter(
        {} if request.query_time else dict(search.count_withheld(shown_candidates))
    )
    description = _describe_query(query, request.query_time)
    return _RecallResult(hit_list.hits, selected.name, description, view.position, tuple(sorted(filtered.items())))


def _add_state_terms(
    candidates: Sequence[Candidate],
    request: RecallRequest,
    query: RecallQuery,
    selected: SelectedModels,
    view: RecallView,
) -> StateTerms | None:
    """Add the terms of the state model to the candidates; return None if no state model applies."""
    if selected.state_encoder is None or request.fast or query.time_windows.phrases:
        return None
    asks_past = view.include_past and not request.query_time
    return add_state_terms(
        candidates,
        query.text_without_names,
        selected.state_encoder,
        selected.recomputed_states,
        view,
        asks_past=asks_past,
    )


def _find_candidates(request: RecallRequest, search: CandidateSearch, view: RecallView) -> list[Candidate]:
    """Find the candidates; where stale ones are left out, search further until enough fresh ones are found."""
    if request.filter_stale:
        return find_fresh_candidates(search, view, CANDIDATE_FACTOR * (request.k + SPARE_CANDIDATES))
    return search.find_candidates()


def _add_chained_facts(
    candidates: Sequence[Candidate],
    search: CandidateSearch,
    query: RecallQuery,
    selected: SelectedModels,
    view: RecallView,
) -> list[Candidate]:
    """Return facts that no channel found but that names in the best candidates lead to. Candidates that are part of
    such a chain gain a term."""
    chained_facts = find_chained_facts(query, candidates, selected, view, search.search_text)
    if not chained_facts:
        return []
    added = search.load_candidates(sorted(chained_facts.keys() - {candidate.key for candidate in candidates}))
    fuse_channels(added, selected.profile, compare_tokens=True)
    add_token_terms(added, query.text_without_names, selected, view.store)
    add_hop_terms([*candidates, *added], chained_facts)
    return added


def _build_hits(
    candidates: Sequence[Candidate],
    superseded: Sequence[Candidate],
    request: RecallRequest,
    query: RecallQuery,
    selected: SelectedModels,
    view: RecallView,
    states: StateTerms | None,
) -> _HitList:
    """Return the best k hits with their weights. A passage that says the same as a better one is folded into it."""
    all_candidates = [*candidates, *superseded]
    ids = {candidate.key[0] for candidate in all_candidates}
    signals, ageing = view.store.ledger.signals_of(ids), view.ageing_states(ids)
    weights = {
        candidate.key: compute_weights(
            candidate.near, signals.get(candidate.key[0], Signals()), ageing.get(candidate.key[0])
        )
        for candidate in all_candidates
    }
    ordered = sorted(
        all_candidates, key=lambda candidate: _sort_key(candidate, multiply_weights(weights[candidate.key]))
    )
    options = ResultOptions(
        superseded_keys=frozenset(candidate.key for candidate in superseded),
        memory_types=select_memory_types(request.mode),
        include_history="history" in request.include,
    )
    words = {term.token: term.word for term in query.terms}
    selection = select_results(ordered, request.k, view, options, filter_stale=request.filter_stale)
    best = {n: selection.results[n] for n in selection.selected}
    is_relevant = build_relevance_test(
        selection.results, candidates, selected.profile, view, compare_tokens=not request.fast, states=states
    )
    paths = view.store.ledger.paths_of({result.atom.id for result in best.values()})
    ranks = _channel_ranks(candidates)
    precisions = measure_precision(
        {result.candidate.key for result in best.values()}, query.text_without_names, selected, view.store
    )
    hits = tuple(
        _build_hit(
            result,
            paths.get(result.atom.id),
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
    return _HitList(hits, count_omitted(selection.omitted, last_rank if len(hits) == request.k else None))


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
    path: str | None,
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
        path,
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


def _rank_plainly(
    request: RecallRequest, view: RecallView, statuses: frozenset[Status], memory_types: frozenset[MemoryType]
) -> _HitList:
    """Rank whole atoms with the plain ranking, without an index."""
    atom_filter = AtomFilter(scopes=request.scopes, memory_types=memory_types)
    if request.query_time:
        atoms = [atom for atom in iterate_past_atoms(view, atom_filter) if is_admitted(view, atom, statuses)]
    else:
        atoms = view.store.read(replace(atom_filter, statuses=statuses, valid_at=request.at))
    sources = view.atoms(source for atom in atoms if is_summary(atom) for source in atom.derived_from)
    outdated = {atom.id for atom in atoms if is_summary(atom) and is_summary_outdated(atom, sources)}
    searchable = [
        atom for atom in atoms if atom.is_searched and (atom.id not in outdated or "history" in request.include)
    ]
    ranked = rank_plainly(searchable, request.text)
    stale = find_stale((plain_result.atom for plain_result in ranked), view) if request.filter_stale else {}
    best = _select_plain_results(
        [plain_result for plain_result in ranked if plain_result.atom.id not in stale], request, view
    )
    paths = view.store.ledger.paths_of(plain_result.atom.id for plain_result, _ in best)
    hits = tuple(
        Hit(
            plain_result.atom,
            Passage(1, plain_result.atom.content, 0, len(plain_result.atom.content), at=plain_result.atom.observed_at),
            paths.get(plain_result.atom.id),
            plain_result.terms,
            (),
            relevant=plain_result.terms[0][1] + plain_result.terms[1][1] > 0,
            marks=rendered.marks,
            shown_text=rendered.text if plain_result.atom.is_segment else None,
            transitions=rendered.transitions,
        )
        for plain_result, rendered in best
    )
    left_out = [
        OmittedHit(n, stale[plain_result.atom.id])
        for n, plain_result in enumerate(ranked)
        if plain_result.atom.id in stale
    ]
    return _HitList(hits, count_omitted(left_out, ranked.index(best[-1][0]) if len(hits) == request.k else None))


def _select_plain_results(
    ranked: Sequence[PlainResult], request: RecallRequest, view: RecallView
) -> list[tuple[PlainResult, RenderedPassage]]:
    """Return the best k atoms that have text left after ended statements are removed."""
    selected: list[tuple[PlainResult, RenderedPassage]] = []
    for start in range(0, len(ranked), request.k):
        batch = ranked[start : start + request.k]
        rendered_batch = render_atoms(
            [plain_result.atom for plain_result in batch], view, include_history="history" in request.include
        )
        selected += [
            (plain_result, rendered)
            for plain_result, rendered in zip(batch, rendered_batch, strict=True)
            if rendered.has_text_left
        ]
        if len(selected) >= request.k:
            break
    return selected[: request.k]


def _describe_query(query: RecallQuery, query_time: QueryTime) -> tuple[tuple[str, str], ...]:
    """Return what was understood of a question, as named values for the answer."""
    description = query_time.describe() | {
        "shape": query.shape.value,
        "speakers": ", ".join(query.speakers),
        "time": ", ".join(query.time_windows.phrases),
        "asks the assistant": "yes" if query.asks_assistant else "",
        "about the past": "yes" if query.is_about_past else "",
    }
    return tuple((name, value) for name, value in description.items() if value)


def _sort_key(candidate: Candidate, weight: float) -> tuple[float, int, PassageKey]:
    """Return the sort key: by score, then the newer record, then id and passage number. The same question always gives
    the same order."""
    return -candidate.relevance * weight, -candidate.near.recorded_ms, candidate.key
