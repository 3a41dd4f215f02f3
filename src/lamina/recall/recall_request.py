"""The request of a recall: the question, its filters, and the time that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lamina.atom.kinds import MemoryType
from lamina.atom.scope import Scope
from lamina.atom.status import INCLUDE_OPTIONS, RECALL_WEIGHT, Status
from lamina.errors import InvalidInput
from lamina.recall.recall_view import NOW, ViewTime

MEMORY_TYPES_BY_MODE: dict[str, frozenset[MemoryType]] = {
    "facts_only": frozenset({MemoryType.FACT}),
    "facts_plus_rules": frozenset({MemoryType.FACT, MemoryType.PROCEDURE}),
    "full_context": frozenset(MemoryType),
}
QUESTION_LIMIT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A question with its filters. `at` is when it is asked, `view_time` the time at which the store is viewed.

    `assistant_prior` is added to the relevance of an assistant's turns. `filter_stale` leaves out stale and archived
    atoms. What the calling `agent` learnt ranks higher; with `learnt_only`, nothing else is searched.

    Raises InvalidInput for a question that is empty or too long, and for an unknown mode or value of `include`.
    """

    text: str
    scopes: tuple[Scope, ...]
    k: int
    mode: str
    include: tuple[str, ...]
    at: datetime
    fast: bool = False
    ranking: str = "full"
    assistant_prior: float = 0.0
    view_time: ViewTime = NOW
    filter_stale: bool = False
    agent: str | None = None
    learnt_only: bool = False

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidInput("the question is empty")
        if len(self.text.encode(errors="replace")) > QUESTION_LIMIT:
            raise InvalidInput(f"the question is longer than {QUESTION_LIMIT} bytes")
        if unknown := set(self.include) - INCLUDE_OPTIONS.keys():
            names = ", ".join(sorted(unknown))
            raise InvalidInput(f"cannot include {names}; choose from {', '.join(INCLUDE_OPTIONS)}")
        if self.mode not in MEMORY_TYPES_BY_MODE:
            raise InvalidInput(f"there is no mode {self.mode!r}; choose one of {', '.join(MEMORY_TYPES_BY_MODE)}")

    @property
    def memory_types(self) -> frozenset[MemoryType]:
        """The memory types that the mode lets through."""
        return MEMORY_TYPES_BY_MODE[self.mode]

    @property
    def learnt_by(self) -> str | None:
        """The agent whose atoms alone are searched; None for all atoms."""
        return self.agent if self.learnt_only else None

    @property
    def statuses(self) -> frozenset[Status]:
        """The statuses to search: the usual ones and those that `include` adds."""
        return frozenset(RECALL_WEIGHT).union(*(INCLUDE_OPTIONS[name] for name in self.include))

    @property
    def includes_history(self) -> bool:
        """Return whether ended statements are requested."""
        return "history" in self.include
