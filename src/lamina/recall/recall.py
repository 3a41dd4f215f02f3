"""The read path: understand, gather, fuse, rerank, weigh, order, and check that nothing shown is stale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId
from lamina.atom.passage import Passage
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.models.choose import Choice
from lamina.recall.asked import Asked
from lamina.recall.candidate import Candidate
from lamina.recall.collapse import Said, collapse
from lamina.recall.follow import Found, with_their_words
from lamina.recall.fuse import fuse
from lamina.recall.gather import Admitted, Gathering, tilts
from lamina.recall.hit import Core, Hit, Recall
from lamina.recall.lens import Lens, look
from lamina.recall.plain import plain
from lamina.recall.recipe import Recipe, floor
from lamina.recall.rerank import rerank
from lamina.recall.second_opinion import second_opinion
from lamina.recall.understand import memory_types, statuses, understand
from lamina.recall.weigh import total, weigh
from lamina.store.base import Filter, Store
from lamina.store.encodings import Key

SPARE = 5
"""How many more candidates than asked for are read, in case some say the same."""

TRIES = 3
"""How often a question is asked again because the models had not seen every passage that was found."""

Refresh = Callable[[Sequence[AtomId]], bool]
"""Brings the store up to date with these atoms' files; tells whether anything had changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, of whom, and what may answer. `assistant` is what a machine's words are worth beforehand."""

    text: str
    scopes: tuple[Scope, ...]
    k: int
    mode: str
    include: tuple[str, ...]
    at: datetime
    fast: bool = False
    ranking: str = "full"
    assistant: float = 0.0


@dataclass(frozen=True, slots=True)
class _Answer:
    hits: tuple[Hit, ...]
    model: str
    understood: tuple[tuple[str, str], ...]
    filtered: tuple[tuple[str, int], ...] = ()


def recall(
    question: Question, store: Store, choice: Choice, refresh: Refresh, recall_id: str, core: Core = list
) -> Recall:  # fmt: skip
    """Find the passages that answer, best first. Hits whose file was edited are read again before they are shown."""
    answer = _answer(question, store, choice)
    while refresh([atom.id for hit in answer.hits for atom in (hit.atom, *hit.statements)]):
        answer = _answer(question, store, choice)
    return Recall(
        recall_id, question.text, answer.hits, store.position(), answer.model, question.at, answer.understood,
        answer.filtered, core,
    )  # fmt: skip


def _answer(question: Question, store: Store, choice: Choice, tries: int = TRIES) -> _Answer:
    asked = understand(question.text, store.encodings.speakers(question.scopes), question.at)
    admitted = Admitted(
        scopes=question.scopes, statuses=statuses(question.include), memory_types=memory_types(question.mode),
        at=question.at,
    )  # fmt: skip
    if asked.idle:
        return _Answer((), "none", _told(asked))
    if question.ranking == "plain":
        return _Answer(_plain(question, admitted, store), "plain", _told(asked))
    through = look(asked.meant, store, question.scopes, choice)
    with store.steady():
        leaning = tilts(asked, store.encodings.speakers(question.scopes), question.assistant, through.recipe.prior)
        gathering = Gathering(asked, admitted, through, store, leaning)
        candidates = gathering.candidates()
        fuse(candidates, through.recipe, closely=not question.fast)
        if not question.fast:
            rerank(candidates, asked.meant, through, store)
            second_opinion(candidates, asked.text, choice.reranker, store)
        hits = _hits(candidates, question, asked, through, store)
        shown = {(hit.atom.id, hit.passage.n) for hit in hits}
        filtered = gathering.withheld([each for each in candidates if each.key in shown])
    if tries > 1 and not through.is_whole(store, question.scopes):
        # Somebody wrote meanwhile, or the index was made anew: some passages were looked at without their vectors.
        return _answer(question, store, choice, tries - 1)
    return _Answer(hits, through.name, _told(asked), filtered)


def _relevant(candidates: Sequence[Candidate], recipe: Recipe, *, closely: bool) -> Callable[[Candidate], bool]:
    crowd = Counter(each.near.session for each in candidates)
    return lambda each: each.relevance >= floor(recipe, crowd[each.near.session], closely=closely)


def _hits(
    candidates: Sequence[Candidate], question: Question, asked: Asked, through: Lens, store: Store
) -> tuple[Hit, ...]:
    """The best k, each with its weights; what says the same as a better one is folded into it."""
    k, relevant = question.k, _relevant(candidates, through.recipe, closely=not question.fast)
    signals = store.ledger.signals_of({each.key[0] for each in candidates})
    weights = {each.key: weigh(each.near, signals.get(each.key[0], Signals())) for each in candidates}
    ordered = sorted(candidates, key=lambda each: _order(each, total(weights[each.key])))
    there = with_their_words(ordered, k + SPARE, store)
    slots = collapse([_said(each.atom, each.passage) for each in there])
    kept = slots.kept[:k]
    paths = store.ledger.paths_of({there[n].atom.id for n in kept})
    words, ranks = {term.token: term.word for term in asked.terms}, _ranks(candidates)
    return tuple(
        _hit(
            there[n], paths.get(there[n].atom.id), weights[there[n].candidate.key], words, relevant,
            ranks(there[n].candidate), tuple(there[other].candidate.key for other in slots.folded.get(n, ())),
        )
        for n in kept
    )  # fmt: skip


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


def _said(atom: Atom, passage: Passage) -> Said:
    if not atom.is_segment:
        return Said(passage.text, atom.subject, atom.kind)
    at = passage.at or atom.observed_at
    return Said(passage.text, atom.subject, atom.kind, passage.speaker or "", at.date())


def _hit(
    found: Found, path: str | None, weights: tuple[tuple[str, float], ...], words: dict[str, str],
    relevant: Callable[[Candidate], bool], channels: tuple[tuple[str, int, float], ...], folded: tuple[Key, ...],
) -> Hit:  # fmt: skip
    candidate, atom, match = found.candidate, found.atom, found.candidate.match
    scale = candidate.terms["text"] / match.score if match is not None and match.score else 0.0
    return Hit(
        atom, found.passage, path, tuple(candidate.terms.items()), weights,
        words=tuple((words[token], scale * part) for token, part in match.parts) if match else (),
        channels=channels, folded=folded,
        links=tuple((edge.source, edge.name, edge.target, edge.confidence) for edge in candidate.links),
        marks=() if atom.status is Status.ACTIVE else (atom.status.value,),
        relevant=relevant(candidate), statements=tuple(found.statements),
    )  # fmt: skip


def _plain(question: Question, admitted: Admitted, store: Store) -> tuple[Hit, ...]:
    """The plain ranking, over whole atoms and without an index."""
    atoms = store.read(
        Filter(
            scopes=admitted.scopes, statuses=admitted.statuses, memory_types=admitted.memory_types,
            valid_at=admitted.at,
        )
    )  # fmt: skip
    best = plain([each for each in atoms if each.is_searched], question.text)[: question.k]
    paths = store.ledger.paths_of(each.atom.id for each in best)
    return tuple(
        Hit(
            each.atom, Passage(1, each.atom.content, 0, len(each.atom.content), at=each.atom.observed_at),
            paths.get(each.atom.id), each.terms, (), relevant=each.terms[0][1] + each.terms[1][1] > 0,
        )
        for each in best
    )  # fmt: skip


def _told(asked: Asked) -> tuple[tuple[str, str], ...]:
    told = {
        "shape": asked.shape.value, "speakers": ", ".join(asked.speakers), "time": ", ".join(asked.windows.said),
        "asks the assistant": "yes" if asked.asks_assistant else "", "about the past": "yes" if asked.past else "",
    }  # fmt: skip
    return tuple((name, value) for name, value in told.items() if value)


def _order(candidate: Candidate, weight: float) -> tuple[float, int, Key]:
    """By score, then the younger record, then id and place; the same question always gives the same order."""
    return -candidate.relevance * weight, -candidate.near.recorded_ms, candidate.key
