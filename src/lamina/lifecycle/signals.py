"""Define what is known about an atom besides its text: its uses, its confirmations and its feedback."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.atom import Signals as Counted
from lamina.atom.trust import TRUST

KEPT_USES = 10
"""The number of use times that are stored; of older uses only the number and the first are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
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
    disputed: bool = False
    reviewed_at: datetime | None = None
    revised_at: datetime | None = None
    archived_at: datetime | None = None
    wrong_at: datetime | None = None

    @property
    def many(self) -> int:
        """Return the number of uses."""
        return max(0, self.count, len(self.uses))

    @property
    def days(self) -> int:
        """Return the number of days with a use, as far as known."""
        return max(self.use_days, len({use.date() for use in self.uses}))

    @property
    def last_use(self) -> datetime | None:
        """Return the time of the last use."""
        return max(self.uses, default=self.first_use)

    def used(self, at: datetime) -> Signals:
        """Return the signals after one more use; the order in which uses are recorded does not matter."""
        uses = tuple(sorted((*self.uses, at))[-KEPT_USES:])
        is_new_day = at.date() not in {use.date() for use in self.uses}
        first_use = self._first
        if first_use is not None or not self.many:
            first_use = min(first_use or at, at)
        return replace(self, uses=uses, count=self.many + 1, first_use=first_use, use_days=self.days + is_new_day)

    @property
    def _first(self) -> datetime | None:
        """Return the time of the first use; None if older uses were only counted."""
        if self.first_use is None and self.many == len(self.uses):
            return min(self.uses, default=None)
        return self.first_use


def from_counted(counted: Counted) -> Signals:
    """Return the signals of a store's counters; if uses were only counted, the last one is the only known time."""
    last_recalled_at = counted.last_recalled_at
    uses = counted.uses or ((last_recalled_at,) if last_recalled_at else ())
    return Signals(
        uses=uses,
        count=counted.recall_count,
        first_use=counted.first_used_at,
        use_days=max(counted.use_days, len({use.date() for use in uses})),
        quality=counted.quality_score,
        successes=counted.successes,
        failures=counted.failures,
    )


def trust_in(atom: Atom, signals: Signals) -> float:
    """Return the trust in an atom: that of its origin, never more than its lineage's."""
    origin_trust = TRUST[atom.origin]
    return origin_trust if signals.trust is None else min(origin_trust, max(0.0, signals.trust))


def recorded(atom: Atom) -> datetime:
    """Return when the store recorded it; if it has not yet, when it was observed."""
    return atom.recorded_at or atom.observed_at


def last_touch(atom: Atom, signals: Signals) -> datetime:
    """Return when it was recorded or last used."""
    return max(recorded(atom), signals.last_use or recorded(atom))


def changed(atom: Atom, signals: Signals) -> datetime:
    """Return when its text was last written or its commitment was resolved."""
    return max(recorded(atom), signals.revised_at or recorded(atom))
