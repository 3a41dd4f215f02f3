"""What chat models may use in a day: calls, tokens, money. Beyond that nothing is asked until the next day (UTC)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from lamina.clock import Clock
from lamina.errors import StoreError
from lamina.models.errors import BudgetSpent, ModelError
from lamina.store.usage import Usage, Used

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The most of a day; None is without end."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any one currency."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / _MILLION


class Budget:
    """Counts every call of all processes together, and forbids those beyond the limits.

    Calls are counted before they are made and never exceed their limit. Tokens and money are known afterwards, so calls
    that are under way when the limit is reached still go over it.
    """

    def __init__(self, usage: Usage, clock: Clock, limits: Limits | None = None, prices: Prices | None = None) -> None:
        self._usage, self._clock = usage, clock
        self._limits, self._prices = limits or Limits(), prices or Prices()

    def begin(self, model: str) -> None:
        """Take one call; BudgetSpent where the day has no more."""
        day = self._today()
        total = self._add(day, model, Used(calls=1))
        over = self._over(total)
        if over:
            self._add(day, model, Used(calls=-1))
            raise BudgetSpent(
                f"the chat model's budget of {day.isoformat()} (UTC) is spent: {over}; raise it in the "
                "settings or wait until tomorrow"
            )

    def spent(self, model: str, tokens_in: int, tokens_out: int) -> None:
        """Count the tokens of a call that was answered."""
        money = self._prices.of(tokens_in, tokens_out)
        self._add(self._today(), model, Used(0, tokens_in, tokens_out, money))

    def _today(self) -> date:
        return self._clock.now().date()

    def _add(self, day: date, model: str, used: Used) -> Used:
        try:
            return self._usage.add(day, model, used)
        except StoreError as error:
            raise ModelError(f"chat calls cannot be counted, so none is made: {error}") from error

    def _over(self, total: Used) -> str:
        """Which limit the day has reached, this call counted in."""
        most = self._limits
        if most.calls is not None and total.calls > most.calls:
            return f"{most.calls} calls (chat_calls_per_day)"
        if most.tokens is not None and total.tokens >= most.tokens:
            return f"{total.tokens} of {most.tokens} tokens (chat_tokens_per_day)"
        if most.money is not None and total.money >= most.money:
            return f"{total.money:.2f} of {most.money:.2f} (chat_money_per_day)"
        return ""
