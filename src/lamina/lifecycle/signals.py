"""Define what is known about an atom besides its text: its uses, its confirmations and its feedback."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.atom import Signals as Counted
from lamina.atom.trust import TRUST

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
