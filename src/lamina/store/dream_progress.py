"""The progress of dreams between runs: how far each step has read, and when statements were probed.

It is not part of the history: what is lost is examined again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope


class DreamProgress(Protocol):
    """Progress of the dream steps. No write waits for the disk; a trial rolls it back."""

    def get_position(self, scope: Scope, step: str) -> int | None:
        """Return the journal position up to which a step has processed a scope; None if it never has."""

    def set_position(self, scope: Scope, step: str, seq: int) -> None:
        """Store that a step has processed a scope up to a journal position."""

    def find_unused(
        self, scope: Scope, kinds: Collection[str], unused_since: datetime, unprobed_since: datetime, limit: int
    ) -> list[AtomId]:
        """Return unused beliefs and lasting statements of these kinds that were not probed lately.

        Neither recorded nor used after `unused_since`, nor probed after `unprobed_since`. Never probed ones first, then
        by the oldest use, then by id. What dreams created is left out.
        """

    def mark_probed(self, scope: Scope, ids: Iterable[AtomId], at: datetime) -> None:
        """Store that these atoms were probed."""

    def count_probed_since(self, scope: Scope, since: datetime) -> int:
        """Return how many atoms of a scope were probed after a moment."""
