"""A person decides about what waits: it counts and what stood gives way, or it does not; either is undone as one."""

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
from lamina.atom.record import to_record
from lamina.atom.trust import Origin

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened:
        yield opened


def stands(memory: Memory, content: str, **fields: Any) -> Atom:
    return memory.remember(content, **fields).atom


def waits(memory: Memory, content: str, origin: str = "import", **fields: Any) -> Atom:
    atom = memory.remember(content, origin=origin, **fields).atom
    assert atom.status is Status.CONSTRAINED
    return atom


def home(value: str, **fields: Any) -> dict[str, Any]:
    return {"content": f"Ann lives in {value}.", "subject": "Ann", "attribute": "home", "value": value, **fields}


def snapshot(memory: Memory) -> dict[str, Any]:
    return {atom.id: to_record(atom) for atom in memory.list(status=None, limit=None)}


def test_what_is_confirmed_is_found_and_stays_the_word_of_its_source(memory: Memory) -> None:
    held = waits(memory, "The boiler is in the cellar.", source_id="file:house.md")
    assert memory.recall("where is the boiler").hits == ()
    receipt = memory.review.confirm(held.id)
    assert (receipt.atom.id, receipt.atom.status, receipt.atom.origin) == (held.id, Status.ACTIVE, Origin.IMPORT)
    assert receipt.outcomes[0].result is Result.NEW
    assert [hit.atom.id for hit in memory.recall("where is the boiler").hits] == [held.id]
    (change,) = [each for each in memory.status_history(held.id) if each.new is Status.ACTIVE]
    assert (change.old, change.actor) == (Status.CONSTRAINED, "human")
    assert change.reason.startswith("confirmed")


def test_a_later_value_takes_the_place_of_a_trusted_one(memory: Memory) -> None:
    rome = stands(memory, **home("Rome", observed_at=NOON - 9 * DAY))
    oslo = waits(memory, **home("Oslo", observed_at=NOON - DAY))
    receipt = memory.review.confirm(oslo.id)
    assert [outcome.result for outcome in receipt.outcomes] == [Result.SUPERSEDES, Result.SUPERSEDED]
    before, after = memory.get(rome.id), memory.get(oslo.id)
    assert (before.status, before.superseded_by, before.valid_until) == (Status.SUPERSEDED, (oslo.id,), NOON - DAY)
    assert (after.status, after.supersedes) == (Status.ACTIVE, (rome.id,))
    assert after.relations == ()


def test_an_earlier_value_is_confirmed_as_history(memory: Memory) -> None:
    oslo = stands(memory, **home("Oslo", observed_at=NOON - DAY))
    rome = waits(memory, **home("Rome", observed_at=NOON - 9 * DAY))
    assert memory.review.confirm(rome.id).outcomes[0].result is Result.SUPERSEDED
    assert memory.get(oslo.id).status is Status.ACTIVE
    past = memory.get(rome.id)
    assert (past.status, past.superseded_by, past.valid_until) == (Status.SUPERSEDED, (oslo.id,), NOON - DAY)


def test_of_two_values_of_one_time_the_confirmed_one_is_right(memory: Memory) -> None:
    rome = stands(memory, **home("Rome", observed_at=NOON - DAY))
    oslo = waits(memory, **home("Oslo", observed_at=NOON - DAY))
    memory.review.confirm(oslo.id)
    assert memory.get(rome.id).status is Status.INVALIDATED
    assert memory.get(oslo.id).status is Status.ACTIVE
    assert memory.get(oslo.id).tags == ()


def test_what_was_said_meanwhile_is_not_kept_twice_and_its_evidence_is_added(memory: Memory, clock: FixedClock) -> None:
    memory.capture(
        [{"speaker": "Ann", "content": "I live in Rome."}],
        session_id="fed",
        origin="document",
        wait=True,
        observed_at=NOON - DAY,
    )
    (held,) = memory.review.held()
    clock.at += DAY
    known = stands(memory, held.content, kind=held.kind, subject=held.subject, value=held.value)
    receipt = memory.review.confirm(held.id)
    assert receipt.outcomes[0].result is Result.DUPLICATE
    assert known.id in receipt.outcomes[0].reason
    assert memory.get(held.id).status is Status.TOMBSTONED
    assert memory.get(known.id).evidence == held.evidence


def test_the_same_value_in_other_words_is_not_kept_twice(memory: Memory) -> None:
    held = waits(memory, **home("Rome"))
    known = stands(memory, **home("Rome") | {"content": "Ann's home is Rome."})
    assert known.status is Status.ACTIVE
    receipt = memory.review.confirm(held.id)
    assert receipt.outcomes[0].result is Result.DUPLICATE
    assert [atom.id for atom in memory.list() if not atom.is_segment] == [known.id]


@pytest.mark.parametrize("days", [9, 1, 0])
def test_undo_of_a_confirmation_restores_everything(memory: Memory, days: int) -> None:
    stands(memory, **home("Rome", observed_at=NOON - DAY))
    held = waits(memory, **home("Oslo", observed_at=NOON - days * DAY))
    before = snapshot(memory)
    receipt = memory.review.confirm(held.id)
    assert snapshot(memory) != before
    memory.undo(receipt.commit)
    assert snapshot(memory) == before


def test_what_is_rejected_is_gone_and_does_not_come_back_from_the_same_words(memory: Memory) -> None:
    said: dict[str, Any] = {"session_id": "fed", "origin": "document", "wait": True, "observed_at": NOON - DAY}
    memory.capture([{"speaker": "Ann", "content": "I live in Rome."}], **said)
    (held,) = memory.review.held()
    receipt = memory.review.reject(held.id, "she does not")
    assert receipt.atom.status is Status.TOMBSTONED
    assert memory.status_history(held.id)[-1].reason == "she does not"
    memory.capture([{"speaker": "Ann", "content": "I live in Rome."}], **said | {"session_id": "again"})
    assert memory.review.held() == []


def test_a_person_may_confirm_what_was_taken_back_before(memory: Memory, clock: FixedClock) -> None:
    wrong = stands(memory, **home("Rome", observed_at=NOON - 9 * DAY))
    memory.forget(wrong.id, "not so")
    held = waits(memory, **home("Rome", observed_at=NOON - DAY))
    assert memory.review.confirm(held.id).atom.status is Status.ACTIVE


def test_only_a_person_decides(memory: Memory, tmp_path: Path) -> None:
    held = waits(memory, "The boiler is in the cellar.")
    with lamina.open(tmp_path / "vault", watch=False, ceiling="agent", actor="bot") as agent:
        for decide in (
            lambda: agent.review.confirm(held.id),
            lambda: agent.review.reject(held.id, "no"),
            lambda: agent.review.approve_source("file:house.md"),
            lambda: agent.update_status(held.id, "active", "please"),
        ):
            with pytest.raises((Refused, NotFound)):
                decide()
        with pytest.raises(Refused, match="a person can"):
            agent.review.confirm(held.id)
    assert memory.get(held.id).status is Status.CONSTRAINED


def test_what_counts_already_stays_and_what_is_over_is_refused(memory: Memory) -> None:
    atom = stands(memory, "Tea is green.")
    assert memory.review.confirm(atom.id).commit is None
    with pytest.raises(Refused, match="forget"):
        memory.review.reject(atom.id, "no")
    memory.forget(atom.id, "over")
    with pytest.raises(Refused, match="tombstoned"):
        memory.review.confirm(atom.id)
    with pytest.raises(NotFound):
        memory.review.confirm("01m7cyvgg05h5s4jd9wpqxtx7n")


def test_setting_the_status_of_what_waits_is_to_confirm_it(memory: Memory) -> None:
    rome = stands(memory, **home("Rome", observed_at=NOON - 9 * DAY))
    oslo = waits(memory, **home("Oslo", observed_at=NOON - DAY))
    assert memory.update_status(oslo.id, "active", "I was there").status is Status.ACTIVE
    assert memory.get(rome.id).status is Status.SUPERSEDED


def test_all_from_one_source_are_decided_under_one_batch(memory: Memory, clock: FixedClock) -> None:
    one = waits(memory, "Tea is green.", source_id="chatgpt:a")
    clock.at += DAY
    two = waits(memory, "Milk is white.", source_id="chatgpt:b")
    other = waits(memory, "Rust is red.", source_id="chatgptx:c")
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
def test_whatever_stands_a_confirmation_never_ends_in_a_conflict(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, int, int | None, int | None, bool]]
) -> None:
    with lamina.open(tmp_path_factory.mktemp("v") / "v", clock=FixedClock(NOON), watch=False) as memory:
        for value, seen, start, length, waiting in said:
            begins = NOON + start * DAY if start is not None else None
            ends = (begins or NOON + seen * DAY) + length * DAY if length else None
            memory.remember(
                **home(value, observed_at=NOON + seen * DAY, valid_from=begins, valid_until=ends),
                origin="import" if waiting else "human",
            )
        for held in reversed(memory.review.held()):
            before = snapshot(memory)
            receipt = memory.review.confirm(held.id)
            assert memory.get(held.id).status is not Status.CONSTRAINED
            assert receipt.commit
            memory.undo(receipt.commit)
            assert snapshot(memory) == before
            memory.review.confirm(held.id)
        assert memory.doctor(deep=True).healthy
