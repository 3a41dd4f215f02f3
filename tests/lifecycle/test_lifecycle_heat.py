"""Heat, decay, verification and the label that follows from them."""

from __future__ import annotations

from math import nan

import pytest
from hypothesis import given
from lives import DAY, NOON, atoms, past, said, signals, used

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability, Layer
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.lifecycle.heat import decay, feedback_score, heat
from lamina.lifecycle.lifecycle_state import LifecycleState, lifecycle_state, lifecycle_weight
from lamina.lifecycle.signals import AgeingSignals
from lamina.lifecycle.success_rate import success_rate
from lamina.lifecycle.verification import Verification, verification

TIERS = {"speculative": 0.2, "inferred": 0.5, "implied": 0.8, "explicit": 1.0}
FRESH = AgeingSignals()


def test_heat_is_the_sum_of_its_parts() -> None:
    assert heat(said(), FRESH, NOON) == pytest.approx(0.25 + 0.20 + 0.075 + 0.05)
    assert heat(said(), used(*[0.0] * 20), NOON) == pytest.approx(0.875)
    assert heat(said(), AgeingSignals(causal=9.0), NOON) == pytest.approx(0.575 + 0.015)
    assert heat(said(), AgeingSignals(is_disputed=True), NOON) == pytest.approx(0.575 - 0.2)
    assert heat(said(45), FRESH, NOON) == pytest.approx(0.575 - 0.1)


def test_decay_is_the_sum_of_its_parts() -> None:
    assert decay(said(90), used(30), NOON) == pytest.approx(
        0.30 * 0.5 + 0.25 * 0.25 + 0.0 + 0.05 + 0.15 * (1 - heat(said(90), used(30), NOON))
    )
    assert decay(said(999, confidence=0.2), FRESH, NOON) == pytest.approx(0.848, abs=5e-4)


def test_never_used_counts_as_a_year_and_used_at_an_unknown_time_does_not() -> None:
    assert decay(said(), FRESH, NOON) == pytest.approx(0.25 + 0.05 + 0.15 * (1 - 0.575))
    known = AgeingSignals(count=1)
    assert decay(said(), known, NOON) == pytest.approx(0.05 + 0.15 * (1 - heat(said(), known, NOON)))


@pytest.mark.parametrize(("tier", "day"), [("speculative", 66), ("inferred", 97), ("implied", 126), ("explicit", 154)])
def test_an_unused_memory_is_stale_from_the_day_worked_out_for_its_tier(tier: str, day: int) -> None:
    doubtful = {"confidence": TIERS[tier], "origin": Origin.DOCUMENT}
    assert lifecycle_state(said(day - 1, **doubtful), FRESH, NOON) is not LifecycleState.STALE
    assert lifecycle_state(said(day + 1, **doubtful), FRESH, NOON) is LifecycleState.STALE


@given(atoms(), signals(), past, past)
def test_between_uses_heat_falls_and_decay_grows(atom: Atom, known: AgeingSignals, one: float, other: float) -> None:
    sooner, later = (NOON + each * DAY for each in sorted((one, other)))
    assert 0.0 <= heat(atom, known, later) <= heat(atom, known, sooner) <= 1.0
    assert 0.0 <= decay(atom, known, sooner) <= decay(atom, known, later) + 1e-12 <= 1.0 + 1e-12


def test_feedback_is_even_where_nothing_was_learnt() -> None:
    assert feedback_score(FRESH) == 0.5
    assert feedback_score(AgeingSignals(quality=2.0)) == 1.0
    assert feedback_score(AgeingSignals(quality=0.1)) == pytest.approx(0.05)
    assert feedback_score(AgeingSignals(successes=8)) > 0.5 > feedback_score(AgeingSignals(failures=8))


@pytest.mark.parametrize(("good", "bad", "told"), [(0, 0, 0.5), (1, 0, 2 / 3), (3, 1, 2 / 3), (0, 8, 0.1)])
def test_worth_starts_even_and_follows_outcomes(good: float, bad: float, told: float) -> None:
    assert success_rate(good, bad) == pytest.approx(told)


@pytest.mark.parametrize(("good", "bad"), [(-1, 0), (0, -3), (nan, 1), (1, float("inf"))])
def test_a_broken_count_is_worth_neither_more_nor_less(good: float, bad: float) -> None:
    assert success_rate(good, bad) == 0.5


def test_old_outcomes_may_count_less() -> None:
    assert success_rate(8, 0, days=30, half_life_days=30) == pytest.approx(success_rate(4, 0))
    assert success_rate(8, 0, days=1e6, half_life_days=30) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("atom", "known", "told"),
    [
        (said(), FRESH, "user_confirmed"),
        (said(), AgeingSignals(is_disputed=True), "disputed"),
        (said(status=Status.CHALLENGED), AgeingSignals(reviewed_at=NOON), "disputed"),
        (said(origin=Origin.DOCUMENT), FRESH, "unverified"),
        (said(origin=Origin.DOCUMENT), AgeingSignals(confirmations=1), "system_inferred"),
        (said(origin=Origin.DOCUMENT), AgeingSignals(reviewed_at=NOON), "user_confirmed"),
        (said(origin=Origin.AGENT), FRESH, "system_inferred"),
        (said(confidence=0.8), FRESH, "system_inferred"),
        (said(confidence=0.5), FRESH, "unverified"),
        (said(status=Status.CONSTRAINED), FRESH, "unverified"),
    ],
)
def test_verification_says_who_stands_behind_a_statement(atom: Atom, known: AgeingSignals, told: str) -> None:
    assert verification(atom, known) == Verification(told)


def test_a_statement_is_active_when_it_is_hot_and_vouched_for() -> None:
    assert lifecycle_state(said(), FRESH, NOON) is LifecycleState.ACTIVE
    assert lifecycle_state(said(origin=Origin.DOCUMENT), FRESH, NOON) is LifecycleState.VALIDATED
    assert lifecycle_state(said(origin=Origin.DOCUMENT, confidence=0.2), FRESH, NOON) is LifecycleState.CANDIDATE


def test_it_stays_what_its_last_use_made_of_it_until_it_is_stale() -> None:
    assert heat(said(60), FRESH, NOON) < 0.55
    assert lifecycle_state(said(60), FRESH, NOON) is LifecycleState.ACTIVE


def test_the_status_decides_before_the_label() -> None:
    assert lifecycle_state(said(status=Status.ARCHIVED), FRESH, NOON) is LifecycleState.ARCHIVED
    assert lifecycle_state(said(status=Status.SUPERSEDED), FRESH, NOON) is LifecycleState.STALE
    assert lifecycle_state(said(), AgeingSignals(is_disputed=True), NOON) is LifecycleState.STALE
    assert lifecycle_weight(said(status=Status.CHALLENGED), FRESH, NOON) == 0.88


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
def test_only_what_may_fade_is_labelled_archived(spared: dict[str, object]) -> None:
    faded = {"confidence": 0.1, "importance": 0.0}
    assert lifecycle_state(said(999, **faded), FRESH, NOON) is LifecycleState.ARCHIVED
    assert lifecycle_state(said(999, **{**faded, **spared}), FRESH, NOON) is LifecycleState.STALE


def test_a_use_brings_a_faded_memory_back() -> None:
    faded = said(999, confidence=0.5, importance=0.0, origin=Origin.AGENT)
    assert lifecycle_state(faded, FRESH, NOON) in (LifecycleState.STALE, LifecycleState.ARCHIVED)
    assert lifecycle_state(faded, used(0, 1, 2, 3, 4, 5), NOON) is LifecycleState.VALIDATED


@given(atoms(), signals())
def test_no_label_weighs_a_memory_down_to_nothing(atom: Atom, known: AgeingSignals) -> None:
    assert 0.88 <= lifecycle_weight(atom, known, NOON) <= 1.05
