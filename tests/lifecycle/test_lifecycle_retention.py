"""How much is left of an atom, by its half-life and its use."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lives import DAY, NOON, atoms, past, said, signals, units, used

from lamina.atom.atom import Atom, Evidence
from lamina.atom.kinds import Durability, Layer
from lamina.atom.trust import Origin
from lamina.lifecycle.half_life import FADING_SPEED, FadingSource, fading_speed_by_trust, half_life_days
from lamina.lifecycle.retention import RetentionMode, retention
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
def test_the_half_life_goes_by_trust(origin: Origin, days: float) -> None:
    assert round(half_life_days(said(origin=origin), FRESH), 2) == days


def test_no_trust_at_all_fades_three_times_faster() -> None:
    assert fading_speed_by_trust(1.0) == 1.0
    assert fading_speed_by_trust(0.0) == 3.0
    assert half_life_days(said(), AgeingSignals(trust=0.0)) == 10.0


def test_what_was_extracted_fades_three_times_faster_whoever_said_it() -> None:
    drawn = said(evidence=(Evidence("s", 1, 0, 4),))
    assert half_life_days(drawn, FRESH) == 10.0
    assert {source: FADING_SPEED[source] for source in FadingSource} == {
        FadingSource.HUMAN: 1.0,
        FadingSource.EXTRACTED: 3.0,
    }


def test_verbatim_words_are_not_extracted() -> None:
    words = said(kind="narrative", segment_id="s-1", evidence=(Evidence("s", 1, 0, 4),))
    assert half_life_days(words, FRESH) == 30.0


@given(units, units)
def test_more_trust_never_fades_faster(one: float, other: float) -> None:
    assert fading_speed_by_trust(max(one, other)) <= fading_speed_by_trust(min(one, other))


@pytest.mark.parametrize(
    "lasting",
    [
        said(9999, layer=Layer.SEMANTIC),
        said(9999, layer=Layer.PROCEDURAL),
        said(9999, layer=Layer.PROFILE),
        said(9999, layer=Layer.CODEBASE),
        said(9999, pinned=True),
        said(9999, durability=Durability.CORE),
    ],
)
@pytest.mark.parametrize("mode", RetentionMode)
def test_what_lasts_does_not_fade(lasting: Atom, mode: RetentionMode) -> None:
    assert half_life_days(lasting, FRESH) == inf
    assert retention(lasting, FRESH, NOON, mode) == 1.0


def test_what_is_ephemeral_fades_four_times_faster() -> None:
    assert half_life_days(said(durability=Durability.EPHEMERAL), FRESH) == 7.5


@pytest.mark.parametrize("mode", sorted(set(RetentionMode) - {RetentionMode.FSRS}))
def test_half_is_left_after_a_half_life_in_every_mode(mode: RetentionMode) -> None:
    assert retention(said(30), FRESH, NOON, mode) == pytest.approx(0.5, abs=1e-12)


def test_age_counts_from_the_last_use_and_use_is_added() -> None:
    assert retention(said(300), used(30), NOON) == pytest.approx(0.5 + 0.0347, abs=1e-4)
    assert retention(said(300), FRESH, NOON) == 0.0


def test_the_important_outlast_the_unimportant_in_elastic_mode() -> None:
    weak, strong = (retention(said(85, importance=each), FRESH, NOON, RetentionMode.ELASTIC) for each in (0.1, 0.9))
    assert weak == 0.0 < strong


def test_fsrs_takes_recording_and_uses_for_reviews() -> None:
    assert retention(said(30), FRESH, NOON, RetentionMode.FSRS) == pytest.approx(0.667526, abs=1e-6)
    assert retention(said(43), used(41, 30), NOON, RetentionMode.FSRS) == pytest.approx(0.926949, abs=1e-6)


def test_in_fsrs_mode_less_trusted_words_live_faster() -> None:
    mine, its = (
        retention(said(30, origin=each), FRESH, NOON, RetentionMode.FSRS) for each in (Origin.HUMAN, Origin.AGENT)
    )
    assert its < mine


@given(atoms(), signals(), st.sampled_from(RetentionMode), past, past)
def test_retention_stays_in_bounds_and_falls_between_uses(
    atom: Atom, known: AgeingSignals, mode: RetentionMode, one: float, other: float
) -> None:
    sooner, later = (retention(atom, known, NOON + each * DAY, mode) for each in sorted((one, other)))
    assert 0.0 <= later <= sooner <= 1.0


@given(atoms(), signals(), st.sampled_from(RetentionMode))
def test_a_use_never_leaves_less(atom: Atom, known: AgeingSignals, mode: RetentionMode) -> None:
    before = retention(atom, known, NOON, mode)
    assert retention(atom, known.with_use(NOON), NOON, mode) >= before - 1e-12


@given(atoms(), st.lists(past, max_size=10), st.sampled_from(RetentionMode))
def test_the_order_of_uses_does_not_matter(atom: Atom, days: list[float], mode: RetentionMode) -> None:
    other = sorted(days)
    assert retention(atom, used(*days), NOON, mode) == retention(atom, used(*other), NOON, mode)


def test_what_lies_ahead_has_no_age() -> None:
    for mode in RetentionMode:
        assert retention(said(-400), FRESH, NOON, mode) == pytest.approx(1.0)
