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
from lamina.atom.sources import is_outdated, is_summary
from lamina.atom.status import Status
from lamina.models.choose import Choice
from lamina.recall.asked import Asked
from lamina.recall.candidate import Candidate
from lamina.recall.coarse import Coarse, coarse
from lamina.recall.follow import Following, Found, as_whole
from lamina.recall.fuse import fuse
from lamina.recall.gather import Admitted, Gathering, tilts
from lamina.recall.hit import Core, Hit, Recall
from lamina.recall.hops import add_hops, hops
from lamina.recall.lens import Lens, look
from lamina.recall.marks import Mark
from lamina.recall.past import NOW, Moments, admits, believed
from lamina.recall.plain import Ranked, plain
from lamina.recall.relevance import answering
from lamina.recall.rerank import rerank
from lamina.recall.second_opinion import second_opinion
from lamina.recall.shelf import shelf
from lamina.recall.shown import Shown
from lamina.recall.slots import SPARE, slots
from lamina.recall.stale import LeftOut, alive_candidates, counted, stale_among
from lamina.recall.state_terms import StateTerms, add_state_terms
from lamina.recall.then import admitted_then, candidates_then
from lamina.recall.understand import memory_types, statuses, understand
from lamina.recall.view import View
from lamina.recall.weigh import total, weigh
from lamina.store.base import Filter, Store
from lamina.store.encodings import Key

ENOUGH = 2
"""If only past or fresh passages count, the search widens until it has this many times as many candidates as are
read."""

_EARLIER = (Mark.EARLIER.value,)

TRIES = 3
"""How often a recall starts again because a passage was found that the models had not encoded."""

Refresh = Callable[[Sequence[AtomId]], bool]
"""Updates the store from the files of these atoms; returns whether anything changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
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
    assistant: float = 0.0
    moments: Moments = NOW
    filter_stale: bool = False


@dataclass(frozen=True, slots=True)
class _Hits:
    """Hits, and how many others were left out for which reason."""

    hits: tuple[Hit, ...]
    filtered: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Answer:
    """Everything that one attempt at a recall found."""

    hits: tuple[Hit, ...]
    model: str
    understood: tuple[tuple[str, str], ...]
    position: int
    filtered: tuple[tuple[str, int], ...] = ()


def recall(
    question: Question, store: Store, choice: Choice, refresh: Refresh, recall_id: str, core: Core = list
) -> Recall:
    """Return the passages that answer a request, best first. Files of hits that were edited are read again before the
    result is returned."""
    result = _answer(question, store, choice)
    while refresh([atom.id for hit in result.hits for atom in (hit.atom, *hit.statements)]):
        result = _answer(question, store, choice)
    return Recall(
        recall_id,
        question.text,
        result.hits,
        result.position,
        result.model,
        question.at,
        result.understood,
        result.filtered,
        core,
    )


def _answer(question: Question, store: Store, choice: Choice) -> _Answer:
    """Run the request: return nothing for small talk, use the plain ranking if asked for, else search with the best
    complete models."""
    at = question.moments.as_of or question.moments.known_at or question.at
    query = understand(question.text, store.encodings.speakers(question.scopes), at)
    if query.idle:
        return _Answer((), "none", _told(query, question.moments), _view(question, query, store).position)
    if question.ranking == "plain":
        view = _view(question, query, store)
        plain_hits = _plain(question, view, statuses(question.include), memory_types(question.mode))
        description = _told(query, question.moments)
        return _Answer(plain_hits.hits, "plain", description, view.position, tuple(plain_hits.filtered.items()))
    for attempt in range(TRIES):
        selected, is_last = look(query.meant, store, question.scopes, choice), attempt == TRIES - 1
        with store.steady():
            # After a concurrent write, or a rebuild of a damaged index, some passages have no vectors yet, and the
            # result would favour the others. Only the last attempt accepts that.
            if is_last or selected.is_whole(store, question.scopes):
                result = _seen(question, query, selected, choice, store)
                if is_last or selected.is_whole(store, question.scopes):
                    return result
    raise AssertionError("the last attempt returns")


def _view(question: Question, asked: Asked, store: Store) -> View:
    """Open the view of the store that the request asks about."""
    past = asked.past or "history" in question.include
    return question.moments.view(store, question.scopes, question.at, past=past)


def _seen(question: Question, asked: Asked, through: Lens, choice: Choice, store: Store) -> _Answer:
    """Search, rank and build the hits with the selected models, while the store does not change."""
    view = _view(question, asked, store)
    allowed_statuses, allowed_types = statuses(question.include), memory_types(question.mode)
    score_terms = tilts(asked, store.encodings.speakers(question.scopes), question.assistant, through.recipe.prior)
    if question.moments:
        candidate_filter = admitted_then(question.moments, view, question.scopes, allowed_statuses, allowed_types)
        search = Gathering(asked, candidate_filter, through, store, score_terms)
        candidates = candidates_then(search, view, allowed_statuses, allowed_types, ENOUGH * (question.k + SPARE))
    else:
        candidate_filter = Admitted(
            scopes=question.scopes, statuses=allowed_statuses, memory_types=allowed_types, at=question.at
        )
        search = Gathering(asked, candidate_filter, through, store, score_terms)
        candidates = _candidates(question, search, view)
    fuse(candidates, through.recipe, closely=not question.fast)
    if not question.fast:
        rerank(candidates, asked.meant, through, store)
        if not question.moments:
            candidates += _hopped(candidates, search, asked, through, view)
        second_opinion(candidates, asked.text, choice.reranker, view)
    states = _state_terms(candidates, question, asked, through, view)
    superseded = shelf(asked, candidate_filter, through, view, candidates, closely=not question.fast)
    hit_list = _hits(candidates, superseded, question, asked, through, view, states)
    shown_keys = {(hit.atom.id, hit.passage.n) for hit in hit_list.hits}
    shown_candidates = [candidate for candidate in candidates if candidate.key in shown_keys]
    filtered = Counter(hit_list.filtered) + Counter({} if question.moments else dict(search.withheld(shown_candidates)))
    description = _told(asked, question.moments)
    return _Answer(hit_list.hits, through.name, description, view.position, tuple(sorted(filtered.items())))


def _state_terms(
    candidates: Sequence[Candidate], question: Question, asked: Asked, through: Lens, view: View
) -> StateTerms | None:
    """Add the terms of the state model to the candidates; return None if no state model applies."""
    if through.state is None or question.fast or asked.windows.said:
        return None
    asks_past = view.past and not question.moments
    return add_state_terms(candidates, asked.meant, through.state, through.thawed, view, past=asks_past)


def _candidates(question: Question, gathering: Gathering, view: View) -> list[Candidate]:
    """Find the candidates; where stale ones are left out, search further until enough fresh ones are found."""
    if question.filter_stale:
        return alive_candidates(gathering, view, ENOUGH * (question.k + SPARE))
    return gathering.candidates()


def _hopped(
    candidates: Sequence[Candidate], gathering: Gathering, asked: Asked, through: Lens, view: View
) -> list[Candidate]:
    """Return facts that no channel found but that names in the best candidates lead to. Candidates that are part of
    such a chain gain a term."""
    chained_facts = hops(asked, candidates, through, view, gathering.search)
    if not chained_facts:
        return []
    added = gathering.brought(sorted(chained_facts.keys() - {candidate.key for candidate in candidates}))
    fuse(added, through.recipe, closely=True)
    rerank(added, asked.meant, through, view.store)
    add_hops([*candidates, *added], chained_facts)
    return added


def _hits(
    candidates: Sequence[Candidate],
    also: Sequence[Candidate],
    question: Question,
    asked: Asked,
    through: Lens,
    view: View,
    states: StateTerms | None,
) -> _Hits:
    """Return the best k hits with their weights. A passage that says the same as a better one is folded into it."""
    all_candidates = [*candidates, *also]
    ids = {candidate.key[0] for candidate in all_candidates}
    signals, ageing = view.store.ledger.signals_of(ids), view.lives(ids)
    weights = {
        candidate.key: weigh(candidate.near, signals.get(candidate.key[0], Signals()), ageing.get(candidate.key[0]))
        for candidate in all_candidates
    }
    ordered = sorted(all_candidates, key=lambda candidate: _order(candidate, total(weights[candidate.key])))
    options = Following(
        shelf=frozenset(candidate.key for candidate in also),
        kinds=memory_types(question.mode),
        history="history" in question.include,
    )
    words = {term.token: term.word for term in asked.terms}
    selection = slots(ordered, question.k, view, options, filter_stale=question.filter_stale)
    best = {n: selection.there[n] for n in selection.taken}
    is_relevant = answering(selection.there, candidates, through.recipe, view, closely=not question.fast, states=states)
    paths = view.store.ledger.paths_of({result.atom.id for result in best.values()})
    ranks = _ranks(candidates)
    precisions = coarse({result.candidate.key for result in best.values()}, asked.meant, through, view.store)
    hits = tuple(
        _hit(
            result,
            paths.get(result.atom.id),
            weights[result.candidate.key],
            words,
            is_relevant,
            ranks(result.candidate),
            selection.folded(n),
            precisions.get(result.candidate.key),
            states,
        )
        for n, result in best.items()
    )
    ranks_by_key = {candidate.key: n for n, candidate in enumerate(ordered)}
    last_rank = max((ranks_by_key[result.candidate.key] for result in best.values()), default=0)
    return _Hits(hits, counted(selection.left_out, last_rank if len(hits) == question.k else None))


def _ranks(candidates: Sequence[Candidate]) -> Callable[[Candidate], tuple[tuple[str, int, float], ...]]:
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


def _hit(
    found: Found,
    path: str | None,
    weights: tuple[tuple[str, float], ...],
    words: dict[str, str],
    relevant: Callable[[Found], bool],
    channels: tuple[tuple[str, int, float], ...],
    folded: tuple[Key, ...],
    known: Coarse | None,
    states: StateTerms | None,
) -> Hit:
    """Build a hit from a result passage and everything that explains its score."""
    candidate, atom, match = found.candidate, found.atom, found.candidate.match
    earlier = states.earlier.get(found.key) if states else None
    scale = candidate.terms["text"] / match.score if match is not None and match.score else 0.0
    return Hit(
        atom,
        found.passage,
        path,
        tuple(candidate.terms.items()),
        weights,
        words=tuple((words[token], scale * part) for token, part in match.parts) if match else (),
        channels=channels,
        folded=folded,
        links=tuple((edge.source, edge.name, edge.target, edge.confidence) for edge in candidate.links),
        marks=(*found.shown.marks, *(_EARLIER if earlier else ())),
        relevant=relevant(found),
        statements=tuple(found.statements),
        shown=found.shown.text,
        transitions=found.shown.transitions,
        instead_of=found.instead_of,
        before=found.before,
        coarse=known,
        earlier=earlier,
        answers=states.answers.get(candidate.key) if states else None,
    )


def _plain(question: Question, view: View, standing: frozenset[Status], types: frozenset[MemoryType]) -> _Hits:
    """Rank whole atoms with the plain ranking, without an index."""
    atom_filter = Filter(scopes=question.scopes, memory_types=types)
    if question.moments:
        atoms = [atom for atom in believed(view, atom_filter) if admits(view, atom, standing)]
    else:
        atoms = view.store.read(replace(atom_filter, statuses=standing, valid_at=question.at))
    sources = view.atoms(source for atom in atoms if is_summary(atom) for source in atom.derived_from)
    outdated = {atom.id for atom in atoms if is_summary(atom) and is_outdated(atom, sources)}
    searchable = [
        atom for atom in atoms if atom.is_searched and (atom.id not in outdated or "history" in question.include)
    ]
    ranked = plain(searchable, question.text)
    stale = stale_among((plain_result.atom for plain_result in ranked), view) if question.filter_stale else {}
    best = _left([plain_result for plain_result in ranked if plain_result.atom.id not in stale], question, view)
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
            shown=rendered.text if plain_result.atom.is_segment else None,
            transitions=rendered.transitions,
        )
        for plain_result, rendered in best
    )
    left_out = [
        LeftOut(n, stale[plain_result.atom.id])
        for n, plain_result in enumerate(ranked)
        if plain_result.atom.id in stale
    ]
    return _Hits(hits, counted(left_out, ranked.index(best[-1][0]) if len(hits) == question.k else None))


def _left(ranked: Sequence[Ranked], question: Question, view: View) -> list[tuple[Ranked, Shown]]:
    """Return the best k atoms that have text left after ended statements are removed."""
    selected: list[tuple[Ranked, Shown]] = []
    for start in range(0, len(ranked), question.k):
        batch = ranked[start : start + question.k]
        rendered_batch = as_whole(
            [plain_result.atom for plain_result in batch], view, history="history" in question.include
        )
        selected += [
            (plain_result, rendered)
            for plain_result, rendered in zip(batch, rendered_batch, strict=True)
            if rendered.is_left
        ]
        if len(selected) >= question.k:
            break
    return selected[: question.k]


def _told(asked: Asked, moments: Moments) -> tuple[tuple[str, str], ...]:
    """Return what was understood of a question, as named values for the answer."""
    description = moments.told() | {
        "shape": asked.shape.value,
        "speakers": ", ".join(asked.speakers),
        "time": ", ".join(asked.windows.said),
        "asks the assistant": "yes" if asked.asks_assistant else "",
        "about the past": "yes" if asked.past else "",
    }
    return tuple((name, value) for name, value in description.items() if value)


def _order(candidate: Candidate, weight: float) -> tuple[float, int, Key]:
    """Return the sort key: by score, then the newer record, then id and passage number. The same question always gives
    the same order."""
    return -candidate.relevance * weight, -candidate.near.recorded_ms, candidate.key
