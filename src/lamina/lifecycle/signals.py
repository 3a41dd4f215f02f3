"""Define what is known about an atom besides its text: its uses, its feedback, and how far it was verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import Any

from lamina.atom.atom import Atom
from lamina.atom.atom import Signals as Counted
from lamina.atom.provenance import TRUST, Origin
from lamina.atom.status import Status

NEUTRAL_RATE = 0.5
LOWEST_QUALITY, HIGHEST_QUALITY = 0.1, 2.0
MAX_USE_TIMES = 10
"""The number of use times that are stored; of older uses only the number and the first are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeingSignals:
    """Everything that ageing depends on besides the atom and the time; missing values have no effect.

    A use is a citation or an explicit use, never a display. `trust` is that of the lineage, if any; `archived_at` is
    set if maintenance archived the atom, and None if a person did.
    """

    uses: tuple[datetime, ...] = ()
    count: int = 0
    first_use: datetime | None = None
    use_days: int = 0
    confirmations: int = 0
    quality: float = 1.0
    successes: float = 0.0
    failures: float = 0.0
    causal: float = 0.0
    trust: float | None = None
    is_disputed: bool = False
    reviewed_at: datetime | None = None
    revised_at: datetime | None = None
    archived_at: datetime | None = None
    wrong_at: datetime | None = None

    @property
    def total_uses(self) -> int:
        """Return the number of uses."""
        return max(0, self.count, len(self.uses))

    @property
    def total_use_days(self) -> int:
        """Return the number of days with a use, as far as known."""
        return max(self.use_days, len({use.date() for use in self.uses}))

    @property
    def last_use(self) -> datetime | None:
        """Return the time of the last use."""
        return max(self.uses, default=self.first_use)

    def with_use(self, at: datetime) -> AgeingSignals:
        """Return the signals after one more use; the order in which uses are recorded does not matter."""
        uses = tuple(sorted((*self.uses, at))[-MAX_USE_TIMES:])
        is_new_day = at.date() not in {use.date() for use in self.uses}
        first_use = self._known_first_use
        if first_use is not None or not self.total_uses:
            first_use = min(first_use or at, at)
        return replace(
            self, uses=uses, count=self.total_uses + 1, first_use=first_use, use_days=self.total_use_days + is_new_day
        )

    @property
    def _known_first_use(self) -> datetime | None:
        """Return the time of the first use; None if older uses were only counted."""
        if self.first_use is None and self.total_uses == len(self.uses):
            return min(self.uses, default=None)
        return self.first_use


def from_counters(counters: Counted) -> AgeingSignals:
    """Return the signals of a store's counters; if uses were only counted, the last one is the only known time."""
    last_recalled_at = counters.last_recalled_at
    uses = counters.uses or ((last_recalled_at,) if last_recalled_at else ())
    return AgeingSignals(
        uses=uses,
        count=counters.recall_count,
        first_use=counters.first_used_at,
        use_days=max(counters.use_days, len({use.date() for use in uses})),
        quality=counters.quality_score,
        successes=counters.successes,
        failures=counters.failures,
    )


def add_feedback(counters: Counted, quality_change: float, used_at: datetime | None) -> Counted:
    """Return the counters after a change of quality and, with a time, one more use.

    Quality stays between .1 and 2, and the time of the last use never moves back. A use in a good answer counts as a
    success, one in a wrong answer as a failure.
    """
    quality = min(HIGHEST_QUALITY, max(LOWEST_QUALITY, round(counters.quality_score + quality_change, 9)))
    if used_at is None:
        return replace(counters, quality_score=quality)
    after = from_counters(counters).with_use(used_at)
    return replace(
        counters,
        quality_score=quality,
        recall_count=after.count,
        uses=after.uses,
        first_used_at=after.first_use,
        last_recalled_at=max(counters.last_recalled_at or used_at, used_at),
        use_days=after.use_days,
        successes=counters.successes + (quality_change > 0),
        failures=counters.failures + (quality_change < 0),
    )


def edit_counters(counters: Counted, values: Mapping[str, Any]) -> Counted:
    """Return the counters with the values that a person set; the times of use are made to agree with them."""
    edited = replace(counters, **values)
    last, count = edited.last_recalled_at, edited.recall_count
    if count == 0:
        return Counted(edited.quality_score, successes=counters.successes, failures=counters.failures)
    times = {use for use in counters.uses if last and use < last} | ({last} if last else set())
    first = min((at for at in (counters.first_used_at, *times) if at and last and at <= last), default=None)
    use_days = max(len({use.date() for use in times}), min(counters.use_days, count))
    uses = tuple(sorted(times)[-min(count, MAX_USE_TIMES) :])
    return replace(edited, uses=uses, first_used_at=first, use_days=use_days)


def merge_counters(counters: Counted, others: Counted) -> Counted:
    """Return the counters of two statements that are one; merging the same ones again changes nothing."""
    quality = counters.quality_score if counters.quality_score != 1.0 else others.quality_score
    last = max((at for at in (counters.last_recalled_at, others.last_recalled_at) if at), default=None)
    uses = tuple(sorted({*counters.uses, *others.uses, *((last,) if last else ())})[-MAX_USE_TIMES:])
    return replace(
        counters,
        quality_score=quality,
        recall_count=max(counters.recall_count, others.recall_count),
        last_recalled_at=last,
        uses=uses,
        successes=max(counters.successes, others.successes),
        failures=max(counters.failures, others.failures),
    )


def effective_trust(atom: Atom, signals: AgeingSignals) -> float:
    """Return the trust in an atom: that of its origin, never more than its lineage's."""
    origin_trust = TRUST[atom.origin]
    return origin_trust if signals.trust is None else min(origin_trust, max(0.0, signals.trust))


def recorded_at(atom: Atom) -> datetime:
    """Return when the store recorded it; if it has not yet, when it was observed."""
    return atom.recorded_at or atom.observed_at


def last_touched_at(atom: Atom, signals: AgeingSignals) -> datetime:
    """Return when it was recorded or last used."""
    return max(recorded_at(atom), signals.last_use or recorded_at(atom))


def changed_at(atom: Atom, signals: AgeingSignals) -> datetime:
    """Return when its text was last written or its commitment was resolved."""
    return max(recorded_at(atom), signals.revised_at or recorded_at(atom))


def success_rate(successes: float, failures: float) -> float:
    """Return the probability of a good answer, 0.5 without feedback."""
    if not (isfinite(successes) and isfinite(failures)) or min(successes, failures) < 0.0:
        return NEUTRAL_RATE
    return (successes + 1.0) / (successes + failures + 2.0)


class Verification(StrEnum):
    """A degree of verification of a statement."""

    USER_CONFIRMED = "user_confirmed"
    SYSTEM_INFERRED = "system_inferred"
    UNVERIFIED = "unverified"
    DISPUTED = "disputed"


STATED_TIERS = frozenset({"explicit", "implied"})


def verification(atom: Atom, signals: AgeingSignals) -> Verification:
    """Return disputed first; else by a person's decision or explicit statement; else by a second source or a clear
    statement."""
    if signals.is_disputed or atom.status is Status.CHALLENGED:
        return Verification.DISPUTED
    if atom.status is Status.CONSTRAINED:
        return Verification.UNVERIFIED
    if signals.reviewed_at or (atom.origin is Origin.HUMAN and atom.confidence_tier == "explicit"):
        return Verification.USER_CONFIRMED
    if signals.confirmations > 0 or (
        atom.confidence_tier in STATED_TIERS and atom.origin in (Origin.HUMAN, Origin.AGENT)
    ):
        return Verification.SYSTEM_INFERRED
    return Verification.UNVERIFIED
