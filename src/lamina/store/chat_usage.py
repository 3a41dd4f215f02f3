"""Usage of chat models by day: calls, tokens and money. Numbers only, never the text of a query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Calls and tokens, and what they cost in the currency of the prices."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0

    @property
    def tokens(self) -> int:
        """Return input and output tokens together."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class DailyUsage:
    """The usage of one model on one day, in UTC."""

    day: date
    model: str
    usage: ModelUsage


class Usage(Protocol):
    """Counters that many processes increment. Counting never waits for a writer of atoms."""

    def add(self, day: date, model: str, usage: ModelUsage) -> ModelUsage:
        """Add what a model used; return what all models together have used that day, this included."""

    def day_total(self, day: date) -> ModelUsage:
        """Return what all models together used on a day."""

    def days(self) -> list[DailyUsage]:
        """Return the counts of every day and model, the latest day first."""

    def prune(self, before: date) -> int:
        """Delete the counts of days before this one; return how many pairs of day and model."""
