"""The read path: understand, gather, fuse, rerank, weigh, order, and check that nothing shown is stale."""

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
"""How many times as many candidates as are read must have stood at another time before no more are looked for."""

_EARLIER = (Mark.EARLIER.value,)

TRIES = 3
"""How often a question is asked again because the models had not seen every passage that was found."""

Refresh = Callable[[Sequence[AtomId]], bool]
"""Brings the store up to date with these atoms' files; tells whether anything had changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, of whom, and what may answer. `assistant` is what a machine's words are worth beforehand;
    `filter_stale` leaves out what is stale or laid aside."""

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
    hits: tuple[Hit, ...]
    filtered: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Answer:
    hits: tuple[Hit, ...]
    model: str
    understood: tuple[tuple[str, str], ...]
    position: int
    filtered: tuple[tuple[str, int], ...] = ()


def recall(
    question: Question, store: Store, choice: Choice, refresh: Refresh, recall_id: str, core: Core = list
) -> Recall:
    """Find the passages that answer, best first. Hits whose file was edited are read again before they are shown."""
    answer = _answer(question, store, choice)
    while refresh([atom.id for hit in answer.hits for atom in (hit.atom, *hit.statements)]):
        answer = _answer(question, store, choice)
    return Recall(
        recall_id,
        question.text,
        answer.hits,
        answer.position,
        answer.model,
        question.at,
        answer.understood,
        answer.filtered,
        core,
    )


def _answer(question: Question, store: Store, choice: Choice) -> _Answer:
    at = question.moments.as_of or question.moments.known_at or question.at
    asked = understand(question.text, store.encodings.speakers(question.scopes), at)
    if asked.idle:
        return _Answer((), "none", _told(asked, question.moments), _view(question, asked, store).position)
    if question.ranking == "plain":
        view = _view(question, asked, store)
        plainly = _plain(question, view, statuses(question.include), memory_types(question.mode))
        told = _told(asked, question.moments)
        return _Answer(plainly.hits, "plain", told, view.position, tuple(plainly.filtered.items()))
    for tries in range(TRIES):
        through, last = look(asked.meant, store, question.scopes, choice), tries == TRIES - 1
        with store.steady():
            # Where somebody wrote since, some passages would be looked at without their vectors; so they would where
            # the index turns out damaged on the way and is made anew.
            if last or through.is_whole(store, question.scopes):
                found = _seen(question, asked, through, choice, store)
                if last or through.is_whole(store, question.scopes):
                    return found
    raise AssertionError("the last try counts")


def _view(question: Question, asked: Asked, store: Store) -> View:
    past = asked.past or "history" in question.include
    return question.moments.view(store, question.scopes, question.at, past=past)


def _seen(question: Question, asked: Asked, through: Lens, choice: Choice, store: Store) -> _Answer:
    """What is found through a lens while nothing changes: gathered, fused, compared closely, weighed."""
    view, standing, types = (_view(question, asked, store), statuses(question.include), memory_types(question.mode))
    leaning = tilts(asked, store.encodings.speakers(question.scopes), question.assistant, through.recipe.prior)
    if question.moments:
        admitted = admitted_then(question.moments, view, question.scopes, standing, types)
        gathering = Gathering(asked, admitted, through, store, leaning)
        candidates = candidates_then(gathering, view, standing, types, ENOUGH * (question.k + SPARE))
    else:
        admitted = Admitted(scopes=question.scopes, statuses=standing, memory_types=types, at=question.at)
        gathering = Gathering(asked, admitted, through, store, leaning)
        candidates = _candidates(question, gathering, view)
    fuse(candidates, through.recipe, closely=not question.fast)
    if not question.fast:
        rerank(candidates, asked.meant, through, store)
        if not question.moments:
            candidates += _hopped(candidates, gathering, asked, through, view)
        second_opinion(candidates, asked.text, choice.reranker, view)
    states = _state_terms(candidates, question, asked, through, view)
    also = shelf(asked, admitted, through, view, candidates, closely=not question.fast)
    found = _hits(candidates, also, question, asked, through, view, states)
    shown = {(hit.atom.id, hit.passage.n) for hit in found.hits}
    near = [candidate for candidate in candidates if candidate.key in shown]
    filtered = Counter(found.filtered) + Counter({} if question.moments else dict(gathering.withheld(near)))
    told = _told(asked, question.moments)
    return _Answer(found.hits, through.name, told, view.position, tuple(sorted(filtered.items())))


def _state_terms(
    candidates: Sequence[Candidate], question: Question, asked: Asked, through: Lens, view: View
) -> StateTerms | None:
    """Order what states the slot asked for, newest first; None where no state model can be used."""
    if through.state is None or question.fast or asked.windows.said:
        return None
    past = view.past and not question.moments
    return add_state_terms(candidates, asked.meant, through.state, through.thawed, view, past=past)


def _candidates(question: Question, gathering: Gathering, view: View) -> list[Candidate]:
    if question.filter_stale:
        return alive_candidates(gathering, view, ENOUGH * (question.k + SPARE))
    return gathering.candidates()


def _hopped(
    candidates: Sequence[Candidate], gathering: Gathering, asked: Asked, through: Lens, view: View
) -> list[Candidate]:
    """Facts that names in the best candidates lead to and no channel found; the candidates gain by it, too."""
    reached = hops(asked, candidates, through, view, gathering.search)
    if not reached:
        return []
    brought = gathering.brought(sorted(reached.keys() - {candidate.key for candidate in candidates}))
    fuse(brought, through.recipe, closely=True)
    rerank(brought, asked.meant, through, view.store)
    add_hops([*candidates, *brought], reached)
    return brought


def _hits(
    candidates: Sequence[Candidate],
    also: Sequence[Candidate],
    question: Question,
    asked: Asked,
    through: Lens,
    view: View,
    states: StateTerms | None,
) -> _Hits:
    """The best k, each with its weights; what says the same as a better one is folded into it."""
    every = [*candidates, *also]
    ids = {each.key[0] for each in every}
    signals, lives = view.store.ledger.signals_of(ids), view.lives(ids)
    weights = {
        each.key: weigh(each.near, signals.get(each.key[0], Signals()), lives.get(each.key[0])) for each in every
    }
    ordered = sorted(every, key=lambda each: _order(each, total(weights[each.key])))
    following = Following(
        shelf=frozenset(candidate.key for candidate in also),
        kinds=memory_types(question.mode),
        history="history" in question.include,
    )
    words = {term.token: term.word for term in asked.terms}
    found = slots(ordered, question.k, view, following, filter_stale=question.filter_stale)
    best = {n: found.there[n] for n in found.taken}
    relevant = answering(found.there, candidates, through.recipe, view, closely=not question.fast, states=states)
    paths = view.store.ledger.paths_of({each.atom.id for each in best.values()})
    ranks = _ranks(candidates)
    known = coarse({each.candidate.key for each in best.values()}, asked.meant, through, view.store)
    hits = tuple(
        _hit(
            each,
            paths.get(each.atom.id),
            weights[each.candidate.key],
            words,
            relevant,
            ranks(each.candidate),
            found.folded(n),
            known.get(each.candidate.key),
            states,
        )
        for n, each in best.items()
    )
    place = {each.key: n for n, each in enumerate(ordered)}
    last = max((place[each.candidate.key] for each in best.values()), default=0)
    return _Hits(hits, counted(found.left_out, last if len(hits) == question.k else None))


def _ranks(candidates: Sequence[Candidate]) -> Callable[[Candidate], tuple[tuple[str, int, float], ...]]:
    """How each channel alone would have ordered the candidates."""
    scores = {
        "text": {each.key: each.match.score for each in candidates if each.match is not None},
        "vector": {each.key: each.near.cosine for each in candidates if each.near.cosine > 0},
        "graph": {each.key: each.terms["graph"] for each in candidates if "graph" in each.terms},
    }
    ordered = {name: sorted(found.values(), reverse=True) for name, found in scores.items()}

    def of(candidate: Candidate) -> tuple[tuple[str, int, float], ...]:
        own = ((name, found[candidate.key]) for name, found in scores.items() if candidate.key in found)
        return tuple((name, ordered[name].index(score) + 1, score) for name, score in own)

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
    """The plain ranking, over whole atoms and without an index."""
    wanted = Filter(scopes=question.scopes, memory_types=types)
    if question.moments:
        atoms = [each for each in believed(view, wanted) if admits(view, each, standing)]
    else:
        atoms = view.store.read(replace(wanted, statuses=standing, valid_at=question.at))
    known = view.atoms(source for atom in atoms if is_summary(atom) for source in atom.derived_from)
    over = {atom.id for atom in atoms if is_summary(atom) and is_outdated(atom, known)}
    shown = [atom for atom in atoms if atom.is_searched and (atom.id not in over or "history" in question.include)]
    ranked = plain(shown, question.text)
    stale = stale_among((each.atom for each in ranked), view) if question.filter_stale else {}
    best = _left([each for each in ranked if each.atom.id not in stale], question, view)
    paths = view.store.ledger.paths_of(each.atom.id for each, _ in best)
    hits = tuple(
        Hit(
            each.atom,
            Passage(1, each.atom.content, 0, len(each.atom.content), at=each.atom.observed_at),
            paths.get(each.atom.id),
            each.terms,
            (),
            relevant=each.terms[0][1] + each.terms[1][1] > 0,
            marks=shown.marks,
            shown=shown.text if each.atom.is_segment else None,
            transitions=shown.transitions,
        )
        for each, shown in best
    )
    left_out = [LeftOut(n, stale[each.atom.id]) for n, each in enumerate(ranked) if each.atom.id in stale]
    return _Hits(hits, counted(left_out, ranked.index(best[-1][0]) if len(hits) == question.k else None))


def _left(ranked: Sequence[Ranked], question: Question, view: View) -> list[tuple[Ranked, Shown]]:
    """The best k of which anything is left without what no longer holds."""
    found: list[tuple[Ranked, Shown]] = []
    for start in range(0, len(ranked), question.k):
        some = ranked[start : start + question.k]
        told = as_whole([each.atom for each in some], view, history="history" in question.include)
        found += [(each, shown) for each, shown in zip(some, told, strict=True) if shown.is_left]
        if len(found) >= question.k:
            break
    return found[: question.k]


def _told(asked: Asked, moments: Moments) -> tuple[tuple[str, str], ...]:
    told = moments.told() | {
        "shape": asked.shape.value,
        "speakers": ", ".join(asked.speakers),
        "time": ", ".join(asked.windows.said),
        "asks the assistant": "yes" if asked.asks_assistant else "",
        "about the past": "yes" if asked.past else "",
    }
    return tuple((name, value) for name, value in told.items() if value)


def _order(candidate: Candidate, weight: float) -> tuple[float, int, Key]:
    """By score, then the younger record, then id and place; the same question always gives the same order."""
    return -candidate.relevance * weight, -candidate.near.recorded_ms, candidate.key
