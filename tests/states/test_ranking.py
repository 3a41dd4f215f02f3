"""The read-time view of states: newest first among what states the slot asked for, marks only for what was replaced."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.models.list_reader import AnswerReading
from lamina.models.state_model import QuestionState, QuestionTarget, SentenceMood, SentenceState
from lamina.states.assertion import Assertion
from lamina.states.state_ranking import (
    EARLIER_FEATURES,
    READ_TOGETHER,
    STATE_FEATURES,
    CertaintyRange,
    ListReadings,
    StateCandidate,
    StateView,
    compare_states,
    compute_earlier_features,
    compute_state_features,
    prepare_texts,
    read_candidates_together,
)

HOME, TEA = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
GATE = CertaintyRange(0.6, 0.95)


def assertion(text: str, slot: np.ndarray, day: int, value: str = "", speaker: str = "Ann") -> Assertion:
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
    return Assertion(text, state, speaker, day * 86_400_000, f"s{day}")


def asking(kind: QuestionTarget, slot: np.ndarray = HOME) -> QuestionState:
    return QuestionState(slot, {each: float(each is kind) for each in QuestionTarget})


BERLIN = assertion("I live in Berlin.", HOME, 1, "Berlin")
LISBON = assertion("I moved to Lisbon.", HOME, 9, "Lisbon")
GREEN = assertion("I drink green tea.", TEA, 12, "green tea")


def seen(question: QuestionState) -> np.ndarray:
    candidates = [StateCandidate(0.5, [each]) for each in (BERLIN, LISBON, GREEN)]
    return compute_state_features(question, *viewed(question, candidates), GATE)


def viewed(question: QuestionState, candidates: list[StateCandidate]) -> tuple[StateView, ListReadings]:
    view = compare_states(question, candidates)
    return view, read_candidates_together("Where do I live?", question, candidates, view, None, GATE)


def test_what_asserts_the_slot_asked_for_stands_out() -> None:
    features = seen(asking(QuestionTarget.CURRENT))
    states = STATE_FEATURES.index("current: states the slot")
    assert min(features[0, states], features[1, states]) > 0.5 > features[2, states]


def test_of_the_past_the_newest_value_stands_out() -> None:
    newest = STATE_FEATURES.index("past: newest")
    features = seen(asking(QuestionTarget.PAST))
    assert features[1, newest] > features[0, newest] > features[2, newest]


def test_what_nothing_was_read_with_is_no_earlier_value() -> None:
    candidates = [StateCandidate(0.5, [each]) for each in (GREEN, LISBON, BERLIN)]
    view, close = viewed(asking(QuestionTarget.CURRENT), candidates)
    assert not compute_earlier_features(asking(QuestionTarget.CURRENT), frozenset(), view, close).any()


def test_a_question_about_no_state_moves_nothing() -> None:
    assert not seen(asking(QuestionTarget.NO_STATE)).any()


def test_what_was_said_at_one_moment_replaces_nothing() -> None:
    question, rome = asking(QuestionTarget.CURRENT), assertion("I live in Rome.", HOME, 1, "Rome")
    twice = [StateCandidate(0.5, [each], each.text, each.at_ms) for each in (BERLIN, rome)]
    view = compare_states(question, twice)
    close = read_candidates_together("Where do I live?", question, twice, view, Lists(), GATE)
    assert close.outdated_by == [None, None]


def test_no_candidates_give_no_features() -> None:
    view, close = viewed(asking(QuestionTarget.CURRENT), [])
    assert compute_state_features(asking(QuestionTarget.CURRENT), view, close, GATE).shape == (0, len(STATE_FEATURES))
    assert compute_earlier_features(asking(QuestionTarget.CURRENT), frozenset(), view, close).shape == (
        0,
        len(EARLIER_FEATURES),
    )


class Lists:
    """Says that Lisbon answers, that Berlin is outdated, and that tea is neither."""

    def answers(self, question: str, candidates: Sequence[str]) -> list[AnswerReading]:
        found = {"Berlin": AnswerReading(0.1, 0.85), "Lisbon": AnswerReading(0.9, 0.05)}
        return [
            next((found[city] for city in found if city in candidate), AnswerReading(0.05, 0.0))
            for candidate in candidates
        ]

    def forgets(self, request: str, statements: Sequence[str]) -> list[float]:
        raise AssertionError("a question asks to forget nothing")


def test_the_list_reader_reads_the_best_candidates_and_says_which_is_outdated() -> None:
    question = asking(QuestionTarget.CURRENT)
    candidates = [StateCandidate(0.5, [each], each.text, each.at_ms) for each in (LISBON, BERLIN, GREEN)]
    view = compare_states(question, candidates)
    close = read_candidates_together("Where do I live?", question, candidates, view, Lists(), GATE)
    assert close.outdated_by == [2, 0, None]
    assert close.outdated[1] > 0.8
    assert close.answers[2] < 0.1
    features = compute_state_features(question, view, close, GATE)
    answers = STATE_FEATURES.index("a state: answers")
    assert features[0, answers] > features[1, answers] > features[2, answers]


def test_names_stand_in_front_of_passages_only_where_several_people_speak() -> None:
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

    question = asking(QuestionTarget.LIST)
    candidates = [StateCandidate(1.0 - n / 100, [], f"text {n}", at_ms=(50 - n) * 10_000) for n in range(30)]
    view = compare_states(question, candidates)
    close = read_candidates_together("Which cities have I lived in?", question, candidates, view, Noting(), GATE)
    assert orders == [[f"text {n}" for n in reversed(range(READ_TOGETHER))]]
    assert close.is_read.tolist() == [1.0] * READ_TOGETHER + [0.0] * (30 - READ_TOGETHER)
