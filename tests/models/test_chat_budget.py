"""What chat models may use in a day."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from lamina.clock import FixedClock
from lamina.errors import StoreError
from lamina.models.chat import user_message
from lamina.models.chat_budget import ChatBudget, DailyLimits, TokenPrices
from lamina.models.errors import BudgetSpent, ModelError
from lamina.store.admin import ModelUsage
from lamina.store.sqlite.recalls_and_usage import SqliteUsage
from lamina.testing.admin import day_total
from llm_server import completion, scripted

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
DAY = NOON.date()


class Word(BaseModel):
    word: str = Field(max_length=9)


@pytest.fixture
def usage(tmp_path: Path) -> Iterator[SqliteUsage]:
    usage = SqliteUsage(tmp_path / "usage.db")
    yield usage
    usage.close()


def test_calls_beyond_the_limit_are_not_made(usage: SqliteUsage) -> None:
    pytest.importorskip("openai", reason="chat needs pip install 'lamina[llm]'")
    budget = ChatBudget(usage, FixedClock(NOON), DailyLimits(calls=2))
    with scripted(completion({"word": "yes"})) as server:
        chat = server.chat(meter=budget)
        for _ in range(2):
            chat.ask([user_message("?")], Word)
        with pytest.raises(BudgetSpent, match=r"2026-11-16 \(UTC\) is spent: 2 calls \(chat_calls_per_day\)"):
            chat.ask([user_message("?")], Word)
        chat.close()
    assert len(server.asked) == 2
    assert day_total(usage, DAY) == ModelUsage(2, 22, 10)


def test_a_new_day_is_a_new_budget(usage: SqliteUsage) -> None:
    clock = FixedClock(NOON)
    budget = ChatBudget(usage, clock, DailyLimits(calls=1))
    budget.begin("m")
    with pytest.raises(BudgetSpent):
        budget.begin("m")
    clock.at += timedelta(hours=12)
    budget.begin("m")
    assert [day.day for day in usage.days()] == [DAY + timedelta(days=1), DAY]


def test_tokens_and_cost_have_limits_too(usage: SqliteUsage) -> None:
    prices = TokenPrices(tokens_in=2.0, tokens_out=10.0)
    budget = ChatBudget(usage, FixedClock(NOON), DailyLimits(tokens=1000), prices)
    budget.begin("m")
    budget.record_usage("m", 900, 50)
    budget.begin("m")
    budget.record_usage("m", 0, 50)
    with pytest.raises(BudgetSpent, match="1000 of 1000 tokens"):
        budget.begin("m")
    assert day_total(usage, DAY).money == pytest.approx((900 * 2 + 100 * 10) / 1e6)
    with pytest.raises(BudgetSpent, match=r"0\.00 of 0\.00 \(chat_money_per_day\)"):
        ChatBudget(usage, FixedClock(NOON), DailyLimits(money=0.0028), prices).begin("m")
    assert day_total(usage, DAY).calls == 2


def test_all_models_share_a_budget(usage: SqliteUsage) -> None:
    budget = ChatBudget(usage, FixedClock(NOON), DailyLimits(calls=1))
    budget.begin("one")
    with pytest.raises(BudgetSpent):
        budget.begin("other")


def test_without_limits_usage_is_still_counted(usage: SqliteUsage) -> None:
    budget = ChatBudget(usage, FixedClock(NOON))
    for _ in range(5):
        budget.begin("m")
        budget.record_usage("m", 10, 1)
    assert day_total(usage, DAY) == ModelUsage(5, 50, 5)


def test_an_uncountable_call_is_not_made() -> None:
    class Broken:
        def add(self, day: date, model: str, used: ModelUsage) -> ModelUsage:
            raise StoreError("the disk is full")

        def of(self, day: date) -> ModelUsage:
            raise StoreError("the disk is full")

        def days(self) -> list[object]:
            return []

    with pytest.raises(ModelError, match="the disk is full"):
        ChatBudget(Broken(), FixedClock(NOON)).begin("m")  # type: ignore[arg-type]


_SPEND = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from lamina.clock import FixedClock
from lamina.models.chat_budget import ChatBudget, DailyLimits
from lamina.models.errors import BudgetSpent
from lamina.store.sqlite.recalls_and_usage import SqliteUsage
clock = FixedClock(datetime(2026, 11, 16, 12, tzinfo=UTC))
budget = ChatBudget(SqliteUsage(Path(sys.argv[1])), clock, DailyLimits(calls=150))
made = 0
for _ in range(100):
    try:
        budget.begin("m")
        made += 1
        budget.record_usage("m", 3, 2)
    except BudgetSpent:
        pass
print(made)
"""


def test_processes_together_never_exceed_the_limit(tmp_path: Path) -> None:
    db = tmp_path / "usage.db"
    running = [
        subprocess.Popen([sys.executable, "-c", _SPEND, str(db)], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    result = [int(item.communicate()[0]) for item in running]
    usage = SqliteUsage(db)
    assert sum(result) == 150
    assert day_total(usage, DAY) == ModelUsage(150, 450, 300)
    usage.close()
