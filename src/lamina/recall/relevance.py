"""Which hits count as answers: those above the floor, and of facts that go by names, those that a question names.

A fact somebody wrote down with the names it goes by wants to be found by them. Named in a question it is an answer,
however little else they share, and so is what it depends on. Where a question names such facts, one it does not name
must lie very near to count beside them; what was captured from talk goes by no names and is judged by its words alone.
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
"""The terms of a fact whose subject, or one of whose other names, a question names."""


def answering(
    found: Sequence[Found],
    candidates: Sequence[Candidate],
    recipe: Recipe,
    view: View,
    *,
    closely: bool,
    states: StateTerms | None = None,
) -> Callable[[Found], bool]:
    """Tells of each hit whether it counts as an answer: by its probability, where the state model gave one."""
    crowd = Counter(candidate.near.session for candidate in candidates)
    called = {each.atom.id for each in found if goes_by_names(each.atom) and _is_called(each)}
    needed = {
        edge.target
        for edge in (view.store.edges(sorted(called), view.scopes) if called else ())
        if edge.name == RelationName.DEPENDS_ON and edge.source in called
    }

    def counts(each: Found) -> bool:
        near = _relevance_without_states(each.candidate)
        chance = states.answers.get(each.candidate.key) if states is not None else None
        is_talk = each.atom.is_segment or bool(each.atom.evidence)
        match = each.candidate.match
        holds_all = states is not None and match is not None and len(match.parts) >= max(1, states.words)
        if chance is not None and states is not None and is_talk and not holds_all:
            return chance >= states.threshold
        if not goes_by_names(each.atom):
            return near >= floor(recipe, crowd[each.candidate.near.session], closely=closely)
        if each.atom.id in called or each.atom.id in needed:
            return True
        return near >= recipe.unnamed[bool(called)]

    return counts


def _relevance_without_states(candidate: Candidate) -> float:
    """Return the relevance for which the floors were chosen: state terms order, they do not make a hit an answer."""
    return max(0.0, sum(amount for name, amount in candidate.terms.items() if not name.startswith(STATE_TERM)))


def goes_by_names(atom: Atom) -> bool:
    """Whether somebody wrote a fact down with the names it goes by; what was read out of words has evidence instead."""
    return bool(atom.entities) and not atom.evidence and not atom.is_segment


def _is_called(found: Found) -> bool:
    """Whether the question names a fact, or what it took the place of."""
    return found.instead_of is not None or any(name in found.candidate.terms for name in NAMED)
