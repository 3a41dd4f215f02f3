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
from lamina.recall.recall_view import RecallView
from lamina.recall.result_builder import ResultPassage
from lamina.recall.scoring_profiles import ScoringProfile, relevance_floor
from lamina.recall.state_terms import STATE_TERM, StateTerms

NAMING_TERMS = ("exact", "entity")
"""The terms of a fact whose subject, or one of whose entities, the question names."""


def build_relevance_test(
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
        result.atom.id for result in results if has_declared_names(result.atom) and _is_named_in_question(result)
    }
    needed = {
        edge.target
        for edge in (view.store.edges(sorted(named_ids), view.scopes) if named_ids else ())
        if edge.name == RelationName.DEPENDS_ON and edge.source in named_ids
    }

    def counts(result: ResultPassage) -> bool:
        relevance = _relevance_without_states(result.candidate)
        chance = states.answers.get(result.candidate.key) if states is not None else None
        is_talk = result.atom.is_segment or bool(result.atom.evidence)
        match = result.candidate.match
        holds_all = states is not None and match is not None and len(match.token_scores) >= max(1, states.word_count)
        if chance is not None and states is not None and is_talk and not holds_all:
            return chance >= states.threshold
        if not has_declared_names(result.atom):
            return relevance >= relevance_floor(
                profile, session_counts[result.candidate.near.session], compare_tokens=compare_tokens
            )
        if result.atom.id in named_ids or result.atom.id in needed:
            return True
        return relevance >= profile.unnamed_floor[bool(named_ids)]

    return counts


def _relevance_without_states(candidate: Candidate) -> float:
    """Return the relevance for which the floors were chosen: state terms change the order, they do not make a hit an
    answer."""
    return max(0.0, sum(amount for name, amount in candidate.terms.items() if not name.startswith(STATE_TERM)))


def has_declared_names(atom: Atom) -> bool:
    """Return whether a fact was written with entity names; what was extracted from words has evidence instead."""
    return bool(atom.entities) and not atom.evidence and not atom.is_segment


def _is_named_in_question(result: ResultPassage) -> bool:
    """Return whether the question names a fact, or the one it replaced."""
    return result.replaced_passage is not None or any(name in result.candidate.terms for name in NAMING_TERMS)
