"""What happens to an atom as it ages: promotion, archival, expiry, and all of it together."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lives import DAY, NOON, atoms, moments, said, signals, used

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability, Layer
from lamina.atom.status import Status, TransitionCause, check_transition
from lamina.atom.trust import Origin
from lamina.lifecycle.ageing import decide_ageing, update_signals
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.archival import decide_archival
from lamina.lifecycle.decision import AgeingAction, StorageTier
from lamina.lifecycle.expiry import decide_expiry
from lamina.lifecycle.mass_change_check import reason_to_hold
from lamina.lifecycle.promotion import decide_manual_demotion, decide_manual_promotion, decide_promotion
from lamina.lifecycle.retention import RetentionMode
from lamina.lifecycle.signals import AgeingSignals

AT = AgeingTime(NOON)
FRESH = AgeingSignals()
OFTEN = used(1, 2, 3, 4, 5)
FORGOTTEN = {"importance": 0.2}


def test_an_ordinary_episode_rises_after_five_days_of_use() -> None:
    risen = decide_promotion(said(6, importance=0.6), OFTEN, AT)
    assert (risen.action, risen.layer) == (AgeingAction.PROMOTE, Layer.SEMANTIC)
    assert "5 uses" in risen.reason


@pytest.mark.parametrize(
    ("kind", "layer"), [("decision", "procedural"), ("preference", "profile"), ("fact", "semantic")]
)
def test_a_memory_rises_to_where_its_kind_is_at_home(kind: str, layer: str) -> None:
    assert decide_promotion(said(6, kind=kind, importance=0.6), OFTEN, AT).layer == Layer(layer)


def test_neither_use_nor_importance_alone_lifts_a_memory() -> None:
    assert not decide_promotion(said(6, importance=0.9), used(1, 2, 3, 4), AT)
    assert not decide_promotion(said(6, importance=0.1), OFTEN, AT)


@pytest.mark.parametrize(
    ("minutes", "known", "rises"), [(29, FRESH, False), (30, FRESH, True), (1, used(0), False), (1, used(0, 0), True)]
)
def test_working_memory_without_a_run_becomes_episodic(minutes: float, known: AgeingSignals, rises: bool) -> None:
    note = said(minutes / 1440, layer=Layer.WORKING)
    assert bool(decide_promotion(note, known, AT)) is rises
    assert not decide_promotion(note.with_(run_id="run"), known, AT)


def test_what_earns_two_layers_at_once_gets_both_at_once() -> None:
    assert decide_promotion(said(6, layer=Layer.WORKING, importance=0.6), OFTEN, AT).layer is Layer.SEMANTIC


@pytest.mark.parametrize(
    "bound",
    [
        {"pinned": True},
        {"status": Status.CONSTRAINED},
        {"status": Status.CHALLENGED},
        {"status": Status.SUPERSEDED},
        {"kind": "narrative", "segment_id": "s-1"},
        {"kind": "box"},
    ],
)
def test_a_pin_a_review_and_verbatim_words_stay_where_they_are(bound: dict[str, object]) -> None:
    assert not decide_promotion(said(6, **{"importance": 0.9, **bound}), OFTEN, AT)


def test_a_person_raises_and_lowers_by_hand() -> None:
    assert decide_manual_promotion(said(layer=Layer.WORKING)).layer is Layer.EPISODIC
    assert decide_manual_promotion(said()).layer is Layer.SEMANTIC
    assert not decide_manual_promotion(said(layer=Layer.SEMANTIC))
    assert decide_manual_demotion(said(layer=Layer.PROCEDURAL)).layer is Layer.EPISODIC
    assert not decide_manual_demotion(said())


def test_what_is_old_unimportant_and_unused_is_archived_and_says_why() -> None:
    laid = decide_archival(said(91, **FORGOTTEN), FRESH, AT)
    assert (laid.action, laid.status) == (AgeingAction.ARCHIVE, Status.ARCHIVED)
    assert laid.reason == "91 days without use, importance 0.20, used 0 times"


@pytest.mark.parametrize(
    ("fields", "known", "why"),
    [
        ({"pinned": True}, FRESH, "pinned"),
        ({"layer": Layer.SEMANTIC}, FRESH, "semantic"),
        ({"layer": Layer.PROFILE}, FRESH, "profile"),
        ({"layer": Layer.PROCEDURAL}, FRESH, "procedural"),
        ({"layer": Layer.CODEBASE}, FRESH, "codebase"),
        ({"durability": Durability.CORE}, FRESH, "retention"),
        ({"kind": "commitment"}, FRESH, "protected"),
        ({"kind": "correction"}, FRESH, "protected"),
        ({"kind": "box"}, FRESH, "belongs"),
        ({"run_id": "run"}, FRESH, "belongs"),
        ({"importance": 0.3}, FRESH, "importance"),
        ({}, used(300, 301, 302), "used 3"),
        ({}, used(10), "recent"),
        ({}, AgeingSignals(reviewed_at=NOON - 10 * DAY), "recent"),
        ({"status": Status.CHALLENGED}, FRESH, "challenged"),
        ({"status": Status.CONSTRAINED}, FRESH, "constrained"),
        ({"status": Status.SUPERSEDED}, FRESH, "superseded"),
    ],
)
def test_each_reason_alone_spares_a_memory(fields: dict[str, object], known: AgeingSignals, why: str) -> None:
    spared = decide_archival(said(400, **{**FORGOTTEN, **fields}), known, AT)
    assert not spared
    assert why in spared.reason


def test_ninety_days_are_not_more_than_ninety_days() -> None:
    assert not decide_archival(said(90, **FORGOTTEN), FRESH, AT)


def test_a_gentler_curve_archives_later() -> None:
    assert decide_archival(said(120, **FORGOTTEN), FRESH, AT)
    assert not decide_archival(said(120, **FORGOTTEN), FRESH, AT, RetentionMode.POWER)


def test_what_maintenance_archived_comes_back_once_it_is_used() -> None:
    laid = said(400, status=Status.ARCHIVED, **FORGOTTEN)
    known = AgeingSignals(archived_at=NOON - 9 * DAY)
    assert not decide_archival(laid, known, AT)
    assert not decide_archival(laid, known.with_use(NOON - 9 * DAY), AT)
    back = decide_archival(laid, known.with_use(NOON), AT)
    assert (back.action, back.status) == (AgeingAction.REVIVE, Status.ACTIVE)


def test_when_maintenance_archived_it_is_known_until_it_comes_back() -> None:
    laid = update_signals(FRESH, decide_archival(said(400, **FORGOTTEN), FRESH, AT), AT)
    assert laid.archived_at == NOON
    later = AgeingTime(NOON + DAY)
    back = decide_archival(said(400, status=Status.ARCHIVED, **FORGOTTEN), laid.with_use(later.now), later)
    assert update_signals(laid, back, later).archived_at is None


def test_what_a_person_archived_stays_archived() -> None:
    assert not decide_archival(said(400, status=Status.ARCHIVED, **FORGOTTEN), used(0), AT)


def test_a_guess_nobody_confirmed_goes_after_thirty_days() -> None:
    guess = {"confidence": 0.2}
    assert not decide_expiry(said(29, **guess), FRESH, AT)
    gone = decide_expiry(said(30, **guess), FRESH, AT)
    assert (gone.action, gone.status) == (AgeingAction.EXPIRE, Status.TOMBSTONED)
    assert not decide_expiry(said(30, **guess), AgeingSignals(confirmations=1), AT)
    assert not decide_expiry(said(30, **guess), AgeingSignals(reviewed_at=NOON), AT)
    assert not decide_expiry(said(30, pinned=True, **guess), FRESH, AT)
    assert not decide_expiry(said(30, status=Status.CONSTRAINED, **guess), FRESH, AT)


def test_what_is_over_goes_from_the_archive_too_and_is_not_revived_first() -> None:
    known = used(0, archived_at=NOON - DAY)
    taken = decide_ageing(said(40, confidence=0.2, status=Status.ARCHIVED), known, AT, StorageTier.COLD)
    assert [each.action for each in taken] == [AgeingAction.EXPIRE]


def test_a_guess_with_a_term_of_its_own_has_that_one_until_it_is_confirmed() -> None:
    guess = said(40, confidence=0.2, expires_at=NOON + DAY)
    assert not decide_expiry(guess, FRESH, AT)
    assert decide_expiry(guess, FRESH, AgeingTime(NOON + DAY))
    assert not decide_expiry(guess, AgeingSignals(confirmations=1), AgeingTime(NOON + DAY))


def test_a_resolved_commitment_goes_ninety_days_after_it_was_last_touched() -> None:
    kept = {"kind": "commitment", "resolved": True}
    assert decide_expiry(said(90, **kept), FRESH, AT)
    assert not decide_expiry(said(89, **kept), FRESH, AT)
    assert not decide_expiry(said(400, **kept), AgeingSignals(revised_at=NOON - DAY), AT)
    assert not decide_expiry(said(400, **kept), used(1), AT)
    assert not decide_expiry(said(400, kind="commitment"), FRESH, AT)
    assert not decide_expiry(said(400, kind="event", resolved=True), FRESH, AT)


def test_what_names_the_end_of_its_own_use_ends_then() -> None:
    assert decide_expiry(said(1, expires_at=NOON), FRESH, AT)
    assert not decide_expiry(said(1, expires_at=NOON + DAY), FRESH, AT)


@given(atoms(), signals(), st.sampled_from(StorageTier), st.sampled_from(RetentionMode), st.none() | moments)
@settings(max_examples=400)
def test_ageing_twice_at_one_clock_is_ageing_once(
    atom: Atom, known: AgeingSignals, tier: StorageTier, mode: RetentionMode, seen: datetime | None
) -> None:
    moment = AgeingTime(NOON, seen)
    for decision in decide_ageing(atom, known, moment, tier, mode):
        atom, known = decision.apply_to(atom), update_signals(known, decision, moment)
        tier = decision.tier or tier
    assert decide_ageing(atom, known, moment, tier, mode) == ()


@given(atoms(), signals(), st.sampled_from(RetentionMode))
@settings(max_examples=400)
def test_a_pin_binds_every_step(atom: Atom, known: AgeingSignals, mode: RetentionMode) -> None:
    pinned = atom.with_(pinned=True)
    assert decide_ageing(pinned, known, AT, StorageTier.HOT, mode) == ()


@given(atoms(), signals(), st.sampled_from(RetentionMode))
@settings(max_examples=400)
def test_every_step_goes_through_the_status_table_and_touches_nothing_else(
    atom: Atom, known: AgeingSignals, mode: RetentionMode
) -> None:
    for decision in decide_ageing(atom, known, AT, StorageTier.HOT, mode):
        after = decision.apply_to(atom)
        check_transition(atom.status, after.status, TransitionCause.ORDINARY)
        assert after.with_(status=atom.status, layer=atom.layer) == atom
        assert decision.reason
        atom = after


@given(atoms(), signals(), st.floats(0.0, 4000.0), st.sampled_from(RetentionMode))
@settings(max_examples=400)
def test_a_jump_of_the_clock_alone_lays_nothing_aside(
    atom: Atom, known: AgeingSignals, days: float, mode: RetentionMode
) -> None:
    before = {each.action for each in decide_ageing(atom, known, AgeingTime(NOON, last_activity_at=NOON), mode=mode)}
    after = {
        each.action
        for each in decide_ageing(atom, known, AgeingTime(NOON + days * DAY, last_activity_at=NOON), mode=mode)
    }
    assert after - before <= {AgeingAction.PROMOTE}


@given(atoms(), signals(), st.floats(0.0, 4000.0))
def test_a_clock_set_back_lays_nothing_aside_that_was_not_due(atom: Atom, known: AgeingSignals, days: float) -> None:
    aside = {AgeingAction.ARCHIVE, AgeingAction.EXPIRE}
    before = {each.action for each in decide_ageing(atom, known, AT)} & aside
    after = {each.action for each in decide_ageing(atom, known, AgeingTime(NOON - days * DAY))} & aside
    assert before or not after


@given(atoms(), signals())
def test_what_waits_for_review_or_is_over_is_left_alone(atom: Atom, known: AgeingSignals) -> None:
    for status in set(Status) - {Status.ACTIVE, Status.ARCHIVED}:
        told = decide_ageing(atom.with_(status=status, pinned=False), known, AT, StorageTier.HOT)
        assert told == ()


def test_a_revived_memory_is_not_archived_again_at_once() -> None:
    known = replace(used(200), archived_at=NOON - 300 * DAY)
    assert not decide_archival(said(999, status=Status.ARCHIVED, **FORGOTTEN), known, AT)


def test_much_of_a_store_at_once_waits_for_a_person() -> None:
    assert reason_to_hold(20, 100) is None  # a few are never too many
    assert reason_to_hold(50, 1000) is None
    assert reason_to_hold(0, 0) is None
    told = reason_to_hold(21, 100)
    assert told is not None
    assert "21 of 100" in told


def test_use_and_trust_do_not_lift_what_nobody_let_in() -> None:
    assert not decide_promotion(said(6, importance=1.0, origin=Origin.WEB, status=Status.CONSTRAINED), OFTEN, AT)
