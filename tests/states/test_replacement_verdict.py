"""When a new statement withholds an earlier one, when it only labels it, and when it leaves it alone."""

from __future__ import annotations

import pytest

from fake_state_models import FakePairModel, FakeStateModel
from lamina.models.pair_model import RelationReading
from lamina.states.fitted_decisions import ReplacementBounds
from lamina.states.replacement_verdict import ReplacementCertainty, judge_replacements
from lamina.states.sentence_models import StateReader

BOUNDS = ReplacementBounds(sure=0.9, same_slot=0.6, likely=0.6, likely_slot=0.4, forgets=0.9, forgets_named=0.6)


class ConstantPairModel(FakePairModel):
    """Says of every earlier statement that it no longer holds, with one probability."""

    def __init__(self, replaces: float, ends: float = 0.0) -> None:
        self._reading = RelationReading(replaces, ends, 0.0)

    def read(self, earlier: str, new: str) -> RelationReading:
        return self._reading


def judge(new: str, old: str, pairs: FakePairModel | None) -> ReplacementCertainty:
    return judge_replacements(new, [old], StateReader(FakeStateModel(), pairs), BOUNDS)[0]


@pytest.mark.parametrize(
    ("chance", "certainty"),
    [(0.95, ReplacementCertainty.SURE), (0.7, ReplacementCertainty.LIKELY), (0.5, ReplacementCertainty.NONE)],
)
def test_the_probability_decides_between_withholding_and_labelling(
    chance: float, certainty: ReplacementCertainty
) -> None:
    assert judge("I moved to Lisbon.", "I live in Berlin.", ConstantPairModel(chance)) is certainty


def test_a_long_sentence_is_labelled_and_never_withheld() -> None:
    old = "I live in Berlin with two cats, an old piano and more books than the floor can carry, they say."
    assert judge("I moved to Lisbon.", old, ConstantPairModel(0.99)) is ReplacementCertainty.LIKELY


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I also live in Lisbon.", "I live in Berlin."),
        ("Room 2 office has 14 seats now.", "Room 1 office has 20 seats now."),
        ("My rent is 1010 euros.", "I live in Berlin."),
        ("Where do I live now?", "I live in Berlin."),
    ],
    ids=["one more value", "another room", "another slot", "a question"],
)
def test_another_value_entity_or_slot_and_a_question_replace_nothing(new: str, old: str) -> None:
    assert judge(new, old, ConstantPairModel(0.99)) is ReplacementCertainty.NONE


def test_an_end_without_the_old_value_is_only_likely() -> None:
    assert (
        judge("I no longer live there.", "I live in Berlin.", ConstantPairModel(0.0, ends=0.95))
        is ReplacementCertainty.LIKELY
    )


def test_without_a_pair_model_the_old_value_must_be_named() -> None:
    assert judge("I moved from Berlin to Lisbon.", "I live in Berlin.", None) is ReplacementCertainty.SURE
    assert judge("I moved to Lisbon.", "I live in Berlin.", None) is ReplacementCertainty.NONE


def test_without_earlier_statements_there_are_no_verdicts() -> None:
    assert judge_replacements("I moved to Lisbon.", [], StateReader(FakeStateModel(), FakePairModel()), BOUNDS) == []
