"""The `Store` Protocol: eight ports and their transactions. Every backend passes `lamina.testing.StoreContract`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Protocol

from lamina.store.admin import Admin
from lamina.store.atoms import AtomFilter, Atoms
from lamina.store.graph import Edge, EvidenceSpan, Graph
from lamina.store.journal import (
    AtomChange,
    AtomVersion,
    Commit,
    CommitId,
    CommitResult,
    EntryChange,
    Journal,
    JournalEntry,
)
from lamina.store.passages import Passages, TextMatch, TextQuery
from lamina.store.projection import FileSnapshot, Projection
from lamina.store.queue import Queue
from lamina.store.signals_and_ageing import SignalCounters

__all__ = [
    "AtomChange",
    "AtomFilter",
    "AtomVersion",
    "Commit",
    "CommitId",
    "CommitResult",
    "Edge",
    "EntryChange",
    "EvidenceSpan",
    "FileSnapshot",
    "JournalEntry",
    "OpenStore",
    "Store",
    "TextMatch",
    "TextQuery",
    "Transaction",
    "TransactionMode",
]


class TransactionMode(StrEnum):
    """The purpose of a transaction.

    `WRITE`: no one else commits until it ends; what is read inside is still current when it is committed. Durable at
    the end; an error rolls all of it back. `TRIAL`: as `WRITE`, but always rolled back. `SNAPSHOT`: reads of one
    moment, for a reader that sends many queries.
    """

    WRITE = "write"
    TRIAL = "trial"
    SNAPSHOT = "snapshot"


class Store(Protocol):
    """The journal and its views, as ports. What one returns is never older than the last acknowledged commit."""

    @property
    def journal(self) -> Journal:
        """Return the append-only list of commits."""

    @property
    def atoms(self) -> Atoms:
        """Return the current atoms."""

    @property
    def passages(self) -> Passages:
        """Return the search over passages."""

    @property
    def graph(self) -> Graph:
        """Return the links between atoms."""

    @property
    def signals(self) -> SignalCounters:
        """Return the counters of use."""

    @property
    def queue(self) -> Queue:
        """Return the work that waits."""

    @property
    def projection(self) -> Projection:
        """Return the files that show the atoms."""

    @property
    def admin(self) -> Admin:
        """Return what keeps the store in order."""

    def transaction(self, mode: TransactionMode) -> AbstractContextManager[Transaction]:
        """Run a transaction; inside another one it is a part of it that can be rolled back alone.

        Everything that the same thread does with the store until the end of the block takes part in it.
        """


class Transaction(Store, Protocol):
    """A store inside one transaction. It must not be used after the end of the block."""

    @property
    def mode(self) -> TransactionMode:
        """Return what the transaction is for."""

    @property
    def position(self) -> int:
        """Return the journal position that is read in it: in a snapshot, that of its beginning."""


class OpenStore(Store, Protocol):
    """A store as a process opens it."""

    def close(self) -> None:
        """Release every resource; the store cannot be used afterwards."""
