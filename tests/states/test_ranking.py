"""The read-time view of states: newest first among what states the slot asked for, marks only for what was replaced."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.models.list_reader import AnswerReading
from lamina.models.state_model import Ask, Mood, QuestionState, SentenceState
from lamina.states.assertion import Assertion
from lamina.states.ranking import (
    EARLIER_FEATURES,
    FEATURES,
    READ_TOGETHER,
    CloseView,
    Gate,
    StateCandidate,
    StateView,
    earlier_features,
    read_closely,
    state_features,
    view_states,
)
from lamina.states.replacement import FEATURES as PAIR_FEATURES
from lamina.states.replacement import ReplacementModel, pair_features

HOME, TEA = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
GATE = Gate(0.6, 0.95)
ALWAYS = ReplacementModel([0.0] * len(PAIR_FEATURES), 5.0)
"""Takes every pair that is compared at all for a replacement."""


def assertion(text: str, slot: np.ndarray, day: int, value: str = "", speaker: str = "Ann") -> Assertion:
    at = text.find(value) if value else -1
    state = SentenceState(
        start=0, end=len(text), slot=slot, mood=Mood.CURRENT, asserts=0.9, is_own=0.9, is_many=0.1, forget=0.0,
        keep_out=0.0, secret=0.0, value=(at, at + len(value)) if at >= 0 else None,
    )  # fmt: skip
    return Assertion(text, state, speaker, day * 86_400_000, f"s{day}")


def asking(kind: Ask, slot: np.ndarray = HOME) -> QuestionState:
    return QuestionState(slot, {each: float(each is kind) for each in Ask})


BERLIN = assertion("I live in Berlin.", HOME, 1, "Berlin")
LISBON = assertion("I moved to Lisbon.", HOME, 9, "Lisbon")
GREEN = assertion("I drink green tea.", TEA, 12, "green tea")


def seen(question: QuestionState) -> np.ndarray:
    candidates = [StateCandidate(0.5, [each]) for each in (BERLIN, LISBON, GREEN)]
    return state_features(question, *viewed(question, candidates), GATE)


def viewed(question: QuestionState, candidates: list[StateCandidate]) -> tuple[StateView, CloseView]:
    view = view_states(question, candidates, ALWAYS)
    return view, read_closely("Where do I live?", question, candidates, view, None, GATE)


def test_the_newest_assertion_of_the_slot_stands_out() -> None:
    features = seen(asking(Ask.CURRENT))
    newest = FEATURES.index("current: newest")
    assert features[1, newest] > features[0, newest] > features[2, newest]
    assert features[0, FEATURES.index("current: replaced")] > 0.9
    assert features[1, FEATURES.index("current: replaced")] == 0


def test_another_slot_is_never_replaced_however_new_the_rest_is() -> None:
    candidates = [StateCandidate(0.5, [each]) for each in (GREEN, LISBON, BERLIN)]
    view, close = viewed(asking(Ask.CURRENT), candidates)
    assert view.replaced_by[0] is None
    assert not earlier_features(asking(Ask.CURRENT), frozenset(), view, close)[0].any()


def test_a_question_about_no_state_moves_nothing() -> None:
    assert not seen(asking(Ask.NO_STATE)).any()


def test_what_was_said_at_one_moment_replaces_nothing() -> None:
    twice = [StateCandidate(0.5, [each]) for each in (BERLIN, assertion("I live in Rome.", HOME, 1, "Rome"))]
    assert view_states(asking(Ask.CURRENT), twice, ALWAYS).replaced_by == [None, None]


def test_no_candidates_give_no_features() -> None:
    view, close = viewed(asking(Ask.CURRENT), [])
    assert state_features(asking(Ask.CURRENT), view, close, GATE).shape == (0, len(FEATURES))
    assert earlier_features(asking(Ask.CURRENT), frozenset(), view, close).shape == (0, len(EARLIER_FEATURES))


class Lists:
    """Says that Lisbon answers, that Berlin is outdated, and that tea is neither."""

    def answers(self, question: str, candidates: Sequence[str]) -> list[AnswerReading]:
        found = {"Berlin": AnswerReading(0.1, 0.85), "Lisbon": AnswerReading(0.9, 0.05)}
        return [next((found[city] for city in found if city in each), AnswerReading(0.05, 0.0)) for each in candidates]

    def forgets(self, request: str, statements: Sequence[str]) -> list[float]:
        raise AssertionError("a question asks to forget nothing")


def test_the_list_reader_reads_the_best_candidates_and_says_which_is_outdated() -> None:
    question = asking(Ask.CURRENT)
    candidates = [StateCandidate(0.5, [each], each.text, each.at_ms) for each in (LISBON, BERLIN, GREEN)]
    view = view_states(question, candidates, ALWAYS)
    close = read_closely("Where do I live?", question, candidates, view, Lists(), GATE)
    assert close.outdated_by == [2, 0, None]
    assert close.outdated[1] > 0.8
    assert close.answers[2] < 0.1
    features = state_features(question, view, close, GATE)
    answers = FEATURES.index("a state: answers")
    assert features[0, answers] > features[1, answers] > features[2, answers]


def test_candidates_are_read_oldest_first_and_only_the_best() -> None:
    orders: list[list[str]] = []

    class Noting(Lists):
        def answers(self, question: str, candidates: Sequence[str]) -> list[AnswerReading]:
            orders.append(list(candidates))
            return super().answers(question, candidates)

    question = asking(Ask.LIST)
    candidates = [StateCandidate(1.0 - n / 100, [], f"text {n}", at_ms=(50 - n) * 10_000) for n in range(30)]
    view = view_states(question, candidates, ALWAYS)
    close = read_closely("Which cities have I lived in?", question, candidates, view, Noting(), GATE)
    assert orders == [[f"text {n}" for n in reversed(range(READ_TOGETHER))]]
    assert close.is_read.tolist() == [1.0] * READ_TOGETHER + [0.0] * (30 - READ_TOGETHER)


def test_a_pair_tells_a_named_old_value_from_a_repeated_one() -> None:
    moved = assertion("I moved from Berlin to Lisbon.", HOME, 9, "Lisbon")
    again = assertion("Still in Berlin.", HOME, 9, "Berlin")
    named, same = PAIR_FEATURES.index("names the old value"), PAIR_FEATURES.index("says the same value")
    assert (pair_features(BERLIN, moved)[named], pair_features(BERLIN, moved)[same]) == (1.0, 0.0)
    assert (pair_features(BERLIN, again)[named], pair_features(BERLIN, again)[same]) == (0.0, 1.0)
