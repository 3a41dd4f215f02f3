"""What is kept of an atom's uses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from random_atoms import DAY, NOON, ages_in_days, make_event, make_signals

from lamina.atom.atom import Signals as Counted
from lamina.lifecycle.signals import AgeingSignals, effective_trust, from_counters, last_touched_at


def test_the_last_ten_uses_are_stored_with_their_number_and_the_first() -> None:
    signals = make_signals(*range(25))
    assert len(signals.uses) == 10
    assert signals.total_uses == signals.total_use_days == 25
    assert signals.first_use == NOON - 24 * DAY
    assert signals.last_use == NOON


def test_two_uses_of_one_day_are_one_day_of_use() -> None:
    assert make_signals(1.0, 1.1, 2.0).total_use_days == 2


@given(st.lists(ages_in_days, max_size=10).flatmap(lambda days: st.tuples(st.just(days), st.permutations(days))))
def test_the_order_of_recorded_uses_does_not_matter(result: tuple[list[float], list[float]]) -> None:
    one, other = result
    assert make_signals(*one) == make_signals(*other)


@given(st.lists(ages_in_days, max_size=40).flatmap(lambda days: st.tuples(st.just(days), st.permutations(days))))
def test_times_number_and_first_use_are_independent_of_order_for_any_number(
    result: tuple[list[float], list[float]],
) -> None:
    one, other = (make_signals(*item) for item in result)
    assert (one.uses, one.total_uses, one.first_use) == (other.uses, other.total_uses, other.first_use)


def test_counters_alone_are_enough() -> None:
    signals = from_counters(Counted(1.2, 4, NOON))
    assert (signals.total_uses, signals.last_use, signals.total_use_days, signals.quality) == (4, NOON, 1, 1.2)
    assert from_counters(Counted()) == AgeingSignals()


def test_every_counter_of_the_store_is_converted() -> None:
    uses = (NOON - DAY, NOON)
    signals = from_counters(Counted(1.2, 14, NOON, uses, NOON - 30 * DAY, 9, 3.0, 1.0))
    assert signals == AgeingSignals(
        uses=uses, count=14, first_use=NOON - 30 * DAY, use_days=9, quality=1.2, successes=3.0, failures=1.0
    )


def test_the_first_use_stays_unknown_where_older_ones_were_only_counted() -> None:
    assert from_counters(Counted(1.0, 4, NOON)).with_use(NOON + DAY).first_use is None
    assert from_counters(Counted(1.0, 1, NOON)).with_use(NOON + DAY).first_use == NOON
    assert AgeingSignals().with_use(NOON).first_use == NOON


def test_an_atom_is_trusted_no_more_than_its_ancestors() -> None:
    assert effective_trust(make_event(), AgeingSignals()) == 1.0
    assert effective_trust(make_event(), AgeingSignals(trust=0.3)) == 0.3


def test_an_unrecorded_atom_counts_from_when_it_was_observed() -> None:
    assert last_touched_at(make_event(3, recorded_at=None), AgeingSignals()) == NOON - 3 * DAY
