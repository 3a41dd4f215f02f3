"""The daily budget of chat models: calls, tokens, money. Beyond it no call is made until the next day (UTC)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from lamina.clock import Clock
from lamina.errors import StoreError
from lamina.models.errors import BudgetSpent, ModelError
from lamina.store.admin import ModelUsage, Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class DailyLimits:
    """The daily limits; None is unlimited."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True)
class TokenPrices:
    """The price of a million tokens, in any one currency."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost_of(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of so many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / _MILLION


class ChatBudget:
    """Counts the calls of all processes together, and rejects those beyond the limits.

    Calls are counted before they are made and never exceed their limit. Tokens and money are known afterwards, so calls
    in progress when the limit is reached still exceed it.
    """

    def __init__(
        self, usage: Usage, clock: Clock, limits: DailyLimits | None = None, prices: TokenPrices | None = None
    ) -> None:
        self._usage, self._clock = usage, clock
        self._limits, self._prices = limits or DailyLimits(), prices or TokenPrices()

    def begin(self, model: str) -> None:
        """Count one call. Raises BudgetSpent if the budget of the day is used up."""
        day = self._today()
        total = self._add(day, model, ModelUsage(calls=1))
        exceeded = self._exceeded_limit(total)
        if exceeded:
            self._add(day, model, ModelUsage(calls=-1))
            raise BudgetSpent(
                f"the chat model's budget of {day.isoformat()} (UTC) is spent: {exceeded}; raise it in the "
                "settings or wait until tomorrow"
            )

    def record_usage(self, model: str, tokens_in: int, tokens_out: int) -> None:
        """Count the tokens of a call that was answered."""
        money = self._prices.cost_of(tokens_in, tokens_out)
        self._add(self._today(), model, ModelUsage(0, tokens_in, tokens_out, money))

    def _today(self) -> date:
        return self._clock.now().date()

    def _add(self, day: date, model: str, used: ModelUsage) -> ModelUsage:
        try:
            return self._usage.add(day, model, used)
        except StoreError as error:
            raise ModelError(f"no chat call is made because calls cannot be counted: {error}") from error

    def _exceeded_limit(self, total: ModelUsage) -> str:
        """Return which limit the day has reached, this call included; empty if none."""
        limits = self._limits
        if limits.calls is not None and total.calls > limits.calls:
            return f"{limits.calls} calls (chat_calls_per_day)"
        if limits.tokens is not None and total.tokens >= limits.tokens:
            return f"{total.tokens} of {limits.tokens} tokens (chat_tokens_per_day)"
        if limits.money is not None and total.money >= limits.money:
            return f"{total.money:.2f} of {limits.money:.2f} (chat_money_per_day)"
        return ""
