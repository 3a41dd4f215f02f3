"""What every test of a store holds in its hand: the store itself, a clock, a few scopes and short words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.kinds import MemoryType
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.clock import Clock, FixedClock
from lamina.store.base import Change, Commit, Committed, Filter, Match, Store, TextQuery
from lamina.text.analyse import analyse
from lamina.vault.files import Stamp

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LOCAL, OTHER = Scope("org:local"), Scope("org:other")
ANN, BOB = Scope("org:local:agent:ann"), Scope("org:local:agent:bob")
STAMP = Stamp(10, 1_000, 1_000, 7)

ARROWS: dict[str, str] = {
    "constrained": "active tombstoned",
    "active": "challenged superseded invalidated merged archived tombstoned",
    "challenged": "active superseded invalidated tombstoned archived",
    "archived": "active tombstoned",
    "superseded": "",
    "invalidated": "",
    "merged": "",
    "tombstoned": "",
}
"""The status table once more, so that a change of it is noticed here."""
ENDINGS = ("superseded", "invalidated", "merged", "tombstoned")

X = TypeVar("X", bound=BaseException)


def raises(kind: type[X], work: Callable[[], object]) -> X:
    """The error the work ends with; AssertionError if it is another or none."""
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected and nothing was raised")


class Hand:
    """A store with short words for what tests do to it."""

    def __init__(self, store: Store, clock: FixedClock) -> None:
        self.store, self.clock = store, clock
        self._ids = IdSource(os.urandom)

    def atom(self, content: str = "tea is ready", **fields: Any) -> Atom:
        """A new atom, not yet committed."""
        kind = fields.setdefault("kind", "fact")
        traits = kind_defaults(kind, fields.get("confidence", 1.0), fields.get("origin", Origin.HUMAN))
        own = {"scope": LOCAL, "observed_at": self.clock.now(), **traits, **fields}
        return Atom(id=self._ids.new(self.clock.now()), content=content, **own)

    def put(self, *atoms: Atom, **about: Any) -> Committed:
        """Commit the atoms as they are."""
        own = {"actor": "test", "origin": Origin.HUMAN, "verb": "write", "reason": "because", "scope": LOCAL, **about}
        return self.store.commit(Commit(changes=tuple(Change(atom) for atom in atoms), **own))

    def kept(self, content: str = "tea is ready", **fields: Any) -> Atom:
        """A new atom, committed."""
        atom = self.atom(content, **fields)
        return self.put(atom, scope=atom.scope).atoms[0]

    def read(self, *scopes: Scope, **wanted: Any) -> list[Atom]:
        return self.store.read(Filter(scopes=scopes or (LOCAL,), **wanted))

    def head(self, atom: Atom) -> Atom:
        (found,) = self.read(atom.scope, ids=(atom.id,))
        return found

    def search(self, words: str, *scopes: Scope, limit: int = 10, **wanted: Any) -> list[Match]:
        own: dict[str, Any] = {
            "statuses": frozenset({Status.ACTIVE, Status.ARCHIVED}),
            "memory_types": frozenset(MemoryType),
            "valid_at": self.clock.now(),
            **wanted,
        }
        query = TextQuery(scopes=scopes or (LOCAL,), tokens=tuple(dict.fromkeys(analyse(words))), limit=limit, **own)
        return sorted(self.store.search(query), key=lambda match: (-match.score, match.atom_id, match.n))

    def found(self, words: str, *scopes: Scope, **wanted: Any) -> list[AtomId]:
        return [match.atom_id for match in self.search(words, *scopes, **wanted)]

    def publish(self) -> None:
        """Pretend that every waiting file was written."""
        waiting = self.store.ledger.pending(10_000)
        self.store.ledger.wrote([(pending.path, STAMP, pending.data) for pending in waiting], 2_000_000_000)


class Contract:
    """How a test gets at the store under test."""

    def make_store(self, tmp_path: Path, clock: Clock) -> Store:
        """The store under test; the folder is its own, and stays when it is opened again."""
        raise NotImplementedError

    @contextmanager
    def hand(self, tmp_path: Path, at: datetime = NOON) -> Iterator[Hand]:
        clock = FixedClock(at)
        store = self.make_store(tmp_path, clock)
        try:
            yield Hand(store, clock)
        finally:
            store.close()
