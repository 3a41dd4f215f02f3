"""Give every test of a store a harness: the store, a clock, a few scopes, and short methods."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from lamina.atom.atom import Atom, AtomId, IdSource, kind_defaults
from lamina.atom.kinds import MemoryType
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.clock import Clock, FixedClock
from lamina.store.base import AtomChange, AtomFilter, Commit, CommitResult, OpenStore, Store, TextMatch, TextQuery
from lamina.store.encodings import Encodings, PackedStates
from lamina.store.passages import PassageFilter
from lamina.store.projection import FileWritten, PendingFile
from lamina.testing.capabilities import Capability
from lamina.text.analyser import analyse
from lamina.vault.file_access import Stamp

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LOCAL, OTHER = Scope("org:local"), Scope("org:other")
ANN, BOB = Scope("org:local:agent:ann"), Scope("org:local:agent:bob")
STAMP = Stamp(10, 1_000, 1_000, 7)

STATUS_TRANSITIONS: dict[str, str] = {
    "constrained": "active tombstoned",
    "active": "challenged superseded invalidated merged archived tombstoned",
    "challenged": "active superseded invalidated tombstoned archived",
    "archived": "active tombstoned",
    "superseded": "",
    "invalidated": "",
    "merged": "",
    "tombstoned": "",
}
"""The table of allowed status transitions, repeated here so that a change of it is noticed."""
ENDED_STATUSES = ("superseded", "invalidated", "merged", "tombstoned")

Params = ParamSpec("Params")
ExceptionT = TypeVar("ExceptionT", bound=BaseException)


def raises(
    kind: type[ExceptionT], work: Callable[Params, object], *args: Params.args, **kwargs: Params.kwargs
) -> ExceptionT:
    """Return the error that the work raises; AssertionError if it raises none."""
    try:
        work(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected and nothing was raised")


def run_in_threads(*works: Callable[[], object]) -> None:
    """Run functions at the same time, and wait for all of them."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def coverage(store: Store, model: str, scopes: Sequence[Scope]) -> tuple[int, int]:
    """Return how many passages of these scopes a model has encoded, and how many there are."""
    summary = store.passages.statistics(scopes, [model])
    return summary.encoded[model], summary.count


def count_missing(encodings: Encodings, model: str, packing: str | None = None) -> int:
    """Return how many texts a model has to encode."""
    return encodings.count({model: packing}).missing[model]


def token_states(store: Store, model: str, digests: Iterable[bytes]) -> dict[bytes, PackedStates]:
    """Return what one model stored as token states of these texts."""
    return store.passages.encodings.states([model], digests)[model]


class StoreHarness:
    """A store with short methods for what tests do to it."""

    def __init__(self, store: OpenStore, clock: FixedClock) -> None:
        self.store, self.clock, self.journal = store, clock, store.journal
        self.graph = store.graph
        self.encodings = store.passages.encodings
        self.queue = store.queue
        self.erasures = store.admin.erasures
        self._ids = IdSource(os.urandom)

    def new_atom(self, content: str = "tea is ready", **fields: Any) -> Atom:
        """Return a new atom that is not committed."""
        kind = fields.setdefault("kind", "fact")
        traits = kind_defaults(kind, fields.get("confidence", 1.0), fields.get("origin", Origin.HUMAN))
        all_fields = {"scope": LOCAL, "observed_at": self.clock.now(), **traits, **fields}
        return Atom(id=self._ids.new(self.clock.now()), content=content, **all_fields)

    def commit(self, *atoms: Atom, **overrides: Any) -> CommitResult:
        """Commit the atoms as they are."""
        return self.journal.append(self.new_commit(*atoms, **overrides))

    def new_commit(self, *atoms: Atom, **overrides: Any) -> Commit:
        """Return a commit of the atoms as they are."""
        names = {"actor": "test", "verb": "write", "reason": "because"}
        fields: dict[str, Any] = {**names, "origin": Origin.HUMAN, "scope": LOCAL, **overrides}
        return Commit(changes=tuple(map(AtomChange, atoms)), **fields)

    def add(self, content: str = "tea is ready", **fields: Any) -> Atom:
        """Commit a new atom and return it."""
        atom = self.new_atom(content, **fields)
        return self.commit(atom, scope=atom.scope).atoms[0]

    def read(self, *scopes: Scope, **filters: Any) -> list[Atom]:
        """Return the atoms of the scopes that match the filters."""
        return self.store.atoms.read(AtomFilter(scopes=scopes or (LOCAL,), **filters))

    def current(self, atom: Atom) -> Atom:
        """Return the current version of an atom."""
        (current,) = self.read(atom.scope, ids=(atom.id,))
        return current

    def search(
        self, words: str, *scopes: Scope, limit: int = 10, required_tokens: tuple[str, ...] = (), **filters: Any
    ) -> list[TextMatch]:
        """Return the text matches of some words, best first."""
        fields: dict[str, Any] = {
            "statuses": frozenset({Status.ACTIVE, Status.ARCHIVED}),
            "memory_types": frozenset(MemoryType),
            "valid_at": self.clock.now(),
            **filters,
        }
        query = TextQuery(
            filter=PassageFilter(scopes=scopes or (LOCAL,), **fields),
            tokens=tuple(dict.fromkeys(analyse(words))),
            required_tokens=required_tokens,
            limit=limit,
        )
        return sorted(self.store.passages.search_text(query), key=lambda match: (-match.score, match.atom_id, match.n))

    def find_ids(self, words: str, *scopes: Scope, **filters: Any) -> list[AtomId]:
        """Return the ids of the atoms that match some words, best first."""
        return [match.atom_id for match in self.search(words, *scopes, **filters)]

    def pending_files(self, limit: int = 10_000) -> list[PendingFile]:
        """Return the files still to be written, those of the last commit included."""
        self.store.projection.catch_up()
        return self.store.projection.pending_files(limit)

    def mark_files_written(self) -> None:
        """Mark every pending file as written."""
        files = self.pending_files()
        self.store.projection.record([FileWritten(file.path, file.data, STAMP) for file in files], 2_000_000_000)


class Contract:
    """Base of all contracts: how a test opens the store under test, and what its backend can do."""

    capabilities: frozenset[Capability] = frozenset(Capability)
    """Override it for a backend that lacks some."""

    def __init_subclass__(cls) -> None:
        """Let tests with the parameter `harness` take `tmp_path`, and open the store in it for them."""
        super().__init_subclass__()
        for name, test in list(vars(cls).items()):
            if name.startswith("test_") and "harness" in signature(test).parameters:
                setattr(cls, name, _open_for(test))

    def make_store(self, tmp_path: Path, clock: Clock) -> OpenStore:
        """Return the store under test. It owns the folder, whose content stays when the store is opened again."""
        raise NotImplementedError

    @contextmanager
    def open_harness(self, tmp_path: Path, at: datetime = NOON) -> Iterator[StoreHarness]:
        """Open the store at a time, and close it at the end."""
        clock = FixedClock(at)
        store = self.make_store(tmp_path, clock)
        try:
            yield StoreHarness(store, clock)
        finally:
            store.close()


def _open_for(test: Callable[[Any, Any], None]) -> Callable[[Contract, Path], None]:
    def run(self: Contract, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            test(self, harness)

    run.__name__, run.__qualname__, run.__doc__, run.__module__ = (
        test.__name__,
        test.__qualname__,
        test.__doc__,
        test.__module__,
    )
    return run
