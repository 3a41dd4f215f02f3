"""The `Admin` port: erasure, what server processes share, problems, recalls, chat usage, and the care of the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.errors import NotFound
from lamina.store.access import AccessState
from lamina.store.erasure import Erasures

MAX_RECALLS = 10_000
"""How many recalls a store keeps."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A problem with a file or an atom that a person should know of; `doctor` lists it until it is fixed."""

    path: str
    kind: str
    message: str
    line: int = 0
    atom_id: AtomId | None = None
    at: datetime | None = None


class Problems(Protocol):
    """Problems by path and kind. A path names a file, a folder, or a dream step of a scope."""

    def list(self) -> list[FileProblem]:
        """Return all problems, oldest first."""

    def report(self, problem: FileProblem) -> None:
        """Add a problem; it replaces the one of the same kind at the same path."""

    def clear(self, path: str, kinds: Iterable[str] | None = None) -> None:
        """Remove the problems of a path, all or those of some kinds."""


@dataclass(frozen=True, slots=True)
class SavedRecall:
    """The atoms that a recall returned, best first, each once. Ids only, never the text of a query."""

    id: str
    atom_ids: tuple[AtomId, ...]


class Recalls(Protocol):
    """The last recalls. Losing them only loses a chance for feedback, so no recall waits for a writer."""

    def save(self, recall: SavedRecall, at: datetime, scope: Scope) -> None:
        """Store what a recall returned to a caller of this scope."""

    def read(self, scope: Scope, *, recall_id: str | None = None, limit: int = 1) -> list[SavedRecall]:
        """Return the last recalls of a scope, the latest first, or the one with this id."""

    def mark_answered(self, recall_id: str, scope: Scope) -> bool:
        """Mark a recall as answered; return whether this is the first time. NotFound if the recall is unknown."""


def unknown_recall(recall_id: str) -> NotFound:
    """Return the error for a recall that this scope did not make, or made too long ago."""
    return NotFound(
        f"no recall {recall_id!r}: the last {MAX_RECALLS:,} of a store are kept; recall again and use its id"
    )


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Calls and tokens, and what they cost in the currency of the prices."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0

    @property
    def tokens(self) -> int:
        """Return input and output tokens together."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class DailyUsage:
    """The usage of one chat model on one day, in UTC."""

    day: date
    model: str
    usage: ModelUsage


class Usage(Protocol):
    """Usage of chat models, which many processes increment. Counting never waits for a writer of atoms."""

    def add(self, day: date, model: str, usage: ModelUsage) -> ModelUsage:
        """Add what a model used; return what all models together have used that day, this included."""

    def days(self) -> list[DailyUsage]:
        """Return the counts of every day and model, the latest day first."""


@dataclass(frozen=True, slots=True)
class Retention:
    """From when on something is kept: recalls and finished jobs, and usage of chat models."""

    logs_since: datetime
    usage_since: date


class Admin(Protocol):
    """The parts that keep a store in order; none of them is a memory."""

    @property
    def erasures(self) -> Erasures:
        """Return what removes text for good, and recognises it if it comes again."""

    @property
    def access(self) -> AccessState:
        """Return what server processes share: tokens, replies and rate limits."""

    @property
    def problems(self) -> Problems:
        """Return the problems that a person should know of."""

    @property
    def recalls(self) -> Recalls:
        """Return the log of the last recalls."""

    @property
    def usage(self) -> Usage:
        """Return the usage counts of chat models."""

    def prune(self, retention: Retention) -> Mapping[str, int]:
        """Delete what is older; return how many recalls, jobs (with expired leases) and counts of usage."""

    def catch_up(self) -> None:
        """Bring the index to the last commit; cheap if it is there already."""

    def rebuild_index(self) -> int:
        """Rebuild the index from the journal; return how many atoms it contains."""

    def check(self) -> list[str]:
        """Return the faults: a broken hash chain, an index that differs from the journal. Empty is healthy."""
