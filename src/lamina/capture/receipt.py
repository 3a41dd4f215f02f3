"""The receipt of a write: what it did, as a list of outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.capture.llm.counts import ModelCounts
from lamina.store.base import CommitId

MODEL_STAGE = "language model"
"""The stage that reports what a language model contributed."""


class Result(StrEnum):
    """A result of writing one piece of input."""

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
    """One atom, what happened to it, and why."""

    result: Result
    atom: Atom
    reason: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """All outcomes of a write. `commit` can be undone; it is None if nothing changed.

    `stages` reports what was done and what is still queued; `redacted` names the secrets that were replaced; `counts`
    is what a language model contributed.
    """

    commit: CommitId | None
    outcomes: tuple[Outcome, ...]
    repeated: bool = False
    stages: tuple[tuple[str, str], ...] = ()
    redacted: tuple[str, ...] = ()
    counts: ModelCounts | None = None

    @property
    def atom(self) -> Atom:
        """The atom that the write was about."""
        return self.outcomes[0].atom


def merge_receipts(capture_receipt: Receipt, extraction_receipts: Sequence[Receipt]) -> Receipt:
    """Return the receipt of a capture merged with the receipts of extracting statements from it."""
    new_outcomes = tuple(outcome for receipt in extraction_receipts for outcome in receipt.outcomes)
    stages = dict(capture_receipt.stages) | {
        name: report for receipt in extraction_receipts for name, report in receipt.stages
    }
    model_counts = [receipt.counts for receipt in extraction_receipts if receipt.counts is not None]
    total = sum(model_counts[1:], model_counts[0]) if model_counts else None
    if total is not None:
        stages[MODEL_STAGE] = str(total)
    return replace(
        capture_receipt, outcomes=(*capture_receipt.outcomes, *new_outcomes), stages=tuple(stages.items()), counts=total
    )
