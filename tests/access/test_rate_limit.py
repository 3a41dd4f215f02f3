from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lamina.access import RateLimiter, RateLimits
from lamina.store.sqlite.access import SqliteAccess


@pytest.fixture
def state(tmp_path: Path) -> Iterator[SqliteAccess]:
    with closing(SqliteAccess(tmp_path)) as state:
        yield state


def test_a_rate_limit_applies_per_principal_and_refills(state: SqliteAccess) -> None:
    now = [0.0]
    limiter = RateLimiter(state, RateLimits(reads=3, writes=1), now=lambda: now[0])
    assert [limiter.take("a", write=False) for _ in range(3)] == [0, 0, 0]
    assert limiter.take("a", write=False) == 20.0
    assert limiter.take("b", write=False) == 0
    assert limiter.take("a", write=True) == 0
    assert limiter.take("a", write=True) == 60.0
    now[0] = 20.0
    assert limiter.take("a", write=False) == 0
    assert limiter.take("a", write=False) == 20.0


def test_a_rate_limit_never_exceeds_one_minutes_worth(state: SqliteAccess) -> None:
    now = [0.0]
    limiter = RateLimiter(state, RateLimits(reads=2, writes=1), now=lambda: now[0])
    limiter.take("a", write=False)
    now[0] = 10_000.0
    assert [limiter.take("a", write=False) for _ in range(3)] == [0, 0, 30.0]


def test_two_processes_share_one_limit(state: SqliteAccess, tmp_path: Path) -> None:
    limits = RateLimits(reads=2, writes=1)
    with closing(SqliteAccess(tmp_path)) as other_state:
        one, other = RateLimiter(state, limits, lambda: 0.0), RateLimiter(other_state, limits, lambda: 0.0)
        assert [one.take("a", write=False), other.take("a", write=False)] == [0, 0]
        assert one.take("a", write=False) == other.take("a", write=False) == 30.0
