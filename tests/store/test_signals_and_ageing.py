"""Who is due, whatever happened to whom in whichever order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom.atom import AtomId, Signals
from lamina.atom.provenance import Scope
from lamina.atom.status import Status, TransitionCause
from lamina.clock import FixedClock
from lamina.store.signals_and_ageing import AGEING_STATUSES, AgeingState
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.history import HistoryFile
from lamina.store.sqlite.signals_and_ageing import _DUE, _LAST_WRITE
from lamina.testing import ANN, DAY, LOCAL, NOON, StoreHarness

SCOPES = (LOCAL, ANN)


@dataclass(frozen=True)
class Operation:
    """One thing that happens to the n-th atom there is, if there is any."""

    what: Literal["write", "change", "status", "use", "look", "look early"]
    n: int
    days: int
    status: Status


operations = st.builds(
    Operation,
    st.sampled_from(["write", "change", "status", "use", "look", "look", "look early"]),
    st.integers(0, 4),
    st.integers(0, 3),
    st.sampled_from(Status),
)


@contextmanager
def open_store(folder: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    store = SqliteStore(folder, clock)
    try:
        yield StoreHarness(store, clock)
    finally:
        store.close()


class Model:
    """The promise told plainly: look at every head, at what was last seen of it, and at whether it was used since."""

    def __init__(self, harness: StoreHarness) -> None:
        self.harness, self.lives, self.used = harness, dict[AtomId, AgeingState](), set[AtomId]()

    def do(self, deed: Operation) -> None:
        harness, ids = self.harness, sorted(atom.id for atom in self.harness.read(*SCOPES))
        harness.clock.at += DAY / 24
        if deed.what == "write" or not ids:
            harness.add(f"tea {deed.n}", scope=SCOPES[deed.n % 2])
            return
        (head,) = harness.read(*SCOPES, ids=(ids[deed.n % len(ids)],))
        if deed.what == "change":
            harness.commit(head.with_(content=f"{head.content} and milk"), scope=head.scope)
        elif deed.what == "status":
            harness.commit(head.with_(status=deed.status), scope=head.scope, way=TransitionCause.UNDO)
        elif deed.what == "use":
            harness.store.signals.put(head.id, Signals(1.0, 1, harness.clock.now()))
            self.used.add(head.id)
        else:
            early = int(deed.what == "look early")
            look_at = NOON + deed.days * DAY if deed.days else None
            self.lives[head.id] = AgeingState(head.revision - early, "cold", look_at, 0.5)
            self.used.discard(head.id)
            harness.store.signals.put_ageing({head.id: self.lives[head.id]})

    def due(self, scope: Scope, days: int) -> list[AtomId]:
        by, atoms = NOON + days * DAY, list[tuple[datetime, AtomId]]()
        for head in self.harness.read(scope, statuses=AGEING_STATUSES):
            ageing_state = self.lives.get(head.id)
            looks = (
                ageing_state is not None and ageing_state.next_check_at is not None and ageing_state.next_check_at <= by
            )
            if ageing_state is None or ageing_state.revision != head.revision or head.id in self.used or looks:
                assert head.recorded_at is not None
                atoms.append((head.recorded_at, head.id))
        return [atom_id for _, atom_id in sorted(atoms)]


@settings(max_examples=60, deadline=None)
@given(st.lists(operations, max_size=25))
def test_exactly_the_due_atoms_are_listed(result: list[Operation]) -> None:
    with TemporaryDirectory() as folder, open_store(Path(folder)) as harness:
        model = Model(harness)
        for deed in result:
            model.do(deed)
            for scope in SCOPES:
                for days in (0, 2):
                    assert harness.store.signals.find_due(scope, NOON + days * DAY) == model.due(scope, days)


@pytest.mark.parametrize(("sql", "values"), [(_DUE, (LOCAL, 0, -1)), (_LAST_WRITE, (LOCAL,))])
def test_atoms_that_are_not_requested_are_not_scanned(tmp_path: Path, sql: str, values: tuple[object, ...]) -> None:
    with closing(HistoryFile(tmp_path / "history.db").db) as db:
        plan = [row[3] for row in db.rows(f"EXPLAIN QUERY PLAN {sql}", values)]
    tables = {" ".join(item.split()[:2]) for item in plan if item.startswith(("SCAN", "SEARCH"))}
    assert not tables & {"SCAN h", "SCAN v", "SCAN c", "SCAN u", "SCAN lives", "SCAN stirred"}
    assert any(table.startswith("SEARCH") for table in tables)
