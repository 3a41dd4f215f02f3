"""What happens to an atom as it ages: promotion, archival, expiry, and all of it together."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_atoms import DAY, NOON, atoms, make_event, make_signals, moments, signals

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability, Layer
from lamina.atom.provenance import Origin
from lamina.atom.status import Status, TransitionCause, check_transition
from lamina.lifecycle.ageing import decide_ageing, decide_archival, decide_expiry, update_signals
from lamina.lifecycle.ageing_decision import AgeingAction, StorageTier, reason_to_hold
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.promotion import decide_manual_demotion, decide_manual_promotion, decide_promotion
from lamina.lifecycle.retention import RetentionMode
from lamina.lifecycle.signals import AgeingSignals

AT = AgeingTime(NOON)
FRESH = AgeingSignals()
OFTEN = make_signals(1, 2, 3, 4, 5)
FORGOTTEN = {"importance": 0.2}


def test_an_ordinary_episode_is_promoted_after_five_days_of_use() -> None:
    risen = decide_promotion(make_event(6, importance=0.6), OFTEN, AT)
    assert (risen.action, risen.layer) == (AgeingAction.PROMOTE, Layer.SEMANTIC)
    assert "5 uses" in risen.reason


@pytest.mark.parametrize(
    ("kind", "layer"), [("decision", "procedural"), ("preference", "profile"), ("fact", "semantic")]
)
def test_an_atom_is_promoted_to_the_layer_of_its_kind(kind: str, layer: str) -> None:
    assert decide_promotion(make_event(6, kind=kind, importance=0.6), OFTEN, AT).layer == Layer(layer)


def test_neither_use_nor_importance_alone_promotes() -> None:
    assert not decide_promotion(make_event(6, importance=0.9), make_signals(1, 2, 3, 4), AT)
    assert not decide_promotion(make_event(6, importance=0.1), OFTEN, AT)


@pytest.mark.parametrize(
    ("minutes", "known_value", "rises"),
    [(29, FRESH, False), (30, FRESH, True), (1, make_signals(0), False), (1, make_signals(0, 0), True)],
)
def test_working_memory_without_a_run_becomes_episodic(minutes: float, known_value: AgeingSignals, rises: bool) -> None:
    note = make_event(minutes / 1440, layer=Layer.WORKING)
    assert bool(decide_promotion(note, known_value, AT)) is rises
    assert not decide_promotion(note.with_(run_id="run"), known_value, AT)


def test_a_double_promotion_happens_in_one_step() -> None:
    assert decide_promotion(make_event(6, layer=Layer.WORKING, importance=0.6), OFTEN, AT).layer is Layer.SEMANTIC


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
def test_a_pin_a_pending_review_and_verbatim_text_prevent_promotion(bound: dict[str, object]) -> None:
    assert not decide_promotion(make_event(6, **{"importance": 0.9, **bound}), OFTEN, AT)


def test_a_person_promotes_and_demotes_by_hand() -> None:
    assert decide_manual_promotion(make_event(layer=Layer.WORKING)).layer is Layer.EPISODIC
    assert decide_manual_promotion(make_event()).layer is Layer.SEMANTIC
    assert not decide_manual_promotion(make_event(layer=Layer.SEMANTIC))
    assert decide_manual_demotion(make_event(layer=Layer.PROCEDURAL)).layer is Layer.EPISODIC
    assert not decide_manual_demotion(make_event())


def test_old_unimportant_unused_atoms_are_archived_with_a_reason() -> None:
    laid = decide_archival(make_event(91, **FORGOTTEN), FRESH, AT)
    assert (laid.action, laid.status) == (AgeingAction.ARCHIVE, Status.ARCHIVED)
    assert laid.reason == "91 days without use, importance 0.21, used 0 times"


@pytest.mark.parametrize(
    ("fields", "known_value", "why"),
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
        ({"importance": 0.6}, FRESH, "importance 0.30"),
        ({}, make_signals(300, 301, 302), "used 3"),
        ({}, make_signals(10), "recent"),
        ({}, AgeingSignals(reviewed_at=NOON - 10 * DAY), "recent"),
        ({"status": Status.CHALLENGED}, FRESH, "challenged"),
        ({"status": Status.CONSTRAINED}, FRESH, "constrained"),
        ({"status": Status.SUPERSEDED}, FRESH, "superseded"),
    ],
)
def test_each_reason_alone_prevents_archival(fields: dict[str, object], known_value: AgeingSignals, why: str) -> None:
    spared = decide_archival(make_event(400, **{**FORGOTTEN, **fields}), known_value, AT)
    assert not spared
    assert why in spared.reason


def test_what_captured_text_begins_with_is_archived_and_what_matters_is_not() -> None:
    assert decide_archival(make_event(400, importance=0.5), FRESH, AT)
    assert decide_archival(make_event(400, importance=0.5, kind="narrative", segment_id="s1"), FRESH, AT)
    for reason in ({"importance": 0.8}, {"importance": 0.5, "valence": -0.8}):
        assert "importance" in decide_archival(make_event(400, **reason), FRESH, AT).reason
    corroborated = AgeingSignals(confirmations=3)
    assert not decide_archival(make_event(400, importance=0.5), corroborated, AT)


def test_ninety_days_are_not_more_than_ninety_days() -> None:
    assert not decide_archival(make_event(90, **FORGOTTEN), FRESH, AT)


def test_a_gentler_curve_archives_later() -> None:
    assert decide_archival(make_event(120, **FORGOTTEN), FRESH, AT)
    assert not decide_archival(make_event(120, **FORGOTTEN), FRESH, AT, RetentionMode.POWER)


def test_an_atom_archived_by_maintenance_returns_once_it_is_used() -> None:
    laid = make_event(400, status=Status.ARCHIVED, **FORGOTTEN)
    known_value = AgeingSignals(archived_at=NOON - 9 * DAY)
    assert not decide_archival(laid, known_value, AT)
    assert not decide_archival(laid, known_value.with_use(NOON - 9 * DAY), AT)
    back = decide_archival(laid, known_value.with_use(NOON), AT)
    assert (back.action, back.status) == (AgeingAction.REVIVE, Status.ACTIVE)


def test_the_time_of_archival_by_maintenance_is_kept_until_it_returns() -> None:
    laid = update_signals(FRESH, decide_archival(make_event(400, **FORGOTTEN), FRESH, AT), AT)
    assert laid.archived_at == NOON
    later = AgeingTime(NOON + DAY)
    back = decide_archival(make_event(400, status=Status.ARCHIVED, **FORGOTTEN), laid.with_use(later.now), later)
    assert update_signals(laid, back, later).archived_at is None


def test_what_a_person_archived_stays_archived() -> None:
    assert not decide_archival(make_event(400, status=Status.ARCHIVED, **FORGOTTEN), make_signals(0), AT)


def test_an_unconfirmed_guess_expires_after_thirty_days() -> None:
    guess = {"confidence": 0.2}
    assert not decide_expiry(make_event(29, **guess), FRESH, AT)
    decision = decide_expiry(make_event(30, **guess), FRESH, AT)
    assert (decision.action, decision.status) == (AgeingAction.EXPIRE, Status.TOMBSTONED)
    assert not decide_expiry(make_event(30, **guess), AgeingSignals(confirmations=1), AT)
    assert not decide_expiry(make_event(30, **guess), AgeingSignals(reviewed_at=NOON), AT)
    assert not decide_expiry(make_event(30, pinned=True, **guess), FRESH, AT)
    assert not decide_expiry(make_event(30, status=Status.CONSTRAINED, **guess), FRESH, AT)


def test_an_expired_atom_also_leaves_the_archive_and_is_not_revived_first() -> None:
    known_value = make_signals(0, archived_at=NOON - DAY)
    decisions = decide_ageing(make_event(40, confidence=0.2, status=Status.ARCHIVED), known_value, AT, StorageTier.COLD)
    assert [decision.action for decision in decisions] == [AgeingAction.EXPIRE]


def test_a_guess_with_an_explicit_expiry_keeps_it_until_confirmed() -> None:
    guess = make_event(40, confidence=0.2, expires_at=NOON + DAY)
    assert not decide_expiry(guess, FRESH, AT)
    assert decide_expiry(guess, FRESH, AgeingTime(NOON + DAY))
    assert not decide_expiry(guess, AgeingSignals(confirmations=1), AgeingTime(NOON + DAY))


def test_a_resolved_commitment_expires_ninety_days_after_its_last_use() -> None:
    fields = {"kind": "commitment", "resolved": True}
    assert decide_expiry(make_event(90, **fields), FRESH, AT)
    assert not decide_expiry(make_event(89, **fields), FRESH, AT)
    assert not decide_expiry(make_event(400, **fields), AgeingSignals(revised_at=NOON - DAY), AT)
    assert not decide_expiry(make_event(400, **fields), make_signals(1), AT)
    assert not decide_expiry(make_event(400, kind="commitment"), FRESH, AT)
    assert not decide_expiry(make_event(400, kind="event", resolved=True), FRESH, AT)


def test_an_explicit_expiry_is_followed() -> None:
    assert decide_expiry(make_event(1, expires_at=NOON), FRESH, AT)
    assert not decide_expiry(make_event(1, expires_at=NOON + DAY), FRESH, AT)


@given(atoms(), signals(), st.sampled_from(StorageTier), st.sampled_from(RetentionMode), st.none() | moments)
@settings(max_examples=400)
def test_ageing_is_idempotent_at_one_clock(
    atom: Atom, usage: AgeingSignals, tier: StorageTier, mode: RetentionMode, seen: datetime | None
) -> None:
    moment = AgeingTime(NOON, seen)
    for decision in decide_ageing(atom, usage, moment, tier, mode):
        atom, usage = decision.apply_to(atom), update_signals(usage, decision, moment)
        tier = decision.tier or tier
    assert decide_ageing(atom, usage, moment, tier, mode) == ()


@given(atoms(), signals(), st.sampled_from(RetentionMode))
@settings(max_examples=400)
def test_a_pin_prevents_every_step(atom: Atom, usage: AgeingSignals, mode: RetentionMode) -> None:
    pinned = atom.with_(pinned=True)
    assert decide_ageing(pinned, usage, AT, StorageTier.HOT, mode) == ()


@given(atoms(), signals(), st.sampled_from(RetentionMode))
@settings(max_examples=400)
def test_every_step_follows_the_status_table_and_touches_nothing_else(
    atom: Atom, usage: AgeingSignals, mode: RetentionMode
) -> None:
    for decision in decide_ageing(atom, usage, AT, StorageTier.HOT, mode):
        after = decision.apply_to(atom)
        check_transition(atom.status, after.status, TransitionCause.ORDINARY)
        assert after.with_(status=atom.status, layer=atom.layer) == atom
        assert decision.reason
        atom = after


@given(atoms(), signals(), st.floats(0.0, 4000.0), st.sampled_from(RetentionMode))
@settings(max_examples=400)
def test_a_clock_jump_alone_archives_nothing(
    atom: Atom, usage: AgeingSignals, days: float, mode: RetentionMode
) -> None:
    before = {
        decision.action for decision in decide_ageing(atom, usage, AgeingTime(NOON, last_activity_at=NOON), mode=mode)
    }
    after = {
        decision.action
        for decision in decide_ageing(atom, usage, AgeingTime(NOON + days * DAY, last_activity_at=NOON), mode=mode)
    }
    assert after - before <= {AgeingAction.PROMOTE}


@given(atoms(), signals(), st.floats(0.0, 4000.0))
def test_a_clock_set_back_archives_nothing_that_was_not_due(atom: Atom, usage: AgeingSignals, days: float) -> None:
    aside = {AgeingAction.ARCHIVE, AgeingAction.EXPIRE}
    before = {decision.action for decision in decide_ageing(atom, usage, AT)} & aside
    after = {decision.action for decision in decide_ageing(atom, usage, AgeingTime(NOON - days * DAY))} & aside
    assert before or not after


@given(atoms(), signals())
def test_pending_and_ended_atoms_are_left_alone(atom: Atom, usage: AgeingSignals) -> None:
    for status in set(Status) - {Status.ACTIVE, Status.ARCHIVED}:
        decisions = decide_ageing(atom.with_(status=status, pinned=False), usage, AT, StorageTier.HOT)
        assert decisions == ()


def test_a_revived_atom_is_not_archived_again_immediately() -> None:
    known_value = replace(make_signals(200), archived_at=NOON - 300 * DAY)
    assert not decide_archival(make_event(999, status=Status.ARCHIVED, **FORGOTTEN), known_value, AT)


def test_a_mass_change_is_held_for_a_person() -> None:
    assert reason_to_hold(20, 100) is None  # a few are never too many
    assert reason_to_hold(50, 1000) is None
    assert reason_to_hold(0, 0) is None
    text = reason_to_hold(21, 100)
    assert text is not None
    assert "21 of 100" in text


def test_use_and_trust_do_not_promote_a_pending_atom() -> None:
    assert not decide_promotion(make_event(6, importance=1.0, origin=Origin.WEB, status=Status.CONSTRAINED), OFTEN, AT)
