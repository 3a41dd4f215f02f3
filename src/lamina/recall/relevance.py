"""Decides which hits count as answers: those above the floor and, of facts with declared names, those that the question
names.

A fact that was written with entity names is meant to be found by them. If the question names it, it is an answer,
however little else they share, and so is what it depends on. If the question names such facts, others must be very
similar to count beside them. What was captured from conversations has no declared names and is judged by its words
alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from lamina.atom.atom import Atom
from lamina.atom.relation import RelationName
from lamina.recall.candidate import Candidate
from lamina.recall.follow import Found
from lamina.recall.recipe import Recipe, floor
from lamina.recall.state_terms import STATE_TERM, StateTerms
from lamina.recall.view import View

NAMED = ("exact", "entity")
"""The terms of a fact whose subject, or one of whose entities, the question names."""


def answering(
    found: Sequence[Found],
    candidates: Sequence[Candidate],
    recipe: Recipe,
    view: View,
    *,
    closely: bool,
    states: StateTerms | None = None,
) -> Callable[[Found], bool]:
    """Return a function that says whether a result counts as an answer: by the probability of the state model, if it
    gave one."""
    session_counts = Counter(candidate.near.session for candidate in candidates)
    named_ids = {result.atom.id for result in found if goes_by_names(result.atom) and _is_called(result)}
    needed = {
        edge.target
        for edge in (view.store.edges(sorted(named_ids), view.scopes) if named_ids else ())
        if edge.name == RelationName.DEPENDS_ON and edge.source in named_ids
    }

    def counts(result: Found) -> bool:
        relevance = _relevance_without_states(result.candidate)
        chance = states.answers.get(result.candidate.key) if states is not None else None
        is_talk = result.atom.is_segment or bool(result.atom.evidence)
        match = result.candidate.match
        holds_all = states is not None and match is not None and len(match.parts) >= max(1, states.words)
        if chance is not None and states is not None and is_talk and not holds_all:
            return chance >= states.threshold
        if not goes_by_names(result.atom):
            return relevance >= floor(recipe, session_counts[result.candidate.near.session], closely=closely)
        if result.atom.id in named_ids or result.atom.id in needed:
            return True
        return relevance >= recipe.unnamed[bool(named_ids)]

    return counts


def _relevance_without_states(candidate: Candidate) -> float:
    """Return the relevance for which the floors were chosen: state terms change the order, they do not make a hit an
    answer."""
    return max(0.0, sum(amount for name, amount in candidate.terms.items() if not name.startswith(STATE_TERM)))


def goes_by_names(atom: Atom) -> bool:
    """Return whether a fact was written with entity names; what was extracted from words has evidence instead."""
    return bool(atom.entities) and not atom.evidence and not atom.is_segment


def _is_called(found: Found) -> bool:
    """Return whether the question names a fact, or the one it replaced."""
    return found.instead_of is not None or any(name in found.candidate.terms for name in NAMED)
