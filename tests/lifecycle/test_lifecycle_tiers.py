"""What is kept at hand: tier value and the way between hot and cold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lives import DAY, NOON, atoms, said, signals, used

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.decision import AgeingAction, StorageTier
from lamina.lifecycle.signals import AgeingSignals
from lamina.lifecycle.storage_tier import decide_tier, tier_value

HOT, COLD = StorageTier.HOT, StorageTier.COLD
AT = AgeingTime(NOON)
FRESH = AgeingSignals()
UNVERIFIED: dict[str, Any] = {"origin": Origin.DOCUMENT}


def test_tier_value_is_the_sum_of_its_parts() -> None:
    assert tier_value(said(**UNVERIFIED), FRESH, NOON) == pytest.approx(0.24 + 0.20 + 0.10 + 0.05)
    assert tier_value(said(), FRESH, NOON) == pytest.approx(0.59 + 0.05)
    assert tier_value(said(kind="correction", **UNVERIFIED), FRESH, NOON) == pytest.approx(0.59 + 0.08)
    assert tier_value(said(), AgeingSignals(is_disputed=True), NOON) == pytest.approx(0.59 - 0.10)
    assert tier_value(said(99, **UNVERIFIED), FRESH, NOON) == pytest.approx(0.39)


@pytest.mark.parametrize(("confidence", "day"), [(0.2, 38), (0.5, 65), (0.8, 87)])
def test_an_unused_memory_cools_on_the_day_worked_out_for_its_tier(confidence: float, day: int) -> None:
    assert not decide_tier(said(day - 1, confidence=confidence, **UNVERIFIED), FRESH, AT, HOT)
    cooled = decide_tier(said(day, confidence=confidence, **UNVERIFIED), FRESH, AT, HOT)
    assert (cooled.action, cooled.tier) == (AgeingAction.COOL, COLD)


def test_an_explicit_one_never_cools_for_want_of_use_alone() -> None:
    assert not decide_tier(said(9999, **UNVERIFIED), FRESH, AT, HOT)


def test_nothing_cools_in_its_first_fortnight() -> None:
    worthless = {"confidence": 0.1, "importance": 0.0, **UNVERIFIED}
    known = AgeingSignals(quality=0.1)
    assert tier_value(said(13, **worthless), known, NOON) <= 0.35
    assert not decide_tier(said(13, **worthless), known, AT, HOT)
    assert decide_tier(said(14, **worthless), known, AT, HOT).action is AgeingAction.COOL


def test_between_the_marks_nothing_moves() -> None:
    between = said(60, **UNVERIFIED)
    assert 0.35 < tier_value(between, FRESH, NOON) < 0.70
    assert not decide_tier(between, FRESH, AT, HOT)
    assert not decide_tier(between, FRESH, AT, COLD)


def test_use_warms_what_was_cold() -> None:
    warmed = decide_tier(said(200), used(0, 1, 2), AT, COLD)
    assert (warmed.action, warmed.tier) == (AgeingAction.WARM, HOT)


@pytest.mark.parametrize("bound", [{"pinned": True}, {"durability": Durability.CORE}])
def test_what_is_pinned_or_core_stays_at_hand(bound: dict[str, object]) -> None:
    faded = said(999, confidence=0.1, importance=0.0, **bound)
    assert not decide_tier(faded, FRESH, AT, HOT)
    assert decide_tier(faded, FRESH, AT, COLD).action is AgeingAction.WARM


def test_what_is_archived_is_cold_and_what_is_over_is_left() -> None:
    assert decide_tier(said(status=Status.ARCHIVED), FRESH, AT, HOT).action is AgeingAction.COOL
    assert not decide_tier(said(999, status=Status.TOMBSTONED, confidence=0.1), FRESH, AT, HOT)


@given(atoms(), signals(), st.sampled_from(StorageTier))
def test_routing_twice_is_routing_once(atom: Atom, known: AgeingSignals, tier: StorageTier) -> None:
    first = decide_tier(atom, known, AT, tier)
    assert not decide_tier(atom, known, AT, first.tier or tier)
    assert 0.0 <= tier_value(atom, known, NOON) <= 1.0


@given(atoms(), signals(), st.floats(0.0, 4000.0))
def test_a_jump_of_the_clock_alone_cools_nothing(atom: Atom, known: AgeingSignals, days: float) -> None:
    jumped = AgeingTime(NOON + days * DAY, last_activity_at=NOON)
    assert decide_tier(atom, known, jumped, HOT) == decide_tier(atom, known, AT, HOT)
