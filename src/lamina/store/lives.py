"""What maintenance knows of each atom. No history: what is lost of it costs one longer dream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.atom.status import Status

LIVE = frozenset({Status.ACTIVE, Status.ARCHIVED, Status.CHALLENGED})
"""What ages: it counts, was laid aside, or is doubted. The rest waits for a person or is over."""
HOUSEKEEPING = frozenset({"box", "entity", "inbox", "settle", "dream"})
"""The verbs of commits that nobody asked for: they tell nothing of whether somebody was there."""


@dataclass(frozen=True, slots=True)
class Life:
    """What maintenance saw of an atom when it last looked, at which revision, and when it is worth looking again.

    `tier`: whether it is kept at hand; `look_at`: None where nothing will happen to it by itself; `state`: where it
    stood in its life; `bits`: how precisely its vectors are kept. How much of it was left, how much it mattered and how
    recent it was for its kind are between 0 and 1.
    """

    revision: int
    tier: str = "hot"
    look_at: datetime | None = None
    retention: float = 1.0
    importance: float = 0.5
    recency: float = 1.0
    state: str = "candidate"
    bits: int = 32


class Lives(Protocol):
    """How atoms live. Inside `Store.alone()` and `Store.trial()` it changes with the commits made there."""

    def due(self, scope: Scope, by: datetime, limit: int | None = None) -> list[AtomId]:
        """The live atoms of a scope worth a look by a moment, the oldest record first, then by id.

        Those never looked at, those written or used since, and those whose time to look again has come.
        """

    def of(self, ids: Iterable[AtomId]) -> dict[AtomId, Life]:
        """What is known of these; atoms never looked at are left out."""

    def put(self, lives: Mapping[AtomId, Life]) -> None:
        """These were looked at, as they are and as they were used until here; one written since stays due."""

    def seen(self, scope: Scope) -> datetime | None:
        """When somebody last did something in a scope: wrote, used or reviewed; housekeeping does not count."""

    def tiers(self, scopes: Sequence[Scope]) -> dict[str, int]:
        """How many live atoms of each layer are kept at hand and how many are not: `{"episodic hot": 3}`."""

    def retentions(self, scopes: Sequence[Scope]) -> list[float]:
        """How much was left of each live atom when it was last looked at, the least first."""

    def untold(self, scope: Scope) -> dict[AtomId, int]:
        """The bits of atoms of which the index has not been told yet, or not since they were last written."""

    def told(self, bits: Mapping[AtomId, int]) -> None:
        """The index keeps what these atoms want; what was noted of one meanwhile stays untold."""
