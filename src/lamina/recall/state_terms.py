"""What the state model adds to recall: terms of the ranker, marks of earlier values, and the probability that a hit
answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage
from lamina.atom.trust import statements_wait
from lamina.models.state_encoder import StateEncoder, unpack_states
from lamina.models.state_model import QuestionState
from lamina.models.thaw import Thawed
from lamina.recall.candidate import Candidate, passages_read
from lamina.recall.marks import Earlier
from lamina.recall.view import View
from lamina.states.answering import answer_features
from lamina.states.assertion import Assertion, assertions_of, names_in
from lamina.states.decisions import Decisions, load_decisions
from lamina.states.ranking import (
    FEATURES,
    CloseView,
    StateCandidate,
    StateView,
    earlier_features,
    read_closely,
    state_features,
    texts_to_read,
    view_states,
)
from lamina.store.encodings import Key, unencoded
from lamina.text.analyse import content_words
from lamina.text.roles import is_assistant

STATE_TERM = "state "
"""The prefix of the names of terms that the state model and the list reader add."""
LOOKED_AT = 30
"""How many of the best candidates are compared with each other."""


@dataclass(frozen=True, slots=True)
class StateTerms:
    """The results for the candidates: which are earlier values, and the probability that each answers."""

    earlier: Mapping[Key, Earlier] = field(default_factory=dict)
    answers: Mapping[Key, float] = field(default_factory=dict)
    threshold: float = 0.0
    words: int = 0
    """How many words of the question carry meaning."""


def add_state_terms(
    candidates: Sequence[Candidate], meant: str, encoder: StateEncoder, thawed: Thawed, view: View, *, past: bool
) -> StateTerms:
    """Add the state terms to the best candidates and return their marks. `asks_past`: the question is about another
    time."""
    best = sorted(candidates, key=lambda item: (-item.relevance, item.key))[:LOOKED_AT]
    passages_by_key = passages_read(best, view)
    best = [
        candidate
        for candidate in best
        if candidate.key in passages_by_key
        and not _is_shown_with_its_words(passages_by_key[candidate.key][0], passages_by_key)
    ]
    if not best:
        return StateTerms()
    decisions = load_decisions(encoder.states.name)
    question = encoder.asked(meant)
    assertions = _assertions(best, passages_by_key, encoder, thawed, view)
    passages = [passages_by_key[candidate.key][1] for candidate in best]
    texts = texts_to_read([(passage.text, passage.speaker or "") for passage in passages])
    state_candidates = [
        StateCandidate(item.relevance, assertions[item.key], text, item.near.at_ms)
        for item, text in zip(best, texts, strict=True)
    ]
    names = names_in(meant)
    state_view = view_states(question, state_candidates, names)
    readings = read_closely(meant, question, state_candidates, state_view, encoder.lists, decisions.gate, names)
    chances = decisions.answers.probabilities(
        answer_features(question, state_view, readings, [candidate.terms for candidate in best])
    )
    _add(best, question, state_view, readings, decisions)
    answers = {item.key: float(chance) for item, chance in zip(best, chances, strict=True)}
    words = frozenset(content_words(meant))
    earlier = {} if past else _earlier(best, question, words, state_view, readings, decisions)
    return StateTerms(earlier, answers, decisions.answers.threshold, len(words))


def _is_shown_with_its_words(atom: Atom, read: Mapping[Key, tuple[Atom, Passage]]) -> bool:
    """Return whether a statement shares a hit with its source passage, which is ranked in its place."""
    return any((evidence.segment, evidence.passage) in read for evidence in atom.evidence)


def _assertions(
    best: Sequence[Candidate],
    read: Mapping[Key, tuple[Atom, Passage]],
    encoder: StateEncoder,
    thawed: Thawed,
    view: View,
) -> dict[Key, list[Assertion]]:
    """Return each candidate's sentences with the states that the model read from them."""
    packed = view.store.encodings.states(encoder.model.id, [candidate.near.digest for candidate in best])
    missing = [unencoded(*read[candidate.key]) for candidate in best if candidate.near.digest not in packed]
    packed |= thawed.states(encoder, missing)
    assertions: dict[Key, list[Assertion]] = {}
    for candidate in best:
        atom, passage = read[candidate.key]
        text = unencoded(atom, passage).text
        packed_states = packed.get(candidate.near.digest)
        is_usable = not is_assistant(passage.speaker) and not statements_wait(candidate.near.origin)
        states = (
            unpack_states(packed_states.data, encoder.states.dimensions)
            if packed_states is not None and is_usable
            else []
        )
        assertions[candidate.key] = assertions_of(
            text, states, candidate.near.speaker, candidate.near.at_ms, candidate.near.session
        )
    return assertions


def _add(
    best: Sequence[Candidate], question: QuestionState, seen: StateView, close: CloseView, decisions: Decisions
) -> None:
    """Add one term for each feature that matters."""
    amounts = state_features(question, seen, close, decisions.gate) * decisions.ranker
    for row, candidate in enumerate(best):
        for name, amount in zip(FEATURES, amounts[row].tolist(), strict=True):
            if abs(amount) >= 0.0005:
                candidate.terms[f"{STATE_TERM}{name.replace(':', '')}"] = amount


def _earlier(
    best: Sequence[Candidate],
    question: QuestionState,
    words: frozenset[str],
    seen: StateView,
    close: CloseView,
    decisions: Decisions,
) -> dict[Key, Earlier]:
    """Return the candidates that likely state an earlier value of a slot for which a newer candidate states another."""
    if question.asks_current < 0.5:
        return {}
    probabilities = decisions.earlier.probabilities(earlier_features(question, words, seen, close))
    earlier_values: dict[Key, Earlier] = {}
    for candidate, probability, newer in zip(best, probabilities.tolist(), close.outdated_by, strict=True):
        if newer is not None and probability >= decisions.earlier.threshold:
            successor = best[newer]
            until = datetime.fromtimestamp(successor.near.at_ms / 1000, UTC)
            earlier_values[candidate.key] = Earlier(successor.key[0], successor.key[1], until, round(probability, 2))
    return earlier_values
