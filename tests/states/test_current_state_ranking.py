"""The read-time view of states: the newest value of the queried slot first, marks only for replaced ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.models.list_reader import AnswerReading
from lamina.models.state_model import QuestionState, QuestionTarget, SentenceMood, SentenceState
from lamina.states.attributed_sentence import AttributedSentence
from lamina.states.current_state_ranking import (
    EARLIER_FEATURES,
    READ_TOGETHER,
    STATE_FEATURES,
    CertaintyRange,
    ListReadings,
    SaidAt,
    StateCandidate,
    StateView,
    compare_states,
    compute_earlier_features,
    compute_state_features,
    prepare_texts,
    read_candidates_together,
)

HOME, TEA = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
CERTAINTY = CertaintyRange(0.6, 0.95)


def assertion(text: str, slot: np.ndarray, day: int, value: str = "", speaker: str = "Ann") -> AttributedSentence:
    at = text.find(value) if value else -1
    state = SentenceState(
        start=0,
        end=len(text),
        slot=slot,
        mood=SentenceMood.CURRENT,
        asserts=0.9,
        is_own=0.9,
        is_many=0.1,
        forget=0.0,
        keep_out=0.0,
        secret=0.0,
        value=(at, at + len(value)) if at >= 0 else None,
    )
    return AttributedSentence(text, state, speaker, day * 86_400_000, f"s{day}")


def question_state(kind: QuestionTarget, slot: np.ndarray = HOME) -> QuestionState:
    return QuestionState(slot, {item: float(item is kind) for item in QuestionTarget})


BERLIN = assertion("I live in Berlin.", HOME, 1, "Berlin")
LISBON = assertion("I moved to Lisbon.", HOME, 9, "Lisbon")
GREEN = assertion("I drink green tea.", TEA, 12, "green tea")


def rank_values(question: QuestionState) -> np.ndarray:
    candidates = [StateCandidate(0.5, [assertion]) for assertion in (BERLIN, LISBON, GREEN)]
    return compute_state_features(question, *rank_candidates(question, candidates), CERTAINTY)


def rank_candidates(question: QuestionState, candidates: list[StateCandidate]) -> tuple[StateView, ListReadings]:
    view = compare_states(question, candidates)
    return view, read_candidates_together("Where do I live?", question, candidates, view, None, CERTAINTY)


def test_passages_that_assert_the_queried_slot_stand_out() -> None:
    features = rank_values(question_state(QuestionTarget.CURRENT))
    states = STATE_FEATURES.index("current: states the slot")
    assert min(features[0, states], features[1, states]) > 0.5 > features[2, states]


def test_of_past_values_the_newest_stands_out() -> None:
    newest = STATE_FEATURES.index("past: newest")
    features = rank_values(question_state(QuestionTarget.PAST))
    assert features[1, newest] > features[0, newest] > features[2, newest]


def test_an_unread_passage_is_no_earlier_value() -> None:
    candidates = [StateCandidate(0.5, [assertion]) for assertion in (GREEN, LISBON, BERLIN)]
    view, close = rank_candidates(question_state(QuestionTarget.CURRENT), candidates)
    assert not compute_earlier_features(
        question_state(QuestionTarget.CURRENT), frozenset(), view, close, np.zeros(len(view.best), np.float32)
    ).any()


def test_a_question_about_no_state_changes_nothing() -> None:
    assert not rank_values(question_state(QuestionTarget.NO_STATE)).any()


def test_simultaneous_statements_replace_nothing() -> None:
    question, rome = question_state(QuestionTarget.CURRENT), assertion("I live in Rome.", HOME, 1, "Rome")
    twice = [StateCandidate(0.5, [assertion], assertion.text, SaidAt(assertion.at_ms)) for assertion in (BERLIN, rome)]
    view = compare_states(question, twice)
    close = read_candidates_together("Where do I live?", question, twice, view, Lists(), CERTAINTY)
    assert close.outdated_by == [None, None]


def test_passages_of_one_moment_are_in_session_order() -> None:
    first, second = SaidAt(1, 1, "a", 0), SaidAt(1, 1, "a", 1)
    assert second.is_after(first)
    assert not first.is_after(second)
    assert not SaidAt(1, 1, "b", 1).is_after(first)
    assert SaidAt(1, 2, "b", 0).is_after(second)
    assert SaidAt(2, 0, "b", 0).is_after(second)


def test_no_candidates_give_no_features() -> None:
    view, close = rank_candidates(question_state(QuestionTarget.CURRENT), [])
    assert compute_state_features(question_state(QuestionTarget.CURRENT), view, close, CERTAINTY).shape == (
        0,
        len(STATE_FEATURES),
    )
    assert compute_earlier_features(
        question_state(QuestionTarget.CURRENT), frozenset(), view, close, np.zeros(len(view.best), np.float32)
    ).shape == (0, len(EARLIER_FEATURES))


class Lists:
    """Says that Lisbon answers, that Berlin is outdated, and that tea is neither."""

    def answers(self, question: str, candidates: Sequence[str]) -> list[AnswerReading]:
        fields = {"Berlin": AnswerReading(0.1, 0.85), "Lisbon": AnswerReading(0.9, 0.05)}
        return [
            next((fields[city] for city in fields if city in candidate), AnswerReading(0.05, 0.0))
            for candidate in candidates
        ]

    def forgets(self, request: str, statements: Sequence[str]) -> list[float]:
        raise AssertionError("a question asks to forget nothing")


def test_the_list_reader_reads_the_best_candidates_and_says_which_is_outdated() -> None:
    question = question_state(QuestionTarget.CURRENT)
    candidates = [
        StateCandidate(0.5, [assertion], assertion.text, SaidAt(assertion.at_ms))
        for assertion in (LISBON, BERLIN, GREEN)
    ]
    view = compare_states(question, candidates)
    close = read_candidates_together("Where do I live?", question, candidates, view, Lists(), CERTAINTY)
    assert close.outdated_by == [2, 0, None]
    assert close.outdated[1] > 0.8
    assert close.answers[2] < 0.1
    features = compute_state_features(question, view, close, CERTAINTY)
    answers = STATE_FEATURES.index("a state: answers")
    assert features[0, answers] > features[1, answers] > features[2, answers]


def test_speaker_names_prefix_passages_only_with_several_speakers() -> None:
    alone = [("I live in Berlin.", "Ann"), ("Noted.", "assistant")]
    assert prepare_texts(alone) == ["I live in Berlin.", "Noted."]
    both = [*alone, ("Me too.", "Bob")]
    assert prepare_texts(both) == ["Ann: I live in Berlin.", "Noted.", "Bob: Me too."]


def test_candidates_are_read_oldest_first_and_only_the_best() -> None:
    orders: list[list[str]] = []

    class Noting(Lists):
        def answers(self, question: str, candidates: Sequence[str]) -> list[AnswerReading]:
            orders.append(list(candidates))
            return super().answers(question, candidates)

    question = question_state(QuestionTarget.LIST)
    candidates = [StateCandidate(1.0 - n / 100, [], f"text {n}", SaidAt((50 - n) * 10_000)) for n in range(30)]
    view = compare_states(question, candidates)
    close = read_candidates_together("Which cities have I lived in?", question, candidates, view, Noting(), CERTAINTY)
    assert orders == [[f"text {n}" for n in reversed(range(READ_TOGETHER))]]
    assert close.is_read.tolist() == [1.0] * READ_TOGETHER + [0.0] * (30 - READ_TOGETHER)
