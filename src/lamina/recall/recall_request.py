"""The request of a recall: the question, its filters, and the time that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.provenance import Scope
from lamina.atom.status import ENDED, INCLUDE_OPTIONS, RECALL_WEIGHT, Status
from lamina.errors import InvalidInput
from lamina.recall.recall_view import NOW, RecallView, ViewTime, is_admitted, is_listed

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
    atoms. `layers` and `only_statuses` select atoms; None selects every layer, and the usual statuses. What the calling
    `agent` learnt ranks higher; with `learnt_only`, nothing else is searched.

    Raises InvalidInput for a question that is empty or too long, for an unknown mode or value of `include`, and if
    `include` is given beside statuses.
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
    layers: frozenset[Layer] | None = None
    only_statuses: frozenset[Status] | None = None

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidInput("the question is empty")
        if len(self.text.encode(errors="replace")) > QUESTION_LIMIT:
            raise InvalidInput(f"the question is longer than {QUESTION_LIMIT} bytes")
        if unknown := set(self.include) - INCLUDE_OPTIONS.keys():
            names = ", ".join(sorted(unknown))
            raise InvalidInput(f"cannot include {names}; choose from {', '.join(INCLUDE_OPTIONS)}")
        if self.include and self.only_statuses:
            raise InvalidInput("give either include, which adds statuses, or status, which names all of them")
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
        """The statuses to search: those that were named, or the usual ones and those that `include` adds."""
        if self.only_statuses is not None:
            return self.only_statuses
        return frozenset(RECALL_WEIGHT).union(*(INCLUDE_OPTIONS[name] for name in self.include))

    @property
    def includes_history(self) -> bool:
        """Return whether ended statements are requested."""
        return "history" in self.include or not ENDED.isdisjoint(self.only_statuses or ())

    def selects(self, atom: Atom) -> bool:
        """Return whether an atom is of a type of the mode and in one of the layers."""
        return atom.memory_type in self.memory_types and (self.layers is None or atom.layer in self.layers)

    def admits(self, view: RecallView, atom: Atom) -> bool:
        """Return whether an atom may answer, as it was at the time of the view."""
        if self.only_statuses is not None and view.is_as_of:
            return self.selects(atom) and is_listed(view, atom, self.only_statuses)
        return self.selects(atom) and is_admitted(view, atom, self.statuses)
