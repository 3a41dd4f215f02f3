"""What is kept at hand: tier value and the way between hot and cold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_atoms import DAY, NOON, atoms, make_event, make_signals, signals

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.lifecycle.ageing import decide_tier, tier_value
from lamina.lifecycle.ageing_decision import AgeingAction, StorageTier
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.signals import AgeingSignals

HOT, COLD = StorageTier.HOT, StorageTier.COLD
AT = AgeingTime(NOON)
FRESH = AgeingSignals()
UNVERIFIED: dict[str, Any] = {"origin": Origin.DOCUMENT}


def test_tier_value_is_the_sum_of_its_terms() -> None:
    assert tier_value(make_event(**UNVERIFIED), FRESH, NOON) == pytest.approx(0.24 + 0.20 + 0.10 + 0.05)
    assert tier_value(make_event(), FRESH, NOON) == pytest.approx(0.59 + 0.05)
    assert tier_value(make_event(kind="correction", **UNVERIFIED), FRESH, NOON) == pytest.approx(0.59 + 0.08)
    assert tier_value(make_event(), AgeingSignals(is_disputed=True), NOON) == pytest.approx(0.59 - 0.10)
    assert tier_value(make_event(99, **UNVERIFIED), FRESH, NOON) == pytest.approx(0.39)


@pytest.mark.parametrize(("confidence", "day"), [(0.2, 38), (0.5, 65), (0.8, 87)])
def test_an_unused_atom_cools_on_the_computed_day_of_its_tier(confidence: float, day: int) -> None:
    assert not decide_tier(make_event(day - 1, confidence=confidence, **UNVERIFIED), FRESH, AT, HOT)
    cooled = decide_tier(make_event(day, confidence=confidence, **UNVERIFIED), FRESH, AT, HOT)
    assert (cooled.action, cooled.tier) == (AgeingAction.COOL, COLD)


def test_an_explicit_atom_never_cools_for_lack_of_use_alone() -> None:
    assert not decide_tier(make_event(9999, **UNVERIFIED), FRESH, AT, HOT)


def test_nothing_cools_in_its_first_fortnight() -> None:
    worthless = {"confidence": 0.1, "importance": 0.0, **UNVERIFIED}
    known_value = AgeingSignals(quality=0.1)
    assert tier_value(make_event(13, **worthless), known_value, NOON) <= 0.35
    assert not decide_tier(make_event(13, **worthless), known_value, AT, HOT)
    assert decide_tier(make_event(14, **worthless), known_value, AT, HOT).action is AgeingAction.COOL


def test_between_the_thresholds_nothing_moves() -> None:
    between = make_event(60, **UNVERIFIED)
    assert 0.35 < tier_value(between, FRESH, NOON) < 0.70
    assert not decide_tier(between, FRESH, AT, HOT)
    assert not decide_tier(between, FRESH, AT, COLD)


def test_use_warms_a_cold_atom() -> None:
    warmed = decide_tier(make_event(200), make_signals(0, 1, 2), AT, COLD)
    assert (warmed.action, warmed.tier) == (AgeingAction.WARM, HOT)


@pytest.mark.parametrize("bound", [{"pinned": True}, {"durability": Durability.CORE}])
def test_pinned_and_core_atoms_stay_hot(bound: dict[str, object]) -> None:
    faded = make_event(999, confidence=0.1, importance=0.0, **bound)
    assert not decide_tier(faded, FRESH, AT, HOT)
    assert decide_tier(faded, FRESH, AT, COLD).action is AgeingAction.WARM


def test_archived_atoms_are_cold_and_ended_ones_are_left_alone() -> None:
    assert decide_tier(make_event(status=Status.ARCHIVED), FRESH, AT, HOT).action is AgeingAction.COOL
    assert not decide_tier(make_event(999, status=Status.TOMBSTONED, confidence=0.1), FRESH, AT, HOT)


@given(atoms(), signals(), st.sampled_from(StorageTier))
def test_the_tier_decision_is_idempotent(atom: Atom, usage: AgeingSignals, tier: StorageTier) -> None:
    first = decide_tier(atom, usage, AT, tier)
    assert not decide_tier(atom, usage, AT, first.tier or tier)
    assert 0.0 <= tier_value(atom, usage, NOON) <= 1.0


@given(atoms(), signals(), st.floats(0.0, 4000.0))
def test_a_clock_jump_alone_cools_nothing(atom: Atom, usage: AgeingSignals, days: float) -> None:
    jumped = AgeingTime(NOON + days * DAY, last_activity_at=NOON)
    assert decide_tier(atom, usage, jumped, HOT) == decide_tier(atom, usage, AT, HOT)
