"""What follows from a verdict, and what does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import AtomId, Signals
from lamina.errors import InvalidInput
from lamina.recall.feedback import (
    AnswerVerdict,
    FeedbackEffect,
    derive_citation_effects,
    derive_feedback_effects,
    parse_verdict,
)

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)
A, B, C = AtomId("a"), AtomId("b"), AtomId("c")


@pytest.mark.parametrize(("verdict", "quality"), [("up", 0.1), ("down", 0.0), ("wrong", -0.2)])
def test_a_cited_atom_gets_the_verdict_and_the_others_count_as_ignored(verdict: str, quality: float) -> None:
    learnt = derive_feedback_effects([A, B, C], [B], parse_verdict(verdict))
    assert learnt == {A: FeedbackEffect(-0.05), B: FeedbackEffect(quality, is_used=True), C: FeedbackEffect(-0.05)}


@pytest.mark.parametrize("verdict", list(AnswerVerdict))
def test_without_citations_nothing_is_counted(verdict: AnswerVerdict) -> None:
    assert derive_feedback_effects([A, B], [], verdict) == {}
    assert derive_feedback_effects([], [], verdict) == {}


def test_an_atom_counts_once() -> None:
    assert derive_feedback_effects([A, B, A], [A, A], AnswerVerdict.UP) == {
        A: FeedbackEffect(0.1, is_used=True),
        B: FeedbackEffect(-0.05),
    }
    assert list(derive_citation_effects([A, A])) == [A]


def test_an_atom_that_was_not_returned_cannot_be_cited() -> None:
    with pytest.raises(InvalidInput, match=r"^b, c: not among the hits of this recall"):
        derive_feedback_effects([A], [B, A, C, B], AnswerVerdict.UP)


def test_a_verdict_is_one_of_three() -> None:
    with pytest.raises(InvalidInput, match="unknown verdict 'great'; choose one of up, down, wrong"):
        parse_verdict("great")


def test_a_use_counts_and_leaves_quality_unchanged() -> None:
    signals = (
        derive_citation_effects([A])[A]
        .to_increment(NOON)
        .apply_to(Signals(1.3, 1, NOON - DAY, (NOON - DAY,), NOON - DAY, 1))
    )
    assert signals == Signals(1.3, 2, NOON, (NOON - DAY, NOON), NOON - DAY, 2)


def test_of_counted_uses_the_last_is_converted_and_the_first_stays_unknown() -> None:
    signals = derive_citation_effects([A])[A].to_increment(NOON).apply_to(Signals(1.3, 4, NOON - DAY))
    assert signals == Signals(1.3, 5, NOON, uses=(NOON - DAY, NOON), use_days=2)


def test_the_last_ten_uses_are_stored_and_every_day_counts_once() -> None:
    signals = Signals()
    for n in range(24):
        signals = FeedbackEffect(is_used=True).to_increment(NOON + n * DAY / 2).apply_to(signals)
    assert len(signals.uses) == 10
    assert (signals.uses[-1], signals.recall_count) == (NOON + 11.5 * DAY, 24)
    assert (signals.first_used_at, signals.use_days) == (NOON, 13)


@pytest.mark.parametrize(("verdict", "outcome"), [("up", (1.0, 0.0)), ("down", (0.0, 0.0)), ("wrong", (0.0, 1.0))])
def test_a_good_answer_is_a_success_and_a_wrong_one_a_failure_of_the_cited_atoms(
    verdict: str, outcome: tuple[float, float]
) -> None:
    learnt = derive_feedback_effects([A, B], [A], parse_verdict(verdict))
    cited, ignored = (learnt[item].to_increment(NOON).apply_to(Signals()) for item in (A, B))
    assert (cited.successes, cited.failures) == outcome
    assert ignored == Signals(0.95)


def test_being_ignored_changes_quality_only() -> None:
    assert FeedbackEffect(-0.05).to_increment(NOON).apply_to(Signals(1.0, 4, NOON - DAY)) == Signals(
        0.95, 4, NOON - DAY
    )


def test_the_last_use_never_moves_back() -> None:
    signals = FeedbackEffect(is_used=True).to_increment(NOON - DAY).apply_to(Signals(1.0, 1, NOON, (NOON,), NOON, 1))
    assert signals == Signals(1.0, 2, NOON, (NOON - DAY, NOON), NOON - DAY, 2)


@given(st.lists(st.sampled_from([0.1, 0.0, -0.2, -0.05]), max_size=60))
def test_quality_stays_within_its_bounds_in_fixed_steps(moves: list[float]) -> None:
    signals, twentieths = Signals(), 20
    for move in moves:
        signals = FeedbackEffect(move).to_increment(NOON).apply_to(signals)
        twentieths = min(40, max(2, twentieths + round(move * 20)))
        assert signals.quality_score == pytest.approx(twentieths / 20, abs=1e-9)
        assert 0.1 <= signals.quality_score <= 2.0
