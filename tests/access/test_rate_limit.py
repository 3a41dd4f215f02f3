from __future__ import annotations

from lamina.access import RateLimiter


def test_a_rate_limit_applies_per_principal_and_refills() -> None:
    now = [0.0]
    budgets = RateLimiter(reads=3, writes=1, now=lambda: now[0])
    assert [budgets.take("a", write=False) for _ in range(3)] == [0, 0, 0]
    assert budgets.take("a", write=False) == 20.0
    assert budgets.take("b", write=False) == 0
    assert budgets.take("a", write=True) == 0
    assert budgets.take("a", write=True) == 60.0
    now[0] = 20.0
    assert budgets.take("a", write=False) == 0
    assert budgets.take("a", write=False) == 20.0


def test_a_rate_limit_never_exceeds_one_minutes_worth() -> None:
    now = [0.0]
    budgets = RateLimiter(reads=2, writes=1, now=lambda: now[0])
    budgets.take("a", write=False)
    now[0] = 10_000.0
    assert [budgets.take("a", write=False) for _ in range(3)] == [0, 0, 30.0]


def test_many_principals_use_bounded_memory_and_busy_ones_stay_limited() -> None:
    now = [0.0]
    budgets = RateLimiter(reads=1, writes=1, now=lambda: now[0])
    for n in range(10_000):
        budgets.take(f"p{n}", write=False)
    now[0] = 59.0
    budgets.take("busy", write=True)
    now[0] = 61.0
    budgets.take("one more", write=False)
    assert len(budgets._buckets) < 10
    assert budgets.take("busy", write=True) > 0
