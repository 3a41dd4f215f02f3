"""What a write did, told outcome by outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.capture.llm.counts import ModelCounts
from lamina.store.base import CommitId

MODEL_STAGE = "language model"
"""The stage that tells what a language model contributed."""


class Result(StrEnum):
    """What became of one thing that was said."""

    KEPT = "kept"
    NEW = "new"
    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    CHALLENGED = "challenged"
    ENRICHES = "enriches"
    MERGED = "merged"
    REVISED = "revised"
    RESTORED = "restored"
    TAKEN_BACK = "taken back"
    HELD = "held"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One atom and what happened to it, with the reason."""

    result: Result
    atom: Atom
    reason: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """Every outcome of a write. `commit` undoes it; None where nothing had to change.

    `stages` tells what was done and what is still to come; `redacted` names the secrets that were taken out;
    `counts` is what a language model contributed.
    """

    commit: CommitId | None
    outcomes: tuple[Outcome, ...]
    repeated: bool = False
    stages: tuple[tuple[str, str], ...] = ()
    redacted: tuple[str, ...] = ()
    counts: ModelCounts | None = None

    @property
    def atom(self) -> Atom:
        """The atom the write was about."""
        return self.outcomes[0].atom


def with_statements(words: Receipt, read: Sequence[Receipt]) -> Receipt:
    """The receipt of words together with those of reading them."""
    made = tuple(outcome for receipt in read for outcome in receipt.outcomes)
    stages = dict(words.stages) | {name: how for receipt in read for name, how in receipt.stages}
    counted = [receipt.counts for receipt in read if receipt.counts is not None]
    counts = sum(counted[1:], counted[0]) if counted else None
    if counts is not None:
        stages[MODEL_STAGE] = str(counts)
    return replace(words, outcomes=(*words.outcomes, *made), stages=tuple(stages.items()), counts=counts)
