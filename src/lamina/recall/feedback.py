"""Apply feedback on an answer to the atoms it was made from. Being shown counts nothing; being used does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lamina.atom.atom import AtomId
from lamina.errors import InvalidInput
from lamina.store.signals_and_ageing import SignalIncrement

IGNORED_HIT_CHANGE = -0.05


class AnswerVerdict(StrEnum):
    """The quality of an answer: `down` means it did not help, `wrong` that the atoms it was made from are false."""

    UP = "up"
    DOWN = "down"
    WRONG = "wrong"


CITED_HIT_CHANGES: dict[AnswerVerdict, float] = {
    AnswerVerdict.UP: 0.1,
    AnswerVerdict.DOWN: 0.0,
    AnswerVerdict.WRONG: -0.2,
}
"""How a verdict changes the quality of a cited atom. An answer may fail for many reasons, so `down` changes nothing."""


@dataclass(frozen=True, slots=True)
class FeedbackEffect:
    """The effect of one answer, or one use, on one atom."""

    quality_change: float = 0.0
    is_used: bool = False

    def to_increment(self, at: datetime) -> SignalIncrement:
        """Return what the store adds to the signals of the atom at a time."""
        return SignalIncrement(self.quality_change, at if self.is_used else None)


def parse_verdict(text: str) -> AnswerVerdict:
    """Return the verdict that a caller names. Raises InvalidInput for an unknown one."""
    try:
        return AnswerVerdict(text)
    except ValueError as error:
        raise InvalidInput(f"unknown verdict {text!r}; choose one of {', '.join(AnswerVerdict)}") from error


def derive_feedback_effects(
    hits: Iterable[AtomId], cited: Sequence[AtomId], verdict: AnswerVerdict
) -> dict[AtomId, FeedbackEffect]:
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
    return {
        atom_id: FeedbackEffect(CITED_HIT_CHANGES[verdict], is_used=True)
        if atom_id in chosen
        else FeedbackEffect(IGNORED_HIT_CHANGE)
        for atom_id in hit_ids
    }


def derive_citation_effects(ids: Iterable[AtomId]) -> dict[AtomId, FeedbackEffect]:
    """Return the effect of a use without a verdict: it counts as a use, and quality stays."""
    return dict.fromkeys(ids, FeedbackEffect(is_used=True))
