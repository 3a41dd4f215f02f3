"""Where a statement stands at a moment: its status and its time, taken together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.atom.standing import Standing, begins, standing
from lamina.atom.status import Status

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def said(status: Status = Status.ACTIVE, **fields: Any) -> Atom:
    own = {"observed_at": NOON - 9 * DAY, "status": status, **fields}
    return Atom(id=AtomId("0" * 26), scope=Scope("org:local"), kind="fact", content="Tea is hot.", **own)


def test_a_statement_begins_when_it_says_or_else_when_it_was_said() -> None:
    assert begins(said()) == NOON - 9 * DAY
    assert begins(said(valid_from=NOON + DAY)) == NOON + DAY


def test_its_time_is_half_open() -> None:
    held = said(valid_from=NOON, valid_until=NOON + DAY)
    moments = [NOON - DAY / 2, NOON, NOON + DAY / 2, NOON + DAY]
    assert [standing(held, at) for at in moments] == [Standing.AHEAD, Standing.CURRENT, Standing.CURRENT, Standing.OVER]


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.MERGED])
def test_one_that_was_replaced_stood_until_then(status: Status) -> None:
    replaced = said(status, valid_until=NOON)
    assert standing(replaced, NOON - DAY) is Standing.CURRENT
    assert standing(replaced, NOON) is Standing.OVER
    assert standing(said(status), NOON - DAY) is Standing.OVER


@pytest.mark.parametrize(
    ("status", "stands"),
    [
        (Status.ACTIVE, Standing.CURRENT),
        (Status.ARCHIVED, Standing.CURRENT),
        (Status.INVALIDATED, Standing.WRONG),
        (Status.TOMBSTONED, Standing.TAKEN_BACK),
        (Status.CHALLENGED, Standing.DOUBTED),
        (Status.CONSTRAINED, Standing.HELD),
    ],
)
def test_a_status_decides_where_time_does_not(status: Status, stands: Standing) -> None:
    assert standing(said(status), NOON) is stands
