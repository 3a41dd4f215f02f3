"""Heat, decay, verification and the label that follows from them."""

from __future__ import annotations

from math import nan

import pytest
from hypothesis import given
from random_atoms import DAY, NOON, ages_in_days, atoms, make_event, make_signals, signals

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability, Layer
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.lifecycle.heat import decay, feedback_score, heat
from lamina.lifecycle.signals import AgeingSignals, Verification, success_rate, verification
from lamina.lifecycle.standing import STATE_WEIGHTS, LifecycleState, lifecycle_state

TIERS = {"speculative": 0.2, "inferred": 0.5, "implied": 0.8, "explicit": 1.0}
FRESH = AgeingSignals()


def test_heat_is_the_sum_of_its_terms() -> None:
    assert heat(make_event(), FRESH, NOON) == pytest.approx(0.25 + 0.20 + 0.075 + 0.05)
    assert heat(make_event(), make_signals(*[0.0] * 20), NOON) == pytest.approx(0.875)
    assert heat(make_event(), AgeingSignals(causal=9.0), NOON) == pytest.approx(0.575 + 0.015)
    assert heat(make_event(), AgeingSignals(is_disputed=True), NOON) == pytest.approx(0.575 - 0.2)
    assert heat(make_event(45), FRESH, NOON) == pytest.approx(0.575 - 0.1)


def test_decay_is_the_sum_of_its_terms() -> None:
    assert decay(make_event(90), make_signals(30), NOON) == pytest.approx(
        0.30 * 0.5 + 0.25 * 0.25 + 0.0 + 0.05 + 0.15 * (1 - heat(make_event(90), make_signals(30), NOON))
    )
    assert decay(make_event(999, confidence=0.2), FRESH, NOON) == pytest.approx(0.848, abs=5e-4)


def test_never_used_counts_as_a_year_and_used_at_an_unknown_time_does_not() -> None:
    assert decay(make_event(), FRESH, NOON) == pytest.approx(0.25 + 0.05 + 0.15 * (1 - 0.575))
    known_value = AgeingSignals(count=1)
    assert decay(make_event(), known_value, NOON) == pytest.approx(
        0.05 + 0.15 * (1 - heat(make_event(), known_value, NOON))
    )


@pytest.mark.parametrize(("tier", "day"), [("speculative", 66), ("inferred", 97), ("implied", 126), ("explicit", 154)])
def test_an_unused_atom_is_stale_from_the_computed_day_of_its_tier(tier: str, day: int) -> None:
    doubtful = {"confidence": TIERS[tier], "origin": Origin.DOCUMENT}
    assert lifecycle_state(make_event(day - 1, **doubtful), FRESH, NOON) is not LifecycleState.STALE
    assert lifecycle_state(make_event(day + 1, **doubtful), FRESH, NOON) is LifecycleState.STALE


@given(atoms(), signals(), ages_in_days, ages_in_days)
def test_between_uses_heat_falls_and_decay_grows(atom: Atom, usage: AgeingSignals, one: float, other: float) -> None:
    sooner, later = (NOON + item * DAY for item in sorted((one, other)))
    assert 0.0 <= heat(atom, usage, later) <= heat(atom, usage, sooner) <= 1.0
    assert 0.0 <= decay(atom, usage, sooner) <= decay(atom, usage, later) + 1e-12 <= 1.0 + 1e-12


def test_feedback_is_neutral_without_signals() -> None:
    assert feedback_score(FRESH) == 0.5
    assert feedback_score(AgeingSignals(quality=2.0)) == 1.0
    assert feedback_score(AgeingSignals(quality=0.1)) == pytest.approx(0.05)
    assert feedback_score(AgeingSignals(successes=8)) > 0.5 > feedback_score(AgeingSignals(failures=8))


@pytest.mark.parametrize(("good", "bad", "number"), [(0, 0, 0.5), (1, 0, 2 / 3), (3, 1, 2 / 3), (0, 8, 0.1)])
def test_the_success_rate_starts_neutral_and_follows_outcomes(good: float, bad: float, number: float) -> None:
    assert success_rate(good, bad) == pytest.approx(number)


@pytest.mark.parametrize(("good", "bad"), [(-1, 0), (0, -3), (nan, 1), (1, float("inf"))])
def test_an_invalid_count_has_no_effect(good: float, bad: float) -> None:
    assert success_rate(good, bad) == 0.5


@pytest.mark.parametrize(
    ("atom", "known_value", "text"),
    [
        (make_event(), FRESH, "user_confirmed"),
        (make_event(), AgeingSignals(is_disputed=True), "disputed"),
        (make_event(status=Status.CHALLENGED), AgeingSignals(reviewed_at=NOON), "disputed"),
        (make_event(origin=Origin.DOCUMENT), FRESH, "unverified"),
        (make_event(origin=Origin.DOCUMENT), AgeingSignals(confirmations=1), "system_inferred"),
        (make_event(origin=Origin.DOCUMENT), AgeingSignals(reviewed_at=NOON), "user_confirmed"),
        (make_event(origin=Origin.AGENT), FRESH, "system_inferred"),
        (make_event(confidence=0.8), FRESH, "system_inferred"),
        (make_event(confidence=0.5), FRESH, "unverified"),
        (make_event(status=Status.CONSTRAINED), FRESH, "unverified"),
    ],
)
def test_verification_names_the_basis_of_a_statement(atom: Atom, known_value: AgeingSignals, text: str) -> None:
    assert verification(atom, known_value) == Verification(text)


def test_a_statement_is_active_when_it_is_hot_and_verified() -> None:
    assert lifecycle_state(make_event(), FRESH, NOON) is LifecycleState.ACTIVE
    assert lifecycle_state(make_event(origin=Origin.DOCUMENT), FRESH, NOON) is LifecycleState.VALIDATED
    assert lifecycle_state(make_event(origin=Origin.DOCUMENT, confidence=0.2), FRESH, NOON) is LifecycleState.CANDIDATE


def test_a_state_stays_until_the_atom_is_stale() -> None:
    assert heat(make_event(60), FRESH, NOON) < 0.55
    assert lifecycle_state(make_event(60), FRESH, NOON) is LifecycleState.ACTIVE


def test_the_status_takes_precedence_over_the_label() -> None:
    assert lifecycle_state(make_event(status=Status.ARCHIVED), FRESH, NOON) is LifecycleState.ARCHIVED
    assert lifecycle_state(make_event(status=Status.SUPERSEDED), FRESH, NOON) is LifecycleState.STALE
    assert lifecycle_state(make_event(), AgeingSignals(is_disputed=True), NOON) is LifecycleState.STALE


@pytest.mark.parametrize(
    "spared",
    [
        {"kind": "commitment"},
        {"kind": "procedure"},
        {"pinned": True},
        {"layer": Layer.SEMANTIC},
        {"durability": Durability.CORE},
    ],
)
def test_only_atoms_that_may_fade_are_labelled_archived(spared: dict[str, object]) -> None:
    faded = {"confidence": 0.1, "importance": 0.0}
    assert lifecycle_state(make_event(999, **faded), FRESH, NOON) is LifecycleState.ARCHIVED
    assert lifecycle_state(make_event(999, **{**faded, **spared}), FRESH, NOON) is LifecycleState.STALE


def test_a_use_revives_a_faded_atom() -> None:
    faded = make_event(999, confidence=0.5, importance=0.0, origin=Origin.AGENT)
    assert lifecycle_state(faded, FRESH, NOON) in (LifecycleState.STALE, LifecycleState.ARCHIVED)
    assert lifecycle_state(faded, make_signals(0, 1, 2, 3, 4, 5), NOON) is LifecycleState.VALIDATED


def test_no_label_weighs_much_more_or_less_than_another() -> None:
    assert set(STATE_WEIGHTS) == set(LifecycleState)
    assert all(0.9 <= weight <= 1.05 for weight in STATE_WEIGHTS.values())
