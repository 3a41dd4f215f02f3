"""A claim under another name is the same claim, and one whose holder is doubted is open to whoever is as trusted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina import Atom, FixedClock, Memory, Origin, Result, Status
from lamina.atom.relation import RelationName
from lamina.capture.classification import DOUBTFUL

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened:
        yield opened


def city(memory: Memory, value: str, **fields: Any) -> Atom:
    given = {"subject": "Ann", "attribute": "city", "value": value, **fields}
    return memory.remember(f"Town of Ann: {value}", **given).atom


def say(memory: Memory, clock: FixedClock, words: str, speaker: str = "Bob") -> None:
    clock.at += DAY
    turn = [{"speaker": speaker, "content": words, "at": clock.at}]
    memory.capture(turn, session_id=f"{clock.at:%Y-%m-%d}", wait=True)


def standing(memory: Memory) -> set[tuple[str, str | None]]:
    every = memory.list(status=Status.ACTIVE, limit=None)
    return {(each.attribute or "", each.value) for each in every if each.attribute}


@pytest.mark.parametrize("words", ["I live in Porto.", "I moved to Porto.", "I like Porto more than Lisbon."])
def test_a_sentence_that_only_gives_another_value_leaves_a_declared_one(
    memory: Memory, clock: FixedClock, words: str
) -> None:
    lisbon = city(memory, "Lisbon")
    say(memory, clock, words, "Ann")
    assert memory.get(lisbon.id).status is Status.ACTIVE
    assert standing(memory) == {("city", "Lisbon")}


def test_what_was_doubted_gives_way_to_somebody_as_trusted(memory: Memory, clock: FixedClock) -> None:
    oslo = city(memory, "Oslo")
    memory.update_status(oslo.id, "challenged", "is that so?")
    clock.at += DAY
    receipt = memory.remember("Town of Ann: Rome", subject="Ann", attribute="city", value="Rome")
    rome, old = receipt.atom, memory.get(oslo.id)
    assert receipt.outcomes[0].result is Result.SUPERSEDES
    assert (old.status, old.valid_until, old.superseded_by) == (Status.SUPERSEDED, clock.at, (rome.id,))
    assert (rome.status, rome.supersedes) == (Status.ACTIVE, (oslo.id,))


def test_what_was_doubted_does_not_give_way_to_somebody_less_trusted(memory: Memory, clock: FixedClock) -> None:
    oslo = city(memory, "Oslo")
    memory.update_status(oslo.id, "challenged", "is that so?")
    clock.at += DAY
    rome = city(memory, "Rome", origin="agent")
    assert (memory.get(oslo.id).status, rome.supersedes) == (Status.CHALLENGED, ())


def test_what_was_only_said_against_the_holder_never_held(memory: Memory, clock: FixedClock) -> None:
    oslo = city(memory, "Oslo")
    clock.at += DAY
    rome = city(memory, "Rome", origin="agent")
    clock.at += DAY
    bern = city(memory, "Bern")
    assert [memory.get(each.id).status for each in (oslo, rome, bern)] == [
        Status.SUPERSEDED,
        Status.CHALLENGED,
        Status.ACTIVE,
    ]


def test_what_will_be_so_leaves_a_doubt_as_it_is(memory: Memory, clock: FixedClock) -> None:
    oslo = city(memory, "Oslo")
    memory.update_status(oslo.id, "challenged", "is that so?")
    rome = city(memory, "Rome", valid_from=NOON + 9 * DAY)
    assert (memory.get(oslo.id).status, rome.status) == (Status.CHALLENGED, Status.ACTIVE)


def test_of_what_was_doubted_and_what_held_after_it_each_has_its_time(memory: Memory, clock: FixedClock) -> None:
    oslo = city(memory, "Oslo")
    memory.update_status(oslo.id, "challenged", "is that so?")
    clock.at += DAY
    rome = city(memory, "Rome", origin="agent")
    clock.at += DAY
    bern = city(memory, "Bern")
    old, middle = memory.get(oslo.id), memory.get(rome.id)
    assert (old.valid_until, middle.valid_until) == (NOON + DAY, NOON + 2 * DAY)
    assert set(memory.get(bern.id).supersedes) == {oslo.id, rome.id}
    assert [each.value for each in memory.list(as_of=NOON + DAY * 1.5) if each.value] == ["Rome"]


@pytest.mark.parametrize(("ceiling", "grows"), [("human", True), ("agent", False)])
def test_only_a_person_makes_a_link_surer_by_saying_it_again(
    tmp_path: Path, clock: FixedClock, ceiling: str, grows: bool
) -> None:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, ceiling=ceiling) as memory:
        other = memory.remember("The harbour closes in winter.").atom
        say(memory, clock, "My dentist is Dr Reyes.", "Ann")
        (told,) = (each for each in memory.list(limit=None) if each.evidence)
        memory.relate(told.id, "supports", other.id, 0.5)
        for _ in range(3):
            say(memory, clock, "My dentist is Dr Reyes.", "Ann")
        (link,) = memory.get(told.id).relations
        assert (told.origin, link.confidence > 0.5) == (Origin(ceiling), grows)


def test_a_guessed_contradiction_stays_a_guess_however_often_it_is_said(memory: Memory, clock: FixedClock) -> None:
    other = memory.remember("Dr Moll looks after the teeth of Ann.").atom
    say(memory, clock, "My dentist is Dr Reyes.", "Ann")
    (told,) = (each for each in memory.list(limit=None) if each.evidence)
    memory.relate(told.id, "contradicts", other.id, DOUBTFUL)
    for _ in range(8):
        say(memory, clock, "My dentist is Dr Reyes.", "Ann")
    (link,) = (relation for relation in memory.get(told.id).relations if relation.name is RelationName.CONTRADICTS)
    assert link.confidence == DOUBTFUL
