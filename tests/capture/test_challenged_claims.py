"""A claim under another name is the same claim, and one whose holder is doubted is open to whoever is as trusted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina import Atom, FixedClock, Memory, Origin, Result, Status
from lamina.atom.atom import RelationName
from lamina.capture.classification import DOUBTFUL

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def remember_city(memory: Memory, value: str, **fields: Any) -> Atom:
    initial = {"subject": "Ann", "attribute": "city", "value": value, **fields}
    return memory.remember(f"Town of Ann: {value}", **initial).atom


def capture_turn(memory: Memory, clock: FixedClock, words: str, speaker: str = "Bob") -> None:
    clock.at += DAY
    turn = [{"speaker": speaker, "content": words, "at": clock.at}]
    memory.capture(turn, session_id=f"{clock.at:%Y-%m-%d}", wait=True)


def active_values(memory: Memory) -> set[tuple[str, str | None]]:
    atoms = memory.list(status=Status.ACTIVE, limit=None)
    return {(atom.attribute or "", atom.value) for atom in atoms if atom.attribute}


@pytest.mark.parametrize("words", ["I live in Porto.", "I moved to Porto.", "I like Porto more than Lisbon."])
def test_a_sentence_that_only_gives_another_value_leaves_a_declared_claim(
    memory: Memory, clock: FixedClock, words: str
) -> None:
    lisbon = remember_city(memory, "Lisbon")
    capture_turn(memory, clock, words, "Ann")
    assert memory.get(lisbon.id).status is Status.ACTIVE
    assert active_values(memory) == {("city", "Lisbon")}


def test_a_challenged_value_is_replaced_by_an_equally_trusted_source(memory: Memory, clock: FixedClock) -> None:
    oslo = remember_city(memory, "Oslo")
    memory.update_status(oslo.id, "challenged", "is that so?")
    clock.at += DAY
    receipt = memory.remember("Town of Ann: Rome", subject="Ann", attribute="city", value="Rome")
    rome, old = receipt.atom, memory.get(oslo.id)
    assert receipt.outcomes[0].result is Result.SUPERSEDES
    assert (old.status, old.valid_until, old.superseded_by) == (Status.SUPERSEDED, clock.at, (rome.id,))
    assert (rome.status, rome.supersedes) == (Status.ACTIVE, (oslo.id,))


def test_a_challenged_value_is_not_replaced_by_a_less_trusted_source(memory: Memory, clock: FixedClock) -> None:
    oslo = remember_city(memory, "Oslo")
    memory.update_status(oslo.id, "challenged", "is that so?")
    clock.at += DAY
    rome = remember_city(memory, "Rome", origin="agent")
    assert (memory.get(oslo.id).status, rome.supersedes) == (Status.CHALLENGED, ())


def test_a_value_only_stated_against_the_holder_was_never_valid(memory: Memory, clock: FixedClock) -> None:
    oslo = remember_city(memory, "Oslo")
    clock.at += DAY
    rome = remember_city(memory, "Rome", origin="agent")
    clock.at += DAY
    bern = remember_city(memory, "Bern")
    assert [memory.get(atom.id).status for atom in (oslo, rome, bern)] == [
        Status.SUPERSEDED,
        Status.CHALLENGED,
        Status.ACTIVE,
    ]


def test_a_future_value_leaves_a_challenge_as_it_is(memory: Memory, clock: FixedClock) -> None:
    oslo = remember_city(memory, "Oslo")
    memory.update_status(oslo.id, "challenged", "is that so?")
    rome = remember_city(memory, "Rome", valid_from=NOON + 9 * DAY)
    assert (memory.get(oslo.id).status, rome.status) == (Status.CHALLENGED, Status.ACTIVE)


def test_a_challenged_value_and_its_successor_each_have_their_interval(memory: Memory, clock: FixedClock) -> None:
    oslo = remember_city(memory, "Oslo")
    memory.update_status(oslo.id, "challenged", "is that so?")
    clock.at += DAY
    rome = remember_city(memory, "Rome", origin="agent")
    clock.at += DAY
    bern = remember_city(memory, "Bern")
    old, middle = memory.get(oslo.id), memory.get(rome.id)
    assert (old.valid_until, middle.valid_until) == (NOON + DAY, NOON + 2 * DAY)
    assert set(memory.get(bern.id).supersedes) == {oslo.id, rome.id}
    assert [atom.value for atom in memory.list(as_of=NOON + DAY * 1.5) if atom.value] == ["Rome"]


@pytest.mark.parametrize(("ceiling", "grows"), [("human", True), ("agent", False)])
def test_only_a_person_raises_the_confidence_of_a_link_by_repeating_it(
    tmp_path: Path, clock: FixedClock, ceiling: str, grows: bool
) -> None:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, ceiling=ceiling) as memory:
        other = memory.remember("The harbour closes in winter.").atom
        capture_turn(memory, clock, "My dentist is Dr Reyes.", "Ann")
        (atom,) = (item for item in memory.list(limit=None) if item.evidence)
        memory.relate(atom.id, "supports", other.id, 0.5)
        for _ in range(3):
            capture_turn(memory, clock, "My dentist is Dr Reyes.", "Ann")
        (link,) = memory.get(atom.id).relations
        assert (atom.origin, link.confidence > 0.5) == (Origin(ceiling), grows)


def test_a_guessed_contradiction_stays_a_guess_however_often_it_is_repeated(memory: Memory, clock: FixedClock) -> None:
    other = memory.remember("Dr Moll looks after the teeth of Ann.").atom
    capture_turn(memory, clock, "My dentist is Dr Reyes.", "Ann")
    (atom,) = (item for item in memory.list(limit=None) if item.evidence)
    memory.relate(atom.id, "contradicts", other.id, DOUBTFUL)
    for _ in range(8):
        capture_turn(memory, clock, "My dentist is Dr Reyes.", "Ann")
    (link,) = (relation for relation in memory.get(atom.id).relations if relation.name is RelationName.CONTRADICTS)
    assert link.confidence == DOUBTFUL
