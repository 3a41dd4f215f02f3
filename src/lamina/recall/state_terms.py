"""The terms for what changed: among passages that state the requested slot, the newest gains, and earlier values lose
and are marked; of two sentences that differ in one place only, the newer takes the higher match."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage, is_assistant
from lamina.atom.provenance import statements_need_review
from lamina.models.encoding_worker import RecomputedStates
from lamina.models.sentence_state_encoder import StateEncoder, unpack_states
from lamina.models.state_model import QuestionState
from lamina.recall.candidate_scoring import Candidate
from lamina.recall.marks import EarlierValue
from lamina.recall.recall_view import RecallView
from lamina.states.attributed_sentence import AttributedSentence, find_names, make_assertions
from lamina.states.current_state_ranking import (
    STATE_FEATURES,
    ListReadings,
    SaidAt,
    StateCandidate,
    StateView,
    compare_states,
    compute_answer_features,
    compute_earlier_features,
    compute_state_features,
    prepare_texts,
    read_candidates_together,
)
from lamina.states.fitted_decisions import FittedDecisions, load_decisions
from lamina.store.encodings import PassageKey, to_unencoded_text
from lamina.store.passages import NearPassage
from lamina.text.analyser import analyse, content_tokens
from lamina.vectors.integer_vectors import Floats

STATE_TERM = "state "
"""The prefix of the names of terms that the state model and the list reader add."""
COMPARED_COUNT = 30
"""How many of the best candidates are compared with each other."""


@dataclass(frozen=True, slots=True)
class StateTerms:
    """The results for the candidates: which are earlier values, and the probability that each answers."""

    earlier: Mapping[PassageKey, EarlierValue] = field(default_factory=dict)
    answers: Mapping[PassageKey, float] = field(default_factory=dict)
    threshold: float = 0.0
    word_count: int = 0
    """How many words of the question carry meaning."""


def add_state_terms(
    candidates: Sequence[Candidate],
    question_text: str,
    encoder: StateEncoder,
    recomputed_states: RecomputedStates,
    view: RecallView,
    *,
    mark_earlier_values: bool,
) -> StateTerms:
    """Add the state terms to the best candidates, in place, and return which of them are earlier values and answers."""
    best = sorted(candidates, key=lambda item: (-item.relevance, item.key))[:COMPARED_COUNT]
    passages_by_key = view.passages(candidate.key for candidate in best)
    best = [
        candidate
        for candidate in best
        if candidate.key in passages_by_key
        and not _is_shown_with_source(passages_by_key[candidate.key][0], passages_by_key)
    ]
    if not best:
        return StateTerms()
    decisions = load_decisions(encoder.states.name)
    question = encoder.read_question(question_text)
    assertions = _read_assertions(best, passages_by_key, encoder, recomputed_states, view)
    passages = [passages_by_key[candidate.key][1] for candidate in best]
    texts = prepare_texts([(passage.text, passage.speaker or "") for passage in passages])
    state_candidates = [
        StateCandidate(item.relevance, assertions[item.key], text, _said_at(item.near))
        for item, text in zip(best, texts, strict=True)
    ]
    names = find_names(question_text)
    state_view = compare_states(question, state_candidates, names)
    readings = read_candidates_together(
        question_text, question, state_candidates, state_view, encoder.lists, decisions.certainty_range, names
    )
    chances = decisions.answers.probabilities(
        compute_answer_features(question, state_view, readings, [candidate.terms for candidate in best])
    )
    _add_terms(best, question, state_view, readings, decisions)
    answers = {item.key: float(chance) for item, chance in zip(best, chances, strict=True)}
    words = frozenset(content_tokens(question_text))
    earlier = (
        _find_earlier_values(best, question, words, state_view, readings, chances, decisions)
        if mark_earlier_values
        else {}
    )
    return StateTerms(earlier, answers, decisions.answers.threshold, len(words))


def _said_at(near: NearPassage) -> SaidAt:
    return SaidAt(near.at_ms, near.recorded_ms, near.session, near.position)


def _is_shown_with_source(atom: Atom, passages: Mapping[PassageKey, tuple[Atom, Passage]]) -> bool:
    """Return whether a statement shares a hit with its source passage, which is ranked in its place."""
    return any((evidence.segment, evidence.passage) in passages for evidence in atom.evidence)


def _read_assertions(
    best: Sequence[Candidate],
    passages: Mapping[PassageKey, tuple[Atom, Passage]],
    encoder: StateEncoder,
    recomputed_states: RecomputedStates,
    view: RecallView,
) -> dict[PassageKey, list[AttributedSentence]]:
    """Return each candidate's sentences with the states that the model read from them."""
    packed = view.token_states(encoder.model.id, (candidate.near.digest for candidate in best))
    missing = [to_unencoded_text(*passages[candidate.key]) for candidate in best if candidate.near.digest not in packed]
    packed |= recomputed_states.states(encoder, missing)
    assertions: dict[PassageKey, list[AttributedSentence]] = {}
    for candidate in best:
        atom, passage = passages[candidate.key]
        text = to_unencoded_text(atom, passage).text
        packed_states = packed.get(candidate.near.digest)
        is_usable = not is_assistant(passage.speaker) and not statements_need_review(candidate.near.origin)
        states = (
            unpack_states(packed_states.data, encoder.states.dimensions)
            if packed_states is not None and is_usable
            else []
        )
        assertions[candidate.key] = make_assertions(
            text, states, candidate.near.speaker, candidate.near.at_ms, candidate.near.session
        )
    return assertions


def _add_terms(
    best: Sequence[Candidate],
    question: QuestionState,
    state_view: StateView,
    readings: ListReadings,
    decisions: FittedDecisions,
) -> None:
    """Add one term for each feature that matters."""
    amounts = compute_state_features(question, state_view, readings, decisions.certainty_range) * decisions.ranker
    for row, candidate in enumerate(best):
        for name, amount in zip(STATE_FEATURES, amounts[row].tolist(), strict=True):
            if abs(amount) >= 0.0005:
                candidate.terms[f"{STATE_TERM}{name.replace(':', '')}"] = amount


def _find_earlier_values(
    best: Sequence[Candidate],
    question: QuestionState,
    words: frozenset[str],
    state_view: StateView,
    readings: ListReadings,
    chances: Floats,
    decisions: FittedDecisions,
) -> dict[PassageKey, EarlierValue]:
    """Return the candidates that likely state an earlier value of a slot for which a newer candidate states another."""
    if question.asks_current < 0.5:
        return {}
    features = compute_earlier_features(question, words, state_view, readings, chances)
    probabilities = decisions.earlier.probabilities(features)
    earlier_values: dict[PassageKey, EarlierValue] = {}
    for candidate, probability, newer in zip(best, probabilities.tolist(), readings.outdated_by, strict=True):
        if newer is not None and probability >= decisions.earlier.threshold:
            successor = best[newer]
            until = datetime.fromtimestamp(successor.near.at_ms / 1000, UTC)
            earlier_values[candidate.key] = EarlierValue(
                successor.key[0], successor.key[1], until, round(probability, 2)
            )
    return earlier_values


NEWER_VALUE_TERM = "newer value"
NEWER_VALUE_COMPARED = 10
"""How many of the best candidates are compared with each other."""
MATCH_TERMS = frozenset({"text", "vector", "light", "passage", "window", "session", "reranker"})
"""The terms that say how well the words match, beside those of the state model."""
MAX_WORDS, MAX_CHARACTERS = 24, 400
"""Longer passages say more than one thing."""
MIN_SHARED = 0.5
"""The least share of words that both sentences have in common, of the longer one."""


def add_newer_value_terms(candidates: Sequence[Candidate], question: str, view: RecallView) -> None:
    """Let the newer of two candidates that differ in one place exchange its match with the older one if that is better.

    A place that contains a word of the question tells them apart, so then nothing is exchanged. Links and times, which
    have terms of their own, count as before. What an untrusted source says takes no one's place.
    """
    best = sorted(candidates, key=lambda item: (-item.relevance, item.key))[:NEWER_VALUE_COMPARED]
    passages = view.passages(candidate.key for candidate in best)
    asked = frozenset(analyse(question))
    short = [item for item in best if item.key in passages and len(passages[item.key][1].text) <= MAX_CHARACTERS]
    oldest_first = sorted(short, key=_time_order)
    words = {item.key: analyse(passages[item.key][1].text) for item in oldest_first}
    for place, older in enumerate(oldest_first):
        for newer in oldest_first[place + 1 :]:
            difference = _match(older) - _match(newer)
            if (
                difference > 0
                and older.near.speaker == newer.near.speaker
                and not statements_need_review(newer.near.origin)
                and _time_order(older) < _time_order(newer)
                and differ_in_one_place(words[older.key], words[newer.key], asked)
            ):
                for item, amount in ((newer, difference), (older, -difference)):
                    item.terms[NEWER_VALUE_TERM] = item.terms.get(NEWER_VALUE_TERM, 0.0) + amount


def differ_in_one_place(first: Sequence[str], second: Sequence[str], asked: Collection[str]) -> bool:
    """Return whether two sentences have the same words but for one place, and a question names neither variant."""
    if first == second or max(len(first), len(second)) > MAX_WORDS:
        return False
    pairs = list(zip(first, second, strict=False))
    before = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    backwards = zip(reversed(first[before:]), reversed(second[before:]), strict=False)
    after = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], backwards))
    if before + after < MIN_SHARED * max(len(first), len(second)):
        return False
    variants = {*first[before : len(first) - after], *second[before : len(second) - after]}
    shared = {*first[:before], *first[len(first) - after :]}
    return not (variants - shared) & set(asked)


def _match(candidate: Candidate) -> float:
    return sum(
        amount
        for name, amount in candidate.terms.items()
        if name in MATCH_TERMS or name == NEWER_VALUE_TERM or name.startswith(STATE_TERM)
    )


def _time_order(candidate: Candidate) -> tuple[int, int, str, int]:
    near = candidate.near
    return near.at_ms, near.recorded_ms, near.session, near.position
