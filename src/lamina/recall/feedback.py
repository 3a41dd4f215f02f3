"""What an answer teaches about the memories it was made from. Being shown counts nothing; being used does."""

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
    """How the answer was: `down` says that it did not help, `wrong` that what it was made from is false."""

    UP = "up"
    DOWN = "down"
    WRONG = "wrong"


CITED: dict[Verdict, float] = {Verdict.UP: 0.1, Verdict.DOWN: 0.0, Verdict.WRONG: -0.2}
"""What a verdict does to the quality of a cited atom. An answer may fail for many reasons, so `down` blames nobody."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one answer, or one use, teaches about one atom."""

    quality: float = 0.0
    used: bool = False

    def applied(self, signals: Signals, at: datetime) -> Signals:
        """The signals after the lesson; quality stays within .1 and 2, and the last use never moves back.

        A use that the answer was better for is a success, one that it was wrong for a failure.
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
    """The verdict a caller names."""
    try:
        return Verdict(text)
    except ValueError as error:
        raise InvalidInput(f"there is no verdict {text!r}; choose one of {', '.join(Verdict)}") from error


def learn(hits: Iterable[AtomId], cited: Sequence[AtomId], verdict: Verdict) -> dict[AtomId, Lesson]:
    """What follows from a verdict on the answer made from a recall's hits, in the order of the hits.

    A cited atom was used, whatever the verdict, and its quality moves by +.1 (`up`), 0 (`down`) or −.2 (`wrong`). A hit
    that was passed over while another was cited loses .05. Where nothing was cited nothing follows: nobody knows what
    the answer was made from. Each atom counts once, however many of its passages were hit or however often it is cited.

    A recall is learnt from once. Whoever calls marks it as answered together with the lessons; a second verdict on the
    same recall gets no lessons and takes nothing of the first one back.
    """
    shown = dict.fromkeys(hits)
    unseen = [atom_id for atom_id in dict.fromkeys(cited) if atom_id not in shown]
    if unseen:
        raise InvalidInput(
            f"{', '.join(unseen)}: not among the hits of this recall; cite what it returned, or use cite() for the rest"
        )
    if not cited:
        return {}
    chosen = frozenset(cited)
    return {atom_id: Lesson(CITED[verdict], used=True) if atom_id in chosen else Lesson(IGNORED) for atom_id in shown}


def cite(ids: Iterable[AtomId]) -> dict[AtomId, Lesson]:
    """What follows from a use without a verdict: it counts, and quality stays as it is."""
    return dict.fromkeys(ids, Lesson(used=True))
