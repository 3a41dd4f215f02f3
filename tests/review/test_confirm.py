"""A decision on a pending statement activates or rejects it, and is undone as one.

Covers `lamina.review.review_context`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lamina
from lamina import Atom, FixedClock, Memory, NotFound, Refused, Result, Status
from lamina.atom.json_record import to_record
from lamina.atom.provenance import Origin

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def remember_active(memory: Memory, content: str, **fields: Any) -> Atom:
    return memory.remember(content, **fields).atom


def remember_pending(memory: Memory, content: str, origin: str = "import", **fields: Any) -> Atom:
    atom = memory.remember(content, origin=origin, **fields).atom
    assert atom.status is Status.CONSTRAINED
    return atom


def home(value: str, **fields: Any) -> dict[str, Any]:
    return {"content": f"Ann lives in {value}.", "subject": "Ann", "attribute": "home", "value": value, **fields}


def snapshot(memory: Memory) -> dict[str, Any]:
    return {atom.id: to_record(atom) for atom in memory.list(status=None, limit=None)}


def test_a_confirmed_statement_is_recalled_and_keeps_its_origin(memory: Memory) -> None:
    atom = remember_pending(memory, "The boiler is in the cellar.", source_id="file:house.md")
    assert memory.recall("where is the boiler").hits == ()
    receipt = memory.review.confirm(atom.id)
    assert (receipt.atom.id, receipt.atom.status, receipt.atom.origin) == (atom.id, Status.ACTIVE, Origin.IMPORT)
    assert receipt.outcomes[0].result is Result.NEW
    assert [hit.atom.id for hit in memory.recall("where is the boiler").hits] == [atom.id]
    (change,) = [item for item in memory.status_history(atom.id) if item.new is Status.ACTIVE]
    assert (change.old, change.actor) == (Status.CONSTRAINED, "human")
    assert change.reason.startswith("confirmed")


def test_a_later_value_supersedes_a_trusted_one(memory: Memory) -> None:
    rome = remember_active(memory, **home("Rome", observed_at=NOON - 9 * DAY))
    oslo = remember_pending(memory, **home("Oslo", observed_at=NOON - DAY))
    receipt = memory.review.confirm(oslo.id)
    assert [outcome.result for outcome in receipt.outcomes] == [Result.SUPERSEDES, Result.SUPERSEDED]
    before, after = memory.get(rome.id), memory.get(oslo.id)
    assert (before.status, before.superseded_by, before.valid_until) == (Status.SUPERSEDED, (oslo.id,), NOON - DAY)
    assert (after.status, after.supersedes) == (Status.ACTIVE, (rome.id,))
    assert after.relations == ()


def test_an_earlier_value_is_confirmed_as_history(memory: Memory) -> None:
    oslo = remember_active(memory, **home("Oslo", observed_at=NOON - DAY))
    rome = remember_pending(memory, **home("Rome", observed_at=NOON - 9 * DAY))
    assert memory.review.confirm(rome.id).outcomes[0].result is Result.SUPERSEDED
    assert memory.get(oslo.id).status is Status.ACTIVE
    past = memory.get(rome.id)
    assert (past.status, past.superseded_by, past.valid_until) == (Status.SUPERSEDED, (oslo.id,), NOON - DAY)


def test_of_two_values_of_one_time_the_confirmed_one_is_right(memory: Memory) -> None:
    rome = remember_active(memory, **home("Rome", observed_at=NOON - DAY))
    oslo = remember_pending(memory, **home("Oslo", observed_at=NOON - DAY))
    memory.review.confirm(oslo.id)
    assert memory.get(rome.id).status is Status.INVALIDATED
    assert memory.get(oslo.id).status is Status.ACTIVE
    assert memory.get(oslo.id).tags == ()


def test_a_statement_made_meanwhile_is_merged_and_its_evidence_added(memory: Memory, clock: FixedClock) -> None:
    memory.capture(
        [{"speaker": "Ann", "content": "I live in Rome."}],
        session_id="fed",
        origin="document",
        wait=True,
        observed_at=NOON - DAY,
    )
    (proposal,) = memory.review.held()
    clock.at += DAY
    atom = remember_active(memory, proposal.content, kind=proposal.kind, subject=proposal.subject, value=proposal.value)
    receipt = memory.review.confirm(proposal.id)
    assert receipt.outcomes[0].result is Result.DUPLICATE
    assert atom.id in receipt.outcomes[0].reason
    assert memory.get(proposal.id).status is Status.TOMBSTONED
    assert memory.get(atom.id).evidence == proposal.evidence


def test_the_same_value_in_other_words_is_not_stored_twice(memory: Memory) -> None:
    pending = remember_pending(memory, **home("Rome"))
    known_value = remember_active(memory, **home("Rome") | {"content": "Ann's home is Rome."})
    assert known_value.status is Status.ACTIVE
    receipt = memory.review.confirm(pending.id)
    assert receipt.outcomes[0].result is Result.DUPLICATE
    assert [atom.id for atom in memory.list() if not atom.is_segment] == [known_value.id]


@pytest.mark.parametrize("days", [9, 1, 0])
def test_undo_of_a_confirmation_restores_everything(memory: Memory, days: int) -> None:
    remember_active(memory, **home("Rome", observed_at=NOON - DAY))
    atom = remember_pending(memory, **home("Oslo", observed_at=NOON - days * DAY))
    before = snapshot(memory)
    receipt = memory.review.confirm(atom.id)
    assert snapshot(memory) != before
    memory.undo(receipt.commit)
    assert snapshot(memory) == before


def test_a_rejected_statement_does_not_return_from_the_same_text(memory: Memory) -> None:
    fields: dict[str, Any] = {"session_id": "fed", "origin": "document", "wait": True, "observed_at": NOON - DAY}
    memory.capture([{"speaker": "Ann", "content": "I live in Rome."}], **fields)
    (proposal,) = memory.review.held()
    receipt = memory.review.reject(proposal.id, "she does not")
    assert receipt.atom.status is Status.TOMBSTONED
    assert memory.status_history(proposal.id)[-1].reason == "she does not"
    memory.capture([{"speaker": "Ann", "content": "I live in Rome."}], **fields | {"session_id": "again"})
    assert memory.review.held() == []


def test_a_person_may_confirm_what_was_retracted_before(memory: Memory, clock: FixedClock) -> None:
    wrong = remember_active(memory, **home("Rome", observed_at=NOON - 9 * DAY))
    memory.forget(wrong.id, "not so")
    atom = remember_pending(memory, **home("Rome", observed_at=NOON - DAY))
    assert memory.review.confirm(atom.id).atom.status is Status.ACTIVE


def test_only_a_person_decides(memory: Memory, tmp_path: Path) -> None:
    atom = remember_pending(memory, "The boiler is in the cellar.")
    with lamina.open(tmp_path / "vault", watch=False, ceiling="agent", actor="bot") as agent:
        for decide in (
            lambda: agent.review.confirm(atom.id),
            lambda: agent.review.reject(atom.id, "no"),
            lambda: agent.review.approve_source("file:house.md"),
            lambda: agent.update_status(atom.id, "active", "please"),
        ):
            with pytest.raises((Refused, NotFound)):
                decide()
        with pytest.raises(Refused, match="a person can"):
            agent.review.confirm(atom.id)
    assert memory.get(atom.id).status is Status.CONSTRAINED


def test_active_statements_stay_and_ended_ones_are_refused(memory: Memory) -> None:
    atom = remember_active(memory, "Tea is green.")
    assert memory.review.confirm(atom.id).commit is None
    with pytest.raises(Refused, match="forget"):
        memory.review.reject(atom.id, "no")
    memory.forget(atom.id, "over")
    with pytest.raises(Refused, match="tombstoned"):
        memory.review.confirm(atom.id)
    with pytest.raises(NotFound):
        memory.review.confirm("01m7cyvgg05h5s4jd9wpqxtx7n")


def test_setting_the_status_of_a_pending_statement_confirms_it(memory: Memory) -> None:
    rome = remember_active(memory, **home("Rome", observed_at=NOON - 9 * DAY))
    oslo = remember_pending(memory, **home("Oslo", observed_at=NOON - DAY))
    assert memory.update_status(oslo.id, "active", "I was there").status is Status.ACTIVE
    assert memory.get(rome.id).status is Status.SUPERSEDED


def test_everything_from_one_source_is_decided_in_one_batch(memory: Memory, clock: FixedClock) -> None:
    one = remember_pending(memory, "Tea is green.", source_id="chatgpt:a")
    clock.at += DAY
    two = remember_pending(memory, "Milk is white.", source_id="chatgpt:b")
    other = remember_pending(memory, "Rust is red.", source_id="chatgptx:c")
    assert [atom.id for atom in memory.review.held("chatgpt:a")] == [one.id]
    assert {atom.id for atom in memory.review.held("chatgpt")} == {one.id, two.id}
    assert [receipt.atom.id for receipt in memory.review.approve_source("chatgpt")] == [one.id, two.id]
    entries = [entry for entry in memory.journal() if entry.verb == "confirm"]
    assert len({entry.batch for entry in entries}) == 1
    assert entries[0].batch
    assert [receipt.atom.status for receipt in memory.review.reject_source("chatgptx", "no")] == [Status.TOMBSTONED]
    assert memory.get(other.id).status is Status.TOMBSTONED
    with pytest.raises(NotFound, match="review list"):
        memory.review.approve_source("chatgpt")


VALUES = st.sampled_from(["Rome", "Oslo", "Bern"])
DAYS = st.integers(-3, 3)
SPANS = st.tuples(VALUES, st.integers(-6, 0), st.none() | DAYS, st.none() | st.integers(1, 4), st.booleans())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SPANS, min_size=1, max_size=6))
def test_a_confirmation_never_ends_in_a_conflict(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int | None, int | None, bool]]
) -> None:
    with lamina.open(tmp_path_factory.mktemp("v") / "v", clock=FixedClock(NOON), watch=False) as memory:
        for value, result, start, length, waiting in steps:
            begins = NOON + start * DAY if start is not None else None
            ends = (begins or NOON + result * DAY) + length * DAY if length else None
            memory.remember(
                **home(value, observed_at=NOON + result * DAY, valid_from=begins, valid_until=ends),
                origin="import" if waiting else "human",
            )
        for proposal in reversed(memory.review.held()):
            before = snapshot(memory)
            receipt = memory.review.confirm(proposal.id)
            assert memory.get(proposal.id).status is not Status.CONSTRAINED
            assert receipt.commit
            memory.undo(receipt.commit)
            assert snapshot(memory) == before
            memory.review.confirm(proposal.id)
        assert memory.upkeep.doctor(deep=True).healthy
