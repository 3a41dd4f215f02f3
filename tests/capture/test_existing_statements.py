"""What a new statement is compared with: enough to decide, and no more of a claim than that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina import Atom, FixedClock, Memory, Origin, Result, Scope, Status
from lamina.atom.atom import AtomId, Evidence
from lamina.capture.existing_statements import MAX_ON_SUBJECT, MAX_RECENT_ENDED
from lamina.capture.statement_commit import classify_statements
from lamina.capture.store_reads import StoreReads
from lamina.clock import Clock
from lamina.store.base import AtomChange, AtomFilter, Commit
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.atoms import SqliteAtoms

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=30)
MINUTE = timedelta(minutes=1)
LOCAL = Scope("org:local")


class CountingAtoms(SqliteAtoms):
    """Atoms that count what they hand out."""

    handed = 0

    def read(self, wanted: AtomFilter) -> list[Atom]:
        atoms = super().read(wanted)
        self.handed += len(atoms)
        return atoms

    def read_many(self, wanted: Sequence[AtomFilter]) -> list[list[Atom]]:
        atoms = super().read_many(wanted)
        self.handed += sum(map(len, atoms))
        return atoms


class CountingStore(SqliteStore):
    """A store that counts the atoms it hands out."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        super().__init__(folder, clock)
        self.atoms: CountingAtoms = CountingAtoms(self.history, self.lock)

    @property
    def handed(self) -> int:
        return self.atoms.handed

    @handed.setter
    def handed(self, count: int) -> None:
        self.atoms.handed = count


def price(n: int, **fields: Any) -> Atom:
    initial = {"subject": "shop", "attribute": "price", "value": f"{n} euros", "observed_at": START + n * MINUTE}
    return Atom(
        id=AtomId(f"{n:026d}"), scope=LOCAL, kind="fact", content=f"It costs {n} euros.", **{**initial, **fields}
    )


def claim_values(status: Status, count: int) -> list[Atom]:
    """So many statements of one claim; the last one holds where the others were replaced one by the next."""
    if status is not Status.SUPERSEDED:
        fields = {"attribute": "like"} if status is Status.ACTIVE else {}
        return [price(n, status=status, **fields) for n in range(count)]
    return [
        price(n, status=status, valid_from=START + n * MINUTE, valid_until=START + (n + 1) * MINUTE)
        for n in range(count - 1)
    ] + [price(count - 1, valid_from=START + (count - 1) * MINUTE)]


def count_read_atoms(path: Path, known: list[Atom], statement: Atom) -> int:
    """How many atoms are read to decide about a statement."""
    path.mkdir()
    store = CountingStore(path, FixedClock(NOW))
    try:
        changes = tuple(map(AtomChange, known))
        store.journal.append(Commit(actor="t", origin=Origin.HUMAN, verb="t", reason="t", scope=LOCAL, changes=changes))
        store.handed = 0
        classify_statements([statement], StoreReads(store), NOW)
        return store.handed
    finally:
        store.close()


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.CONSTRAINED, Status.CHALLENGED, Status.ACTIVE])
@pytest.mark.parametrize("from_words", [False, True])
def test_a_claim_with_many_values_is_not_read_completely(tmp_path: Path, status: Status, from_words: bool) -> None:
    count = MAX_ON_SUBJECT + 3 * MAX_RECENT_ENDED
    atoms = claim_values(status, 2 * count)
    rests = (Evidence(AtomId("z" * 26), 1, 0, 5),) if from_words else ()
    atom = price(9 * count, attribute=atoms[0].attribute, evidence=rests)
    few, many = (count_read_atoms(tmp_path / str(n), claim_values(status, n), atom) for n in (count, 2 * count))
    assert few == many
    assert many <= (3 * MAX_ON_SUBJECT if from_words else 2 * MAX_RECENT_ENDED)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def costs(memory: Memory, n: int, **fields: Any) -> lamina.Receipt:
    return memory.remember(f"It costs {n}.", subject="shop", attribute="price", value=str(n), **fields)


@pytest.mark.parametrize("place", [2, 31])
def test_a_late_value_finds_its_place_among_many(memory: Memory, clock: FixedClock, place: int) -> None:
    known_value = []
    for n in range(MAX_RECENT_ENDED + 15):
        clock.at = START + n * MINUTE
        known_value.append(costs(memory, n).atom.id)
    late = costs(memory, 999, observed_at=START + place * MINUTE + MINUTE / 2)
    assert late.outcomes[0].result is Result.SUPERSEDED
    before, fields, after = (memory.get(item) for item in (known_value[place], late.atom.id, known_value[place + 1]))
    assert before.valid_until == fields.valid_from
    assert fields.valid_until == after.valid_from


def test_a_retracted_value_stays_away_behind_many_others(memory: Memory, clock: FixedClock) -> None:
    def text(n: int, at: datetime) -> lamina.Receipt:
        words = [{"speaker": "Ann", "content": f"My favourite number is {n}.", "at": at}]
        return memory.capture(words, session_id=f"{n} {clock.at}", wait=True)

    first = next(outcome.atom for outcome in text(7, START).outcomes if outcome.result is Result.NEW)
    clock.at += MINUTE
    memory.forget(first.id, "nobody's business")
    for n in range(MAX_RECENT_ENDED + 5):
        clock.at += MINUTE
        memory.remember(f"Ann's number: {n + 100}", subject="Ann", attribute=first.attribute, value=str(n + 100))
    again = text(7, START)
    assert Status.ACTIVE not in {outcome.atom.status for outcome in again.outcomes if outcome.atom.value == first.value}
    assert memory.get(first.id).status is Status.TOMBSTONED
