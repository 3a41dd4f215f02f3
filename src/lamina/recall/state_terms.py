"""What the state model adds to recall: terms of the ranker, marks of earlier values, how likely each hit answers."""

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
"""How the names of the terms begin that the state model and the list reader add."""
LOOKED_AT = 30
"""So many of the best candidates are compared with each other."""


@dataclass(frozen=True, slots=True)
class StateTerms:
    """What was found out about the candidates: which of them are earlier values, and how likely each answers."""

    earlier: Mapping[Key, Earlier] = field(default_factory=dict)
    answers: Mapping[Key, float] = field(default_factory=dict)
    threshold: float = 0.0
    words: int = 0
    """How many words of the question carry meaning."""


def add_state_terms(
    candidates: Sequence[Candidate], meant: str, encoder: StateEncoder, thawed: Thawed, view: View, *, past: bool
) -> StateTerms:
    """Add the state terms to the best candidates and return their marks; `past`: whether another time is asked for."""
    best = sorted(candidates, key=lambda each: (-each.relevance, each.key))[:LOOKED_AT]
    read = passages_read(best, view)
    best = [
        candidate
        for candidate in best
        if candidate.key in read and not _is_shown_with_its_words(read[candidate.key][0], read)
    ]
    if not best:
        return StateTerms()
    decisions = load_decisions(encoder.states.name)
    question = encoder.asked(meant)
    assertions = _assertions(best, read, encoder, thawed, view)
    passages = [read[candidate.key][1] for candidate in best]
    texts = texts_to_read([(passage.text, passage.speaker or "") for passage in passages])
    compared = [
        StateCandidate(each.relevance, assertions[each.key], text, each.near.at_ms)
        for each, text in zip(best, texts, strict=True)
    ]
    names = names_in(meant)
    seen = view_states(question, compared, names)
    close = read_closely(meant, question, compared, seen, encoder.lists, decisions.gate, names)
    chances = decisions.answers.probabilities(
        answer_features(question, seen, close, [candidate.terms for candidate in best])
    )
    _add(best, question, seen, close, decisions)
    answers = {each.key: float(chance) for each, chance in zip(best, chances, strict=True)}
    words = frozenset(content_words(meant))
    earlier = {} if past else _earlier(best, question, words, seen, close, decisions)
    return StateTerms(earlier, answers, decisions.answers.threshold, len(words))


def _is_shown_with_its_words(atom: Atom, read: Mapping[Key, tuple[Atom, Passage]]) -> bool:
    """Whether a statement shares a hit with the passage it was taken from, which is ranked in its place."""
    return any((each.segment, each.passage) in read for each in atom.evidence)


def _assertions(
    best: Sequence[Candidate],
    read: Mapping[Key, tuple[Atom, Passage]],
    encoder: StateEncoder,
    thawed: Thawed,
    view: View,
) -> dict[Key, list[Assertion]]:
    """Return each candidate's sentences with what the state model says of them."""
    packed = view.store.encodings.states(encoder.model.id, [candidate.near.digest for candidate in best])
    missing = [unencoded(*read[candidate.key]) for candidate in best if candidate.near.digest not in packed]
    packed |= thawed.states(encoder, missing)
    found: dict[Key, list[Assertion]] = {}
    for candidate in best:
        atom, passage = read[candidate.key]
        text = unencoded(atom, passage).text
        known = packed.get(candidate.near.digest)
        spoken = not is_assistant(passage.speaker) and not statements_wait(candidate.near.origin)
        states = unpack_states(known.data, encoder.states.dimensions) if known is not None and spoken else []
        found[candidate.key] = assertions_of(
            text, states, candidate.near.speaker, candidate.near.at_ms, candidate.near.session
        )
    return found


def _add(
    best: Sequence[Candidate], question: QuestionState, seen: StateView, close: CloseView, decisions: Decisions
) -> None:
    """Add one term for each feature that says something."""
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
    """Return the candidates that likely hold an earlier value of what a newer one states."""
    if question.asks_current < 0.5:
        return {}
    chances = decisions.earlier.probabilities(earlier_features(question, words, seen, close))
    found: dict[Key, Earlier] = {}
    for candidate, chance, newer in zip(best, chances.tolist(), close.outdated_by, strict=True):
        if newer is not None and chance >= decisions.earlier.threshold:
            by = best[newer]
            until = datetime.fromtimestamp(by.near.at_ms / 1000, UTC)
            found[candidate.key] = Earlier(by.key[0], by.key[1], until, round(chance, 2))
    return found
