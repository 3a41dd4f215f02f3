"""What feedback on an answer changes about the atoms it was made from. Being shown counts nothing; being used does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from lamina.atom.atom import Signals
from lamina.atom.identity import AtomId
from lamina.errors import InvalidInput
from lamina.lifecycle.signals import from_counted

LOWEST, HIGHEST = 0.1, 2.0
IGNORED = -0.05


class Verdict(StrEnum):
    """The quality of an answer: `down` means it did not help, `wrong` that the atoms it was made from are false."""

    UP = "up"
    DOWN = "down"
    WRONG = "wrong"


CITED: dict[Verdict, float] = {Verdict.UP: 0.1, Verdict.DOWN: 0.0, Verdict.WRONG: -0.2}
"""How a verdict changes the quality of a cited atom. An answer may fail for many reasons, so `down` changes nothing."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one answer, or one use, changes about one atom."""

    quality: float = 0.0
    used: bool = False

    def applied(self, signals: Signals, at: datetime) -> Signals:
        """Return the signals after the change. Quality stays between .1 and 2, and the time of the last use never moves
        back.

        A use in a good answer counts as a success, one in a wrong answer as a failure.
        """
        quality = min(HIGHEST, max(LOWEST, round(signals.quality_score + self.quality, 9)))
        if not self.used:
            return replace(signals, quality_score=quality)
        after = from_counted(signals).used(at)
        return replace(
            signals,
            quality_score=quality,
            recall_count=after.count,
            uses=after.uses,
            first_used_at=after.first_use,
            last_recalled_at=max(signals.last_recalled_at or at, at),
            use_days=after.use_days,
            successes=signals.successes + (self.quality > 0),
            failures=signals.failures + (self.quality < 0),
        )


def parse_verdict(text: str) -> Verdict:
    """Return the verdict that a caller names. Raises InvalidInput for an unknown one."""
    try:
        return Verdict(text)
    except ValueError as error:
        raise InvalidInput(f"unknown verdict {text!r}; choose one of {', '.join(Verdict)}") from error


def learn(hits: Iterable[AtomId], cited: Sequence[AtomId], verdict: Verdict) -> dict[AtomId, Lesson]:
    """Return what a verdict on an answer changes about each hit of its recall, in the order of the hits.

    A cited atom counts as used, whatever the verdict, and its quality changes by +.1 (`up`), 0 (`down`) or −.2
    (`wrong`). A hit that was not cited while another one was loses .05. If nothing was cited nothing changes, because
    it is unknown what the answer was made from. Each atom counts once, however many of its passages were hit or cited.

    Feedback on a recall counts once: the caller marks the recall as answered together with these changes. A second
    verdict on the same recall changes nothing and does not revert the first. Raises InvalidInput if an atom is cited
    that is not among the hits.
    """
    hit_ids = dict.fromkeys(hits)
    unknown = [atom_id for atom_id in dict.fromkeys(cited) if atom_id not in hit_ids]
    if unknown:
        raise InvalidInput(
            f"{', '.join(unknown)}: not among the hits of this recall; cite only its hits, or use cite() for others"
        )
    if not cited:
        return {}
    chosen = frozenset(cited)
    return {atom_id: Lesson(CITED[verdict], used=True) if atom_id in chosen else Lesson(IGNORED) for atom_id in hit_ids}


def cite(ids: Iterable[AtomId]) -> dict[AtomId, Lesson]:
    """Return the effect of a use without a verdict: it counts as a use, and quality stays."""
    return dict.fromkeys(ids, Lesson(used=True))
