"""The `Queue` port: work that waits, who is doing it, and how far it has come."""

from __future__ import annotations

from typing import Protocol

from lamina.store.dream_progress import DreamProgress
from lamina.store.jobs import Jobs
from lamina.store.waiting_passages import Buffer


class Queue(Protocol):
    """Work in the background. Whoever does it has a lease: a random token that expires unless it is renewed."""

    @property
    def buffer(self) -> Buffer:
        """Return the passages that are waiting for extraction."""

    @property
    def jobs(self) -> Jobs:
        """Return the leases on work that one process does for all."""

    @property
    def dream_progress(self) -> DreamProgress:
        """Return how far the dream steps have progressed."""
