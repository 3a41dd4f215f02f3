"""What is known of an atom beside its text: when it was used, who confirmed it and how it served."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.atom import Signals as Counted
from lamina.atom.trust import TRUST

KEPT_USES = 10
"""So many use times are kept; of older ones only how many there were and when the first was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Everything an atom's ageing depends on beside the atom and the clock; what is absent costs it nothing.

    A use is a citation or an explicit use, never a display. `trust` is that of its lineage where it has one;
    `archived_at` is set where maintenance archived it, and empty where a person did.
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
        """How often it was used."""
        return max(0, self.count, len(self.uses))

    @property
    def days(self) -> int:
        """On how many days it was used, as far as that is known."""
        return max(self.use_days, len({use.date() for use in self.uses}))

    @property
    def last_use(self) -> datetime | None:
        """When it was used last."""
        return max(self.uses, default=self.first_use)

    def used(self, at: datetime) -> Signals:
        """The signals after one more use; the order in which uses are told does not matter."""
        kept = tuple(sorted((*self.uses, at))[-KEPT_USES:])
        opens = at.date() not in {use.date() for use in self.uses}
        first = self._first
        if first is not None or not self.many:
            first = min(first or at, at)
        return replace(self, uses=kept, count=self.many + 1, first_use=first, use_days=self.days + opens)

    @property
    def _first(self) -> datetime | None:
        """When it was first used; nobody knows where older uses were only counted."""
        if self.first_use is None and self.many == len(self.uses):
            return min(self.uses, default=None)
        return self.first_use


def from_counted(counted: Counted) -> Signals:
    """What the counters of a store tell; one use is known of those that were only counted, the last."""
    last = counted.last_recalled_at
    uses = counted.uses or ((last,) if last else ())
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
    """How much the atom's word is worth: its origin's trust, and never more than its lineage's."""
    own = TRUST[atom.origin]
    return own if signals.trust is None else min(own, max(0.0, signals.trust))


def recorded(atom: Atom) -> datetime:
    """When the store got it; for one it has not got yet, when it was observed."""
    return atom.recorded_at or atom.observed_at


def last_touch(atom: Atom, signals: Signals) -> datetime:
    """When it was recorded or last used."""
    return max(recorded(atom), signals.last_use or recorded(atom))


def changed(atom: Atom, signals: Signals) -> datetime:
    """When its text was last written, or what it promises was done."""
    return max(recorded(atom), signals.revised_at or recorded(atom))
