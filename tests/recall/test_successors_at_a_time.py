"""What takes the slot of something that is over is never news of a later day than the question asks of."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from handwritten_vault import HandwrittenVault
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from town_conversations import DAY, NOON, texts

from lamina import Atom, FixedClock, Hit
from lamina.atom.atom import effective_from
from lamina.atom.status import Status

START = NOON - 40 * DAY
OLD, NEW = "Our stall is by the fountain.", "It is under the arches instead."


class Step(NamedTuple):
    """How a statement is followed by the next: after how many days, from when on, and what becomes of it."""

    days: int
    begins: int
    becomes: Status
    until: bool
    spoken: bool


_STEPS = st.builds(
    Step,
    st.integers(0, 4),
    st.integers(-6, 6),
    st.sampled_from([Status.SUPERSEDED, Status.INVALIDATED]),
    st.booleans(),
    st.booleans(),
)


def add_chain(vault: HandwrittenVault, steps: list[Step], *, doubted: bool) -> None:
    """A chain of statements, each said and written down on a day of its own."""
    before: Atom | None = None
    for n, step in enumerate(steps):
        vault.clock.at += step.days * DAY
        at, words = vault.clock.at, f"The lantern hangs at gate{n}."
        if step.spoken:
            vault.add_session(words, at=at)
        new = vault.atom(
            words,
            *([words] if step.spoken else []),
            observed_at=at,
            subject="lantern",
            valid_from=at + step.begins * DAY if step.begins else None,
            status=Status.CHALLENGED if doubted and n == len(steps) - 1 else Status.ACTIVE,
        )
        if before is None:
            (before,) = vault.commit(new).atoms
            continue
        until: dict[str, Any] = (
            {"valid_until": max(effective_from(new), effective_from(before))} if steps[n - 1].until else {}
        )
        ended = before.with_(status=steps[n - 1].becomes, superseded_by=(new.id,), **until)
        before = vault.commit(new.with_(supersedes=(before.id,)), ended).atoms[0]


def is_of_its_time(hit: Hit, at: datetime) -> bool:
    """Whether words had been said by then, and a statement had been said or was true already."""
    if hit.atom.is_segment:
        return hit.passage.at is not None and hit.passage.at <= at
    return hit.atom.observed_at <= at or effective_from(hit.atom) <= at


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_STEPS, min_size=2, max_size=4), st.booleans(), st.integers(0, 16))
@example([Step(0, 0, Status.INVALIDATED, False, True), Step(4, 2, Status.SUPERSEDED, True, False)], False, 2)
@example([Step(0, 0, Status.SUPERSEDED, False, True), Step(4, 0, Status.SUPERSEDED, True, False)], True, 2)
def test_no_successor_of_a_later_day_is_shown(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], doubted: bool, day: int
) -> None:
    vault = HandwrittenVault(tmp_path_factory.mktemp("vault") / "vault", clock=FixedClock(START))
    try:
        add_chain(vault, steps, doubted=doubted)
        vault.clock.at = NOON
        at = START + day * DAY
        for question in ("where does the lantern hang?", "gate0"):
            actual = vault.memory.recall(question, as_of=at)
            assert [hit.text for hit in actual.hits if not is_of_its_time(hit, at)] == []
            hits = vault.memory.recall(question, known_at=at).hits
            result = [atom for hit in hits for atom in (hit.atom, *hit.statements)]
            assert [atom.content for atom in result if atom.recorded_at is None or atom.recorded_at > at] == []
            assert all(is_of_its_time(hit, at) for hit in hits)
    finally:
        vault.memory.close()


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.CHALLENGED])
def test_the_successor_of_a_wrong_statement_does_not_answer_for_earlier_times(tmp_path: Path, status: Status) -> None:
    vault = HandwrittenVault(tmp_path / "vault")
    vault.add_session(OLD, at=NOON - 9 * DAY)
    old = vault.add_statement("The stall is by the fountain.", OLD)
    new = vault.atom("The stall is under the arches.", observed_at=NOON - 2 * DAY, status=status)
    vault.replace(old, new, Status.INVALIDATED, since=NOON - DAY)
    vault.clock.at = NOON
    assert texts(vault.memory.recall("the fountain", as_of=NOON - 5 * DAY)) == []
    assert texts(vault.memory.recall("the fountain", as_of=NOON - 2 * DAY)) == ["The stall is under the arches."]
    vault.memory.close()
