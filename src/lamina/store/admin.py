"""The `Admin` port: erasure, usage, problems, the log of recalls, and the care of the index."""

from __future__ import annotations

from typing import Protocol

from lamina.store.access import AccessState
from lamina.store.chat_usage import Usage
from lamina.store.erasure import Erasures
from lamina.store.problems import Problems
from lamina.store.recalls import Recalls


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

    def catch_up(self) -> None:
        """Bring the index to the last commit; cheap if it is there already."""

    def rebuild_index(self) -> int:
        """Rebuild the index from the journal; return how many atoms it contains."""

    def check(self) -> list[str]:
        """Return the faults: a broken hash chain, an index that differs from the journal. Empty is healthy."""
