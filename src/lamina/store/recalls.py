"""What the last recalls returned, so that feedback can come later. Ids only, never a word asked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.errors import NotFound

KEPT = 10_000
"""How many recalls of a store are kept."""


class Recalls(Protocol):
    """The last recalls. Losing them loses a chance of feedback and nothing else, so no recall waits for a writer."""

    def remember(self, recall_id: str, atom_ids: Iterable[AtomId], at: datetime, scope: Scope) -> None:
        """Keep what a recall returned to a caller of this scope."""

    def hits(self, recall_id: str, scope: Scope) -> list[AtomId] | None:
        """The atoms a recall of this scope returned, best first and each once; None where it is not kept."""

    def recent(self, scope: Scope, many: int) -> list[AtomId]:
        """The atoms the last recalls of a scope returned, each once."""

    def prune(self, before: datetime) -> int:
        """Let go of the recalls made before a moment; how many there were."""

    def answer(self, recall_id: str, scope: Scope) -> bool:
        """Mark a recall as answered: True the first time, False ever after, NotFound where it is not kept."""


def not_kept(recall_id: str) -> NotFound:
    """The error for a recall nobody here made, or made too long ago."""
    return NotFound(f"no recall {recall_id!r}: the last {KEPT:,} of a store are kept; recall again and use its id")
