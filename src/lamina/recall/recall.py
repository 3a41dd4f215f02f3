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
    best = sorted(matches, key=_order)[: question.k]
    ids = tuple(dict.fromkeys(match.atom_id for match in best))
    atoms = {atom.id: atom for atom in store.read(Filter(scopes=question.scopes, ids=ids))}
    passages = {atom.id: {each.n: each for each in passages_of(atom)} for atom in atoms.values()}
    paths = store.ledger.paths_of(ids)
    words = {term.token: term.word for term in terms}
    return [
        _hit(atoms[match.atom_id], passages[match.atom_id][match.n], paths.get(match.atom_id), match, words)
        for match in best
        if match.n in passages.get(match.atom_id, {})
    ]


def _hit(atom: Atom, passage: Passage, path: str | None, match: Match, words: dict[str, str]) -> Hit:
    return Hit(
        atom, passage, path,
        terms=(("text", TEXT_SCALE * match.score),),
        weights=(("status", _status_weight(match)),),
        words=tuple((words[token], TEXT_SCALE * part) for token, part in match.parts),
        marks=() if match.status is Status.ACTIVE else (match.status.value,),
    )  # fmt: skip


def _status_weight(match: Match) -> float:
    return RECALL_WEIGHT.get(match.status, SHELF_WEIGHT)


def _order(match: Match) -> tuple[float, float, str, int]:
    """By score, then the younger record, then id and place; the same question always gives the same order."""
    score = max(0.0, TEXT_SCALE * match.score) * _status_weight(match)
    return -score, -match.recorded_at.timestamp(), match.atom_id, match.n
