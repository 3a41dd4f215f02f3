"""Where a statement stands at a moment: its status and its time, taken together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lamina.atom.atom import Atom, AtomId, EffectiveStatus, effective_from, effective_status_at
from lamina.atom.provenance import Scope
from lamina.atom.status import Status

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def make_statement(status: Status = Status.ACTIVE, **fields: Any) -> Atom:
    actual = {"observed_at": NOON - 9 * DAY, "status": status, **fields}
    return Atom(id=AtomId("0" * 26), scope=Scope("org:local"), kind="fact", content="Tea is hot.", **actual)


def test_a_statement_is_valid_from_its_own_date_or_else_from_when_it_was_said() -> None:
    assert effective_from(make_statement()) == NOON - 9 * DAY
    assert effective_from(make_statement(valid_from=NOON + DAY)) == NOON + DAY


def test_the_valid_interval_is_half_open() -> None:
    atom = make_statement(valid_from=NOON, valid_until=NOON + DAY)
    moments = [NOON - DAY / 2, NOON, NOON + DAY / 2, NOON + DAY]
    assert [effective_status_at(atom, at) for at in moments] == [
        EffectiveStatus.FUTURE,
        EffectiveStatus.CURRENT,
        EffectiveStatus.CURRENT,
        EffectiveStatus.ENDED,
    ]


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.MERGED])
def test_a_superseded_statement_was_valid_until_its_successor(status: Status) -> None:
    replaced = make_statement(status, valid_until=NOON)
    assert effective_status_at(replaced, NOON - DAY) is EffectiveStatus.CURRENT
    assert effective_status_at(replaced, NOON) is EffectiveStatus.ENDED
    assert effective_status_at(make_statement(status), NOON - DAY) is EffectiveStatus.ENDED


@pytest.mark.parametrize(
    ("status", "stands"),
    [
        (Status.ACTIVE, EffectiveStatus.CURRENT),
        (Status.ARCHIVED, EffectiveStatus.CURRENT),
        (Status.INVALIDATED, EffectiveStatus.WRONG),
        (Status.TOMBSTONED, EffectiveStatus.WITHDRAWN),
        (Status.CHALLENGED, EffectiveStatus.DISPUTED),
        (Status.CONSTRAINED, EffectiveStatus.PENDING),
    ],
)
def test_the_status_decides_where_times_do_not(status: Status, stands: EffectiveStatus) -> None:
    assert effective_status_at(make_statement(status), NOON) is stands
