"""How much is left of an atom, by its half-life and its use."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_atoms import DAY, NOON, ages_in_days, atoms, make_event, make_signals, signals, units

from lamina.atom.atom import Atom, Evidence
from lamina.atom.kinds import Durability, Layer
from lamina.atom.provenance import Origin
from lamina.lifecycle.retention import (
    FADING_SPEED,
    FadingSource,
    RetentionMode,
    fading_speed_by_trust,
    half_life_days,
    retention,
)
from lamina.lifecycle.signals import AgeingSignals

FRESH = AgeingSignals()


@pytest.mark.parametrize(
    ("origin", "days"),
    [
        (Origin.HUMAN, 30.0),
        (Origin.AGENT, 18.75),
        (Origin.RADAR, 16.67),
        (Origin.DOCUMENT, 15.0),
        (Origin.DREAM, 13.64),
    ],
)
def test_the_half_life_depends_on_trust(origin: Origin, days: float) -> None:
    assert round(half_life_days(make_event(origin=origin), FRESH), 2) == days


def test_zero_trust_fades_three_times_faster() -> None:
    assert fading_speed_by_trust(1.0) == 1.0
    assert fading_speed_by_trust(0.0) == 3.0
    assert half_life_days(make_event(), AgeingSignals(trust=0.0)) == 10.0


def test_extracted_statements_fade_three_times_faster_for_every_origin() -> None:
    drawn = make_event(evidence=(Evidence("s", 1, 0, 4),))
    assert half_life_days(drawn, FRESH) == 10.0
    assert {source: FADING_SPEED[source] for source in FadingSource} == {
        FadingSource.HUMAN: 1.0,
        FadingSource.EXTRACTED: 3.0,
    }


def test_verbatim_text_does_not_count_as_extracted() -> None:
    words = make_event(kind="narrative", segment_id="s-1", evidence=(Evidence("s", 1, 0, 4),))
    assert half_life_days(words, FRESH) == 30.0


@given(units, units)
def test_more_trust_never_fades_faster(one: float, other: float) -> None:
    assert fading_speed_by_trust(max(one, other)) <= fading_speed_by_trust(min(one, other))


@pytest.mark.parametrize(
    "lasting",
    [
        make_event(9999, layer=Layer.SEMANTIC),
        make_event(9999, layer=Layer.PROCEDURAL),
        make_event(9999, layer=Layer.PROFILE),
        make_event(9999, layer=Layer.CODEBASE),
        make_event(9999, pinned=True),
        make_event(9999, durability=Durability.CORE),
    ],
)
@pytest.mark.parametrize("mode", RetentionMode)
def test_permanent_atoms_do_not_fade(lasting: Atom, mode: RetentionMode) -> None:
    assert half_life_days(lasting, FRESH) == inf
    assert retention(lasting, FRESH, NOON, mode) == 1.0


def test_ephemeral_atoms_fade_four_times_faster() -> None:
    assert half_life_days(make_event(durability=Durability.EPHEMERAL), FRESH) == 7.5


@pytest.mark.parametrize("mode", sorted(set(RetentionMode) - {RetentionMode.FSRS}))
def test_retention_is_one_half_after_a_half_life_in_every_mode(mode: RetentionMode) -> None:
    assert retention(make_event(30), FRESH, NOON, mode) == pytest.approx(0.5, abs=1e-12)


def test_age_counts_from_the_last_use_and_uses_add_a_bonus() -> None:
    assert retention(make_event(300), make_signals(30), NOON) == pytest.approx(0.5 + 0.0347, abs=1e-4)
    assert retention(make_event(300), FRESH, NOON) == 0.0


def test_important_atoms_outlast_unimportant_ones_in_elastic_mode() -> None:
    weak, strong = (
        retention(make_event(85, importance=number), FRESH, NOON, RetentionMode.ELASTIC) for number in (0.1, 0.9)
    )
    assert weak == 0.0 < strong


def test_fsrs_counts_recording_and_uses_as_reviews() -> None:
    assert retention(make_event(30), FRESH, NOON, RetentionMode.FSRS) == pytest.approx(0.667526, abs=1e-6)
    assert retention(make_event(43), make_signals(41, 30), NOON, RetentionMode.FSRS) == pytest.approx(
        0.926949, abs=1e-6
    )


def test_in_fsrs_mode_less_trusted_atoms_age_faster() -> None:
    mine, its = (
        retention(make_event(30, origin=item), FRESH, NOON, RetentionMode.FSRS) for item in (Origin.HUMAN, Origin.AGENT)
    )
    assert its < mine


@given(atoms(), signals(), st.sampled_from(RetentionMode), ages_in_days, ages_in_days)
def test_retention_stays_in_bounds_and_falls_between_uses(
    atom: Atom, usage: AgeingSignals, mode: RetentionMode, one: float, other: float
) -> None:
    sooner, later = (retention(atom, usage, NOON + item * DAY, mode) for item in sorted((one, other)))
    assert 0.0 <= later <= sooner <= 1.0


@given(atoms(), signals(), st.sampled_from(RetentionMode))
def test_a_use_never_lowers_retention(atom: Atom, usage: AgeingSignals, mode: RetentionMode) -> None:
    before = retention(atom, usage, NOON, mode)
    assert retention(atom, usage.with_use(NOON), NOON, mode) >= before - 1e-12


@given(atoms(), st.lists(ages_in_days, max_size=10), st.sampled_from(RetentionMode))
def test_the_order_of_uses_does_not_matter(atom: Atom, days: list[float], mode: RetentionMode) -> None:
    other = sorted(days)
    assert retention(atom, make_signals(*days), NOON, mode) == retention(atom, make_signals(*other), NOON, mode)


def test_a_future_time_has_age_zero() -> None:
    for mode in RetentionMode:
        assert retention(make_event(-400), FRESH, NOON, mode) == pytest.approx(1.0)
