"""Statuses, the arrows between them, and what each means for recall."""

from __future__ import annotations

from itertools import product

import pytest

from lamina.atom import Status
from lamina.atom.status import ENDED, INCLUDE_OPTIONS, RECALL_WEIGHT, TransitionCause, check_transition
from lamina.errors import TransitionRefused

ALLOWED = {
    "constrained": ["active", "tombstoned"],
    "active": ["challenged", "superseded", "invalidated", "merged", "archived", "tombstoned"],
    "challenged": ["active", "superseded", "invalidated", "tombstoned", "archived"],
    "archived": ["active", "tombstoned"],
    "superseded": [],
    "invalidated": [],
    "merged": [],
    "tombstoned": [],
}
ENDINGS = {"superseded", "invalidated", "merged", "tombstoned"}
PAIRS = list(product(Status, Status))


def test_there_are_eight_statuses() -> None:
    assert {status.value for status in Status} == set(ALLOWED)


@pytest.mark.parametrize(("old", "new"), [pair for pair in PAIRS if pair[1] in ALLOWED[pair[0]]])
def test_every_transition_of_the_table_is_allowed(old: Status, new: Status) -> None:
    check_transition(old, new, TransitionCause.ORDINARY)
    check_transition(old, new, TransitionCause.RESTORE)


@pytest.mark.parametrize(
    ("old", "new"), [pair for pair in PAIRS if pair[0] != pair[1] and pair[1] not in ALLOWED[pair[0]]]
)
def test_every_other_transition_is_refused_with_the_allowed_ones(old: Status, new: Status) -> None:
    with pytest.raises(TransitionRefused) as refused:
        check_transition(old, new, TransitionCause.ORDINARY)
    assert (refused.value.old, refused.value.new) == (old, new)
    assert list(refused.value.allowed) == ALLOWED[old]
    for status in ALLOWED[old] or ["only undo or restore"]:
        assert status in str(refused.value)


@pytest.mark.parametrize("old", sorted(ENDINGS))
def test_a_restore_returns_ended_statements_to_active(old: str) -> None:
    check_transition(Status(old), Status.ACTIVE, TransitionCause.RESTORE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (old, new)
        for old, new in PAIRS
        if old != new and new not in ALLOWED[old] and not (old in ENDINGS and new == "active")
    ],
)
def test_a_restore_allows_no_other_transition(old: Status, new: Status) -> None:
    with pytest.raises(TransitionRefused):
        check_transition(old, new, TransitionCause.RESTORE)


LIVE = {"active", "challenged", "archived"}


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_rollback_also_allows_the_way_back_from_ended_statuses_and_no_other(old: Status, new: Status) -> None:
    if old == new or new in ALLOWED[old] or (old in ENDINGS and new in LIVE):
        check_transition(old, new, TransitionCause.ROLLBACK)
    else:
        with pytest.raises(TransitionRefused):
            check_transition(old, new, TransitionCause.ROLLBACK)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_quarantine_also_allows_everything_but_retracted_statements_to_become_pending(
    old: Status, new: Status
) -> None:
    waits = new == "constrained" and old != "tombstoned"
    if old == new or new in ALLOWED[old] or (old in ENDINGS and new in LIVE) or waits:
        check_transition(old, new, TransitionCause.QUARANTINE)
    else:
        with pytest.raises(TransitionRefused):
            check_transition(old, new, TransitionCause.QUARANTINE)


@pytest.mark.parametrize("way", [TransitionCause.UNDO, TransitionCause.ADOPT])
def test_undo_and_adoption_allow_every_transition(way: TransitionCause) -> None:
    for old, new in PAIRS:
        check_transition(old, new, way)


@pytest.mark.parametrize("way", list(TransitionCause))
def test_an_unchanged_status_is_not_a_transition(way: TransitionCause) -> None:
    for status in Status:
        check_transition(status, status, way)


def test_ordinary_recall_searches_active_and_with_a_lower_weight_archived_atoms() -> None:
    assert RECALL_WEIGHT == {Status.ACTIVE: 1.0, Status.ARCHIVED: 0.92}


def test_every_status_is_searched_or_can_be_included() -> None:
    assert set(RECALL_WEIGHT).union(*INCLUDE_OPTIONS.values()) == set(Status)
    assert INCLUDE_OPTIONS["history"] == ENDED == {Status(ending) for ending in ENDINGS}
