"""What a dream did, or would do: told by step, kept in the journal as the reasons of its commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.scope import Scope
from lamina.dream.plan import Move
from lamina.store.base import CommitId

_TOLD = 200
"""So many moves are told one by one in the journal."""


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step in one scope. `held`: why a person is asked first; `failed`: why nothing was done."""

    step: str
    scope: Scope
    commit: CommitId | None = None
    moves: tuple[Move, ...] = ()
    notes: tuple[str, ...] = ()
    held: str | None = None
    failed: str | None = None

    @property
    def told(self) -> str:
        """The step in a line."""
        if self.failed or self.held:
            return f"{self.step}: {self.failed or self.held}"
        return f"{self.step}: {summed_up(self.moves) or 'nothing to do'}"


@dataclass(frozen=True, slots=True)
class DreamReport:
    """A whole dream. `batch` names its commits: `lamina undo BATCH` takes all of them back. `asleep`: why nothing was
    done at all; `guidelines`: what use has taught about what is worth writing down."""

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


def summed_up(moves: Sequence[Move]) -> str:
    """Moves counted by what they do: 3 archive, 1 promote."""
    counted = Counter(move.action for move in moves)
    return ", ".join(f"{many} {action}" for action, many in counted.items())


def reason_of(step: str, moves: Sequence[Move]) -> str:
    """What the journal keeps of a step."""
    told = "; ".join(f"{move.action} {move.atom_id[-6:]}: {move.why}" for move in moves[:_TOLD])
    more = f"; and {len(moves) - _TOLD} more" if len(moves) > _TOLD else ""
    return f"{step}: {summed_up(moves)}. {told}{more}" if moves else step
