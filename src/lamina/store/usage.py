"""What chat models have used, day by day: calls, tokens and money. Numbers only, never a word asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Used:
    """So many calls and tokens, and what they cost in the currency of the prices."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class UsedOn:
    """What one model used on one day, in UTC."""

    day: date
    model: str
    used: Used


class Usage(Protocol):
    """Counts that many processes add to at once. Counting never waits for somebody who writes atoms."""

    def add(self, day: date, model: str, used: Used) -> Used:
        """Count what a model used; what all models together have used that day, this included."""

    def of(self, day: date) -> Used:
        """What all models together used on a day."""

    def days(self) -> list[UsedOn]:
        """Every day and model there is a count of, the latest day first."""

    def prune(self, before: date) -> int:
        """Let go of the counts of days before this one; how many there were, a day and a model each."""
