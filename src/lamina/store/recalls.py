"""Results of the last recalls, so that feedback can be given later. Ids only, never the text of a query."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.errors import NotFound

MAX_RECALLS = 10_000
"""How many recalls a store keeps."""


class Recalls(Protocol):
    """The last recalls. Losing them only loses a chance for feedback, so no recall waits for a writer."""

    def save(self, recall_id: str, atom_ids: Iterable[AtomId], at: datetime, scope: Scope) -> None:
        """Store what a recall returned to a caller of this scope."""

    def hits(self, recall_id: str, scope: Scope) -> list[AtomId] | None:
        """Return the atoms that a recall of this scope returned, best first, each once; None if unknown."""

    def recent(self, scope: Scope, limit: int) -> list[AtomId]:
        """Return the atoms that the last recalls of a scope returned, each once."""

    def prune(self, before: datetime) -> int:
        """Delete the recalls made before a moment; return how many."""

    def mark_answered(self, recall_id: str, scope: Scope) -> bool:
        """Mark a recall as answered; return whether this is the first time. NotFound if the recall is unknown."""


def unknown_recall(recall_id: str) -> NotFound:
    """Return the error for a recall that this scope did not make, or made too long ago."""
    return NotFound(
        f"no recall {recall_id!r}: the last {MAX_RECALLS:,} of a store are kept; recall again and use its id"
    )
