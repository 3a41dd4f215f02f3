"""What dreams remember from one to the next: how far each step has looked, and which statements were probed when.

No history: what is lost of it is looked at again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Protocol

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope


class Dreams(Protocol):
    """Nothing of it waits for the disk. Inside `Store.trial()` it is gone at the end with all else."""

    def marked(self, scope: Scope, step: str) -> int | None:
        """Up to which journal position a step has looked at a scope; None where it never has."""

    def mark(self, scope: Scope, step: str, seq: int) -> None:
        """A step has looked at a scope up to a journal position."""

    def idle(
        self, scope: Scope, kinds: Collection[str], unused_since: datetime, rested_since: datetime, limit: int
    ) -> list[AtomId]:
        """Beliefs and lasting statements of these kinds neither recorded nor used since a moment, nor probed since
        another: those never probed first, then the oldest use, then by id. What dreams made is not among them.
        """

    def probed(self, scope: Scope, ids: Iterable[AtomId], at: datetime) -> None:
        """These were probed."""

    def probed_since(self, scope: Scope, moment: datetime) -> int:
        """How many atoms of a scope were probed after a moment."""
