"""The receipt of a write: what it did, as a list of outcomes, and what a language model contributed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.store.base import CommitId


class DropReason(StrEnum):
    """Why a statement of the model was dropped. The first group is not supported by the words, the second redundant."""

    QUOTE = "quote not found"
    CONTENT = "content differs from the quote"
    OWNER = "about somebody else"
    NAME = "name or number not said"
    MEANING_REVERSED = "negation or condition lost"
    QUESTION = "a question"

    KNOWN = "already stated"
    TOO_MANY = "too many"


REDUNDANT_REASONS = frozenset({DropReason.KNOWN, DropReason.TOO_MANY})


@dataclass(frozen=True, slots=True)
class ModelCounts:
    """The counts of kept and dropped statements and of nominated changes, the calls, and why calls failed."""

    calls: int = 0
    kept: int = 0
    dropped: Mapping[DropReason, int] = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    pairs: int = 0
    likely: int = 0
    sure: int = 0

    @property
    def unsupported(self) -> int:
        """Return how many statements the words did not support."""
        return sum(count for reason, count in self.dropped.items() if reason not in REDUNDANT_REASONS)

    @property
    def skipped(self) -> int:
        """Return how many statements were redundant."""
        return sum(count for reason, count in self.dropped.items() if reason in REDUNDANT_REASONS)

    def __add__(self, other: ModelCounts) -> ModelCounts:
        return ModelCounts(
            self.calls + other.calls,
            self.kept + other.kept,
            dict(Counter(self.dropped) + Counter(other.dropped)),
            tuple(dict.fromkeys((*self.failures, *other.failures))),
            self.pairs + other.pairs,
            self.likely + other.likely,
            self.sure + other.sure,
        )

    def __str__(self) -> str:
        """Describe the counts in one line for people."""
        parts = [_count(self.calls, "call"), f"{_count(self.kept, 'statement')} kept"]
        parts += [f"{self.skipped} skipped ({self._describe_reasons(skipped=True)})"] if self.skipped else []
        parts += (
            [f"{self.unsupported} unsupported ({self._describe_reasons(skipped=False)})"] if self.unsupported else []
        )
        changes = f"{self.likely} likely and {self.sure} sure changes"
        parts += [f"{_count(self.pairs, 'pair')} compared: {changes}"] if self.pairs else []
        parts += [f"fallback: {reason}" for reason in self.failures]
        return ", ".join(parts)

    def _describe_reasons(self, *, skipped: bool) -> str:
        chosen = (item for item in self.dropped.items() if (item[0] in REDUNDANT_REASONS) is skipped)
        return ", ".join(f"{count} {reason}" for reason, count in chosen)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


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
