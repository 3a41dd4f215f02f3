"""What is kept of an atom's uses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lives import DAY, NOON, past, said, used

from lamina.atom.atom import Signals as Counted
from lamina.lifecycle.signals import AgeingSignals, effective_trust, from_counters, last_touched_at


def test_the_last_ten_uses_are_kept_with_their_number_and_the_first() -> None:
    known = used(*range(25))
    assert len(known.uses) == 10
    assert known.total_uses == known.total_use_days == 25
    assert known.first_use == NOON - 24 * DAY
    assert known.last_use == NOON


def test_two_uses_of_one_day_are_one_day_of_use() -> None:
    assert used(1.0, 1.1, 2.0).total_use_days == 2


@given(st.lists(past, max_size=10).flatmap(lambda days: st.tuples(st.just(days), st.permutations(days))))
def test_the_order_in_which_uses_are_told_does_not_matter(told: tuple[list[float], list[float]]) -> None:
    one, other = told
    assert used(*one) == used(*other)


@given(st.lists(past, max_size=40).flatmap(lambda days: st.tuples(st.just(days), st.permutations(days))))
def test_times_number_and_first_use_do_not_depend_on_order_however_many_there_are(
    told: tuple[list[float], list[float]],
) -> None:
    one, other = (used(*each) for each in told)
    assert (one.uses, one.total_uses, one.first_use) == (other.uses, other.total_uses, other.first_use)


def test_a_store_that_only_counts_is_enough() -> None:
    known = from_counters(Counted(1.2, 4, NOON))
    assert (known.total_uses, known.last_use, known.total_use_days, known.quality) == (4, NOON, 1, 1.2)
    assert from_counters(Counted()) == AgeingSignals()


def test_everything_a_store_counts_is_taken_over() -> None:
    uses = (NOON - DAY, NOON)
    known = from_counters(Counted(1.2, 14, NOON, uses, NOON - 30 * DAY, 9, 3.0, 1.0))
    assert known == AgeingSignals(
        uses=uses, count=14, first_use=NOON - 30 * DAY, use_days=9, quality=1.2, successes=3.0, failures=1.0
    )


def test_the_first_use_stays_unknown_where_older_ones_were_only_counted() -> None:
    assert from_counters(Counted(1.0, 4, NOON)).with_use(NOON + DAY).first_use is None
    assert from_counters(Counted(1.0, 1, NOON)).with_use(NOON + DAY).first_use == NOON
    assert AgeingSignals().with_use(NOON).first_use == NOON


def test_an_atom_is_trusted_no_more_than_what_it_descends_from() -> None:
    assert effective_trust(said(), AgeingSignals()) == 1.0
    assert effective_trust(said(), AgeingSignals(trust=0.3)) == 0.3


def test_an_atom_not_recorded_yet_counts_from_when_it_was_observed() -> None:
    assert last_touched_at(said(3, recorded_at=None), AgeingSignals()) == NOON - 3 * DAY
