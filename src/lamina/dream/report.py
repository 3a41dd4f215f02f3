"""Reports of a dream, step by step; the journal stores them as the reasons of the dream's commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.provenance import Scope
from lamina.dream.step import Move
from lamina.store.base import CommitId

_MAX_LISTED = 200
"""The most moves that a commit reason lists one by one."""


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step in one scope. `held`: why it waits for review; `failed`: why nothing was done.

    `examined`: how much it looked at, and why nothing moved if nothing did.
    """

    step: str
    scope: Scope
    commit: CommitId | None = None
    moves: tuple[Move, ...] = ()
    notes: tuple[str, ...] = ()
    held: str | None = None
    failed: str | None = None
    examined: str = ""

    @property
    def summary(self) -> str:
        """Return the step's result in one line."""
        if self.failed or self.held:
            return f"{self.step}: {self.failed or self.held}"
        return f"{self.step}: {count_moves(self.moves) or 'nothing to do'}"


@dataclass(frozen=True, slots=True)
class DreamReport:
    """A whole dream. `batch` names its commits: `lamina undo BATCH` reverses all of them.

    `asleep`: why nothing was done at all; `guidelines`: what use has shown about what is worth storing.
    """

    batch: str
    at: datetime
    steps: tuple[StepReport, ...]
    dry_run: bool = False
    asleep: str | None = None
    guidelines: tuple[str, ...] = ()

    @property
    def moves(self) -> tuple[Move, ...]:
        return tuple(move for step in self.steps for move in step.moves if not step.held and not step.failed)

    @property
    def held(self) -> tuple[StepReport, ...]:
        return tuple(step for step in self.steps if step.held)

    @property
    def failed(self) -> tuple[StepReport, ...]:
        return tuple(step for step in self.steps if step.failed)


def count_moves(moves: Sequence[Move]) -> str:
    """Count moves by action, such as `3 archive, 1 promote`."""
    counts = Counter(move.action for move in moves)
    return ", ".join(f"{count} {action}" for action, count in counts.items())


def commit_reason(step: str, moves: Sequence[Move]) -> str:
    """Return the reason that the journal stores for a step."""
    listed = "; ".join(f"{move.action} {move.atom_id[-6:]}: {move.why}" for move in moves[:_MAX_LISTED])
    more = f"; and {len(moves) - _MAX_LISTED} more" if len(moves) > _MAX_LISTED else ""
    return f"{step}: {count_moves(moves)}. {listed}{more}" if moves else step
