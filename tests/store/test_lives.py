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

from lamina.atom.atom import Signals
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.atom.status import Status, TransitionCause
from lamina.clock import FixedClock
from lamina.store.ageing_state import AGEING_STATUSES, AgeingState
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.ageing_state import _DUE, _LAST_WRITE
from lamina.store.sqlite.journal import SqliteJournal
from lamina.testing import ANN, DAY, LOCAL, NOON, StoreHarness

SCOPES = (LOCAL, ANN)


@dataclass(frozen=True)
class Deed:
    """One thing that happens to the n-th atom there is, if there is any."""

    what: Literal["write", "change", "status", "use", "look", "look early"]
    n: int
    days: int
    status: Status


deeds = st.builds(
    Deed,
    st.sampled_from(["write", "change", "status", "use", "look", "look", "look early"]),
    st.integers(0, 4),
    st.integers(0, 3),
    st.sampled_from(Status),
)


@contextmanager
def opened(folder: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    store = SqliteStore(folder, clock)
    try:
        yield StoreHarness(store, clock)
    finally:
        store.close()


class Model:
    """The promise told plainly: look at every head, at what was last seen of it, and at whether it was used since."""

    def __init__(self, hand: StoreHarness) -> None:
        self.hand, self.lives, self.used = hand, dict[AtomId, AgeingState](), set[AtomId]()

    def do(self, deed: Deed) -> None:
        hand, ids = self.hand, sorted(each.id for each in self.hand.read(*SCOPES))
        hand.clock.at += DAY / 24
        if deed.what == "write" or not ids:
            hand.add(f"tea {deed.n}", scope=SCOPES[deed.n % 2])
            return
        (head,) = hand.read(*SCOPES, ids=(ids[deed.n % len(ids)],))
        if deed.what == "change":
            hand.commit(head.with_(content=f"{head.content} and milk"), scope=head.scope)
        elif deed.what == "status":
            hand.commit(head.with_(status=deed.status), scope=head.scope, way=TransitionCause.UNDO)
        elif deed.what == "use":
            hand.store.ledger.set_signals(head.id, Signals(1.0, 1, hand.clock.now()))
            self.used.add(head.id)
        else:
            early = int(deed.what == "look early")
            look_at = NOON + deed.days * DAY if deed.days else None
            self.lives[head.id] = AgeingState(head.revision - early, "cold", look_at, 0.5)
            self.used.discard(head.id)
            hand.store.ageing_states.put({head.id: self.lives[head.id]})

    def due(self, scope: Scope, days: int) -> list[AtomId]:
        by, found = NOON + days * DAY, list[tuple[datetime, AtomId]]()
        for head in self.hand.read(scope, statuses=AGEING_STATUSES):
            life = self.lives.get(head.id)
            looks = life is not None and life.next_check_at is not None and life.next_check_at <= by
            if life is None or life.revision != head.revision or head.id in self.used or looks:
                assert head.recorded_at is not None
                found.append((head.recorded_at, head.id))
        return [atom_id for _, atom_id in sorted(found)]


@settings(max_examples=60, deadline=None)
@given(st.lists(deeds, max_size=25))
def test_whoever_is_due_is_told_and_nobody_else(told: list[Deed]) -> None:
    with TemporaryDirectory() as folder, opened(Path(folder)) as hand:
        model = Model(hand)
        for deed in told:
            model.do(deed)
            for scope in SCOPES:
                for days in (0, 2):
                    assert hand.store.ageing_states.find_due(scope, NOON + days * DAY) == model.due(scope, days)


@pytest.mark.parametrize(("sql", "values"), [(_DUE, (LOCAL, 0, -1)), (_LAST_WRITE, (LOCAL,))])
def test_nobody_is_looked_through_who_is_not_asked_for(tmp_path: Path, sql: str, values: tuple[object, ...]) -> None:
    with closing(SqliteJournal(tmp_path / "history.db").db) as db:
        plan = [row[3] for row in db.rows(f"EXPLAIN QUERY PLAN {sql}", values)]
    tables = {" ".join(each.split()[:2]) for each in plan if each.startswith(("SCAN", "SEARCH"))}
    assert not tables & {"SCAN h", "SCAN v", "SCAN c", "SCAN u", "SCAN lives", "SCAN stirred"}
    assert any(table.startswith("SEARCH") for table in tables)
