"""Two contradicting statements, and the decisions of a person on them.

Covers `lamina.review.pairs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina import Atom, FixedClock, Memory, Origin, Refused, RelationName, Status
from lamina.atom.proposals_and_pairs import LIKELY_CHANGE_CONFIDENCE, are_both_valid

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


@pytest.fixture
def pair(memory: Memory, clock: FixedClock) -> tuple[Atom, Atom]:
    """Two plain statements, the newer of which may be a change of the older."""
    old = memory.remember("Ann trains at Northside.").atom
    clock.at += DAY
    new = memory.remember("She goes to the gym by the river.").atom
    memory.relate(new.id, "contradicts", old.id, 0.5)
    clock.at += DAY
    return memory.get(old.id), memory.get(new.id)


def home(memory: Memory, value: str, **fields: Any) -> Atom:
    return memory.remember(f"Ann lives in {value}.", subject="Ann", attribute="home", value=value, **fields).atom


def is_linked(one: Atom) -> bool:
    return any(relation.name is RelationName.CONTRADICTS for relation in one.relations)


def test_a_pair_shows_both_texts_and_the_reason(memory: Memory, pair: tuple[Atom, Atom]) -> None:
    (result,) = memory.review.pairs()
    assert (result.a, result.b) == pair
    assert result.reason.startswith("possibly a change")
    (item,) = memory.review.list()
    assert (item.kind, item.ids) == ("pair", (result.a.id, result.b.id))
    assert len(item.verbs) == 5


def test_two_values_of_one_time_and_a_less_trusted_one_are_pairs(memory: Memory) -> None:
    home(memory, "Rome", observed_at=NOON)
    oslo = home(memory, "Oslo", observed_at=NOON)
    assert oslo.status is Status.CHALLENGED
    assert [pair.reason for pair in memory.review.pairs()] == ["two values of ann::home at the same time"]


def test_ended_and_pending_statements_are_in_no_pair(memory: Memory, pair: tuple[Atom, Atom]) -> None:
    memory.forget(pair[0].id, "r")
    assert memory.review.pairs() == []
    with pytest.raises(Refused, match="in no pair"):
        memory.review.keep_a(pair[1].id, pair[0].id)


def test_two_unrelated_statements_are_no_pair(memory: Memory) -> None:
    one, other = memory.remember("Tea is green.").atom, memory.remember("Milk is white.").atom
    with pytest.raises(Refused, match="review pairs"):
        memory.review.both_valid(one.id, other.id)


def test_keeping_the_newer_makes_the_older_history(memory: Memory, pair: tuple[Atom, Atom]) -> None:
    position = len(memory.journal())
    memory.review.keep_b(pair[0].id, pair[1].id, "she moved on")
    assert len(memory.journal()) == position + 1
    old, new = (memory.get(atom.id) for atom in pair)
    assert (old.status, old.superseded_by, old.valid_until) == (Status.SUPERSEDED, (new.id,), new.observed_at)
    assert (new.status, new.supersedes, is_linked(new)) == (Status.ACTIVE, (old.id,), False)
    assert memory.review.pairs() == []


def test_keeping_the_older_marks_the_newer_as_wrong(memory: Memory, pair: tuple[Atom, Atom]) -> None:
    memory.review.keep_a(pair[0].id, pair[1].id)
    old, new = (memory.get(atom.id) for atom in pair)
    assert (new.status, new.superseded_by, new.valid_until) == (Status.INVALIDATED, (old.id,), None)
    assert (old.status, old.supersedes) == (Status.ACTIVE, (new.id,))


def test_the_kept_value_of_a_claim_is_active(memory: Memory) -> None:
    rome, oslo = home(memory, "Rome", observed_at=NOON), home(memory, "Oslo", observed_at=NOON)
    memory.review.keep_a(oslo.id, rome.id)
    assert memory.get(oslo.id).status is Status.ACTIVE
    assert memory.get(rome.id).status is Status.INVALIDATED


def test_events_are_never_superseded_nor_merged(memory: Memory, clock: FixedClock) -> None:
    old = memory.remember("We met in Rome.", kind="event").atom
    clock.at += DAY
    new = memory.remember("We met in Oslo.", kind="event").atom
    memory.relate(new.id, "contradicts", old.id)
    with pytest.raises(Refused, match="cannot be merged"):
        memory.review.merge(old.id, new.id, "We met.")
    memory.review.keep_b(old.id, new.id)
    assert memory.get(old.id).status is Status.INVALIDATED


def test_both_valid_is_stored(memory: Memory, pair: tuple[Atom, Atom]) -> None:
    memory.review.both_valid(pair[0].id, pair[1].id)
    old, new = (memory.get(atom.id) for atom in pair)
    assert are_both_valid(old, new)
    assert not is_linked(new)
    memory.relate(new.id, "contradicts", old.id, 0.5)
    assert memory.review.pairs() == []


def test_two_values_of_a_single_valued_claim_cannot_both_be_valid(memory: Memory) -> None:
    rome, oslo = home(memory, "Rome", observed_at=NOON), home(memory, "Oslo", observed_at=NOON)
    with pytest.raises(Refused, match="held by"):
        memory.review.both_valid(rome.id, oslo.id)
    assert memory.get(oslo.id).status is Status.CHALLENGED


def test_merging_combines_both_with_their_trust(memory: Memory, clock: FixedClock) -> None:
    one = memory.remember("Ann trains at Northside.", tags=["sport"]).atom
    clock.at += DAY
    two = memory.remember("Ann trains by the river.", origin="agent").atom
    memory.relate(two.id, "contradicts", one.id, 0.5)
    result = memory.review.merge(one.id, two.id, "Ann trains at Northside in winter, else by the river.")
    atom = memory.get(result.atom.id)
    assert (atom.status, atom.origin, atom.tags) == (Status.ACTIVE, Origin.AGENT, ("sport",))
    assert atom.derived_from == atom.supersedes == (one.id, two.id)
    assert {memory.get(item.id).status for item in (one, two)} == {Status.MERGED}
    memory.rollback(atom.id)
    assert {memory.get(item.id).status for item in (one, two)} == {Status.ACTIVE}


def test_a_postponed_pair_is_not_shown_for_thirty_days(
    memory: Memory, clock: FixedClock, pair: tuple[Atom, Atom]
) -> None:
    memory.review.need_more(pair[0].id, pair[1].id, "ask Ann")
    assert (memory.review.pairs(), memory.review.list()) == ([], [])
    (put_off,) = memory.review.pairs(later=True)
    assert (put_off.note, put_off.later) == ("ask Ann", clock.at + 30 * DAY)
    clock.at += 30 * DAY
    (item,) = memory.review.list()
    assert "ask Ann" in item.reason


def test_a_likely_change_is_shown_where_the_answer_matters(memory: Memory, clock: FixedClock) -> None:
    old = memory.remember("The Thursday class is with Dana.").atom
    clock.at += DAY
    new = memory.remember("Thursdays are with Iris.").atom
    memory.relate(new.id, "contradicts", old.id, LIKELY_CHANGE_CONFIDENCE)
    assert memory.review.pairs() == []
    assert memory.review.list() == []
    assert [(pair.a.id, pair.b.id) for pair in memory.review.pairs(later=True)] == [(old.id, new.id)]
    memory.pin(old.id)
    assert len(memory.review.pairs()) == 1
    memory.unpin(old.id)
    result = memory.recall("Who is the Thursday class with?")
    memory.feedback(result.id, cited=[old.id])
    assert len(memory.review.pairs()) == 1
