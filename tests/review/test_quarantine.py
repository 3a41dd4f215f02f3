"""Everything from one source with all its descendants becomes pending, and nothing else.

Covers `lamina.review.reinstatement`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from store_snapshot import store_snapshot

import lamina
from lamina import Atom, FixedClock, InvalidInput, Memory, NotFound, Refused, Result, Status

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def home(memory: Memory, value: str, **fields: Any) -> Atom:
    return memory.remember(f"Ann lives in {value}.", subject="Ann", attribute="home", value=value, **fields).atom


def _at_odds(memory: Memory, n: int) -> tuple[str, str]:
    """A statement of the bad session and one of a good one that contradict each other."""
    one, other = (memory.list(subject=f"shelf {item}", limit=1)[0].id for item in (n, n + 1))
    memory.relate(one, "contradicts", other, 0.5)
    return one, other


def test_of_four_hundred_writes_exactly_the_bad_session_and_its_descendants_become_pending(memory: Memory) -> None:
    text = [
        {"content": f"Shelf {n} holds box {n}.", "subject": f"shelf {n}", "session_id": "good" if n % 20 else "bad"}
        for n in range(400)
    ]
    atoms = [outcome.atom for outcome in memory.remember_many(text).outcomes]
    bad = {atom.id for atom in atoms if atom.session_id == "bad"}
    assert len(bad) == 20
    heirs = {memory.review.merge(*_at_odds(memory, n), f"Boxes {n} to {n + 1} are here.").atom.id for n in (0, 200)}
    before = store_snapshot(memory)
    with pytest.raises(Refused, match="--yes"):
        memory.quarantine(session="bad")
    assert store_snapshot(memory) == before
    receipt = memory.quarantine(session="bad", reason="a forged transcript", yes=True)
    assert {atom.id for atom in memory.list(status="constrained", limit=None)} == bad | heirs
    restored = {outcome.atom.id for outcome in receipt.outcomes if outcome.result is Result.RESTORED}
    assert {memory.get(atom_id).subject for atom_id in restored} == {"shelf 1", "shelf 201"}
    assert memory.journal()[-1].reason == "a forged transcript: session bad"
    memory.undo(receipt.commit)
    assert store_snapshot(memory) == before


def test_descendants_become_pending_unless_they_also_rest_on_others(memory: Memory, clock: FixedClock) -> None:
    turn = [{"speaker": "Ann", "content": "I live in Rome."}]
    memory.capture(turn, session_id="good", wait=True)
    (atom,) = [item for item in memory.list() if not item.is_segment]
    clock.at += DAY
    memory.capture([*turn, {"speaker": "Ann", "content": "My dog is called Rex."}], session_id="bad", wait=True)
    atom = memory.get(atom.id)
    assert len(atom.evidence) == 2
    notes = [
        memory.remember(f"Rex eats {item}.", tags=["rex"], session_id=s).atom
        for item, s in (("fish", "bad"), ("bones", "good"))
    ]
    (group,) = memory.review.compact(create_proposals=True).groups
    memory.review.confirm(group.proposal.id)
    memory.quarantine(session="bad", yes=True)
    atom_ids = {item.id for item in memory.list(status="constrained", limit=None)}
    assert {group.proposal.id, notes[0].id} <= atom_ids
    assert memory.get(notes[1].id).status is Status.ACTIVE
    remaining = memory.get(atom.id)
    assert (remaining.status, len(remaining.evidence)) == (Status.ACTIVE, 1)
    assert all(item.status is not Status.ACTIVE for item in memory.list(status=None, session_id="bad"))


def test_statements_replaced_by_quarantined_ones_are_restored_and_chains_closed(
    memory: Memory, clock: FixedClock
) -> None:
    oslo = home(memory, "Oslo")
    clock.at += DAY
    rome = home(memory, "Rome", source_id="feed:7")
    before = store_snapshot(memory)
    receipt = memory.quarantine(source="feed", yes=True)
    assert memory.get(oslo.id) == oslo
    assert memory.get(rome.id).status is Status.CONSTRAINED
    memory.undo(receipt.commit)
    assert store_snapshot(memory) == before
    clock.at += DAY
    bern = home(memory, "Bern")
    memory.quarantine(source="feed", yes=True)
    first, last = memory.get(oslo.id), memory.get(bern.id)
    assert (first.status, first.superseded_by, first.valid_until) == (Status.SUPERSEDED, (bern.id,), clock.at)
    assert last.supersedes == (oslo.id,)
    assert memory.upkeep.doctor(deep=True).healthy


def test_pending_text_is_not_recalled(memory: Memory) -> None:
    memory.capture([{"speaker": "Ann", "content": "The vault code is 4411."}], session_id="bad", wait=True)
    assert memory.recall("vault code").hits
    memory.quarantine(session="bad", yes=True)
    assert memory.recall("vault code").hits == ()


def test_more_than_a_twentieth_needs_confirmation(memory: Memory) -> None:
    for n in range(39):
        memory.remember(f"Shelf {n} holds box {n}.", subject=f"shelf {n}", session_id="good")
    memory.remember("Shelf x holds box x.", subject="shelf x", session_id="bad")
    memory.quarantine(session="bad")
    memory.remember("Tea is green.", subject="tea", source_id="feed")
    memory.remember("Milk is white.", subject="milk", source_id="feed")
    memory.remember("Rust is red.", subject="rust", source_id="feed")
    with pytest.raises(Refused, match=r"3 of 43 .* 5% of the memory"):
        memory.quarantine(source="feed")
    memory.quarantine(source="feed", yes=True)
    assert len(memory.review.held("feed")) == 3


def test_exactly_one_source_with_descendants_must_be_named(memory: Memory) -> None:
    for wrong in ({}, {"source": "a", "session": "b"}, {"origin": "nobody"}):
        with pytest.raises(InvalidInput):
            memory.quarantine(**wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="nothing came from origin web"):
        memory.quarantine(origin="web")
