"""The read path: understand, gather, weigh, order, and check that nothing shown is stale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.passage import Passage, passages_of
from lamina.atom.scope import Scope
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.recall.hit import Hit, Recall
from lamina.recall.understand import memory_types, statuses, understand
from lamina.store.base import Filter, Match, Store, TextQuery
from lamina.text.analyse import Term

TEXT_SCALE = 0.01
"""BM25 on the scale the other channels of a score have."""
SHELF_WEIGHT = 0.9
"""For what normal recall does not search and was asked for."""

Refresh = Callable[[Sequence[AtomId]], bool]
"""Brings the store up to date with these atoms' files; tells whether anything had changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, of whom, and what may answer."""

    text: str
    scopes: tuple[Scope, ...]
    k: int
    mode: str
    include: tuple[str, ...]
    at: datetime


def recall(question: Question, store: Store, refresh: Refresh, recall_id: str) -> Recall:
    """Find the passages that answer, best first. Hits whose file was edited are read again before they are shown."""
    terms = understand(question.text)
    hits = _ranked(question, terms, store)
    while refresh([hit.atom.id for hit in hits]):
        hits = _ranked(question, terms, store)
    return Recall(recall_id, question.text, tuple(hits), store.position(), "text", question.at)


def _ranked(question: Question, terms: Sequence[Term], store: Store) -> list[Hit]:
    matches = store.search(
        TextQuery(
            scopes=question.scopes, tokens=tuple(term.token for term in terms), statuses=statuses(question.include),
            memory_types=memory_types(question.mode), valid_at=question.at, limit=question.k,
        )
    )  # fmt: skip
    best = sorted(matches, key=lambda match: -match.score)
    # Weights only lower a score, so matches below the k-th can still move up; take all that might.
    floor = best[question.k - 1].score * min(SHELF_WEIGHT, *RECALL_WEIGHT.values()) if len(best) >= question.k else 0.0
    chosen = [match for match in best if match.score >= floor]
    atoms = _atoms(store, question.scopes, chosen)
    words = {term.token: term.word for term in terms}
    passages: dict[AtomId, dict[int, Passage]] = {}
    hits = []
    for match in chosen:
        atom = atoms.get(match.atom_id)
        if atom is None:
            continue
        if match.atom_id not in passages:
            passages[match.atom_id] = {each.n: each for each in passages_of(atom)}
        passage = passages[match.atom_id].get(match.n)
        if passage is not None:
            hits.append(_hit(atom, passage, match, words))
    hits.sort(key=_order)
    paths = store.ledger.paths_of({hit.atom.id for hit in hits[: question.k]})
    return [_placed(hit, paths.get(hit.atom.id)) for hit in hits[: question.k]]


def _atoms(store: Store, scopes: tuple[Scope, ...], matches: Sequence[Match]) -> dict[AtomId, Atom]:
    ids = tuple(dict.fromkeys(match.atom_id for match in matches))
    return {atom.id: atom for atom in store.read(Filter(scopes=scopes, ids=ids))}


def _hit(atom: Atom, passage: Passage, match: Match, words: dict[str, str]) -> Hit:
    weight = RECALL_WEIGHT.get(atom.status, SHELF_WEIGHT)
    marks = () if atom.status is Status.ACTIVE else (atom.status.value,)
    return Hit(
        atom, passage, None,
        terms=(("text", TEXT_SCALE * match.score),),
        weights=(("status", weight),),
        words=tuple((words[token], TEXT_SCALE * part) for token, part in match.parts),
        marks=marks,
    )  # fmt: skip


def _placed(hit: Hit, path: str | None) -> Hit:
    return Hit(hit.atom, hit.passage, path, hit.terms, hit.weights, hit.words, hit.marks)


def _order(hit: Hit) -> tuple[float, float, str, int]:
    recorded = hit.atom.recorded_at or hit.atom.observed_at
    return -hit.score, -recorded.timestamp(), hit.atom.id, hit.passage.n
