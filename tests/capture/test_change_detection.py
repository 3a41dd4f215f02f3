"""Declared statements without an attribute: what surely replaces one of its topic ends it, what is unclear is a pair.

Covers `lamina.capture.change.change_detection`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import FixedClock, Memory, Origin, Result, Settings, Status
from lamina.models.model_files import ALL_FILES, ModelStore, models_folder

MODELS = ModelStore(models_folder(os.environ, Path.home(), sys.platform))
NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)


def open_memory(place: Path, clock: FixedClock, **settings: object) -> Memory:
    chosen = Settings.model_validate({"embedder": "none", "background": False, "watch": False, **settings})
    return lamina.open(place, clock=clock, settings=chosen)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    """A memory that reads sentences with the small state model of the tests."""
    with open_memory(tmp_path / "vault", clock) as opened:
        yield opened


@pytest.fixture
def plain(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    """A memory without a state model."""
    with open_memory(tmp_path / "plain", clock, state_model="off") as opened:
        yield opened


def test_a_habit_that_surely_replaces_one_ends_it_and_undo_restores_both(memory: Memory, clock: FixedClock) -> None:
    old = memory.remember("Ann drinks Dark Roast.", kind="habit", subject="Ann").atom
    clock.at += timedelta(days=1)
    (outcome,) = memory.remember("Ann drinks Light Roast.", kind="habit", subject="Ann").outcomes
    assert (outcome.result, outcome.atom.supersedes) == (Result.SUPERSEDES, (old.id,))
    assert memory.get(old.id).valid_until == clock.at
    memory.undo()
    assert memory.get(old.id).status is Status.ACTIVE


def test_facts_about_one_subject_are_not_compared(memory: Memory, clock: FixedClock) -> None:
    memory.remember("Ann drinks Dark Roast.", subject="Ann")
    clock.at += timedelta(days=1)
    (outcome,) = memory.remember("Ann drinks Light Roast.", subject="Ann").outcomes
    assert (outcome.result, outcome.atom.relations) == (Result.NEW, ())


def test_a_less_trusted_statement_ends_nothing_and_becomes_a_pair(memory: Memory, clock: FixedClock) -> None:
    old = memory.remember("Ann drinks Dark Roast.", kind="habit", subject="Ann").atom
    clock.at += timedelta(days=1)
    memory.for_caller(actor="bot", ceiling=Origin.AGENT).remember(
        "Ann drinks Light Roast.", kind="habit", subject="Ann"
    )
    assert memory.get(old.id).status is Status.ACTIVE
    assert [pair.a.id for pair in memory.review.pairs()] == [old.id]


def test_two_statements_of_the_same_moment_are_a_pair(memory: Memory) -> None:
    for roast in ("Dark", "Light"):
        memory.remember(f"Ann drinks {roast} Roast.", kind="habit", subject="Ann", observed_at=NOON)
    assert len(memory.list()) == 2
    assert len(memory.review.pairs()) == 1


@pytest.mark.parametrize(
    ("first", "second", "is_pair"),
    [
        ("Prefers a dark roast.", "Prefers a light roast.", True),
        ("Prefers tea in the morning.", "Prefers window seats on trains.", False),
        ("Prefers a dark roast.", "A dark roast, prefers it.", False),
    ],
)
def test_without_a_model_statements_that_share_half_of_their_words_are_a_pair(
    plain: Memory, clock: FixedClock, first: str, second: str, is_pair: bool
) -> None:
    for text in (first, second):
        clock.at += timedelta(days=1)
        plain.remember(text, kind="preference", subject="Ann")
    assert {atom.status for atom in plain.list(status=None)} == {Status.ACTIVE}
    assert bool(plain.review.pairs()) is is_pair


def test_a_pair_that_a_person_settled_does_not_return(plain: Memory, clock: FixedClock) -> None:
    for text in ("Prefers a dark roast.", "Prefers a light roast."):
        clock.at += timedelta(days=1)
        plain.remember(text, kind="preference", subject="Ann")
    (pair,) = plain.review.pairs()
    plain.review.both_valid(pair.a.id, pair.b.id)
    clock.at += timedelta(days=1)
    plain.remember("Prefers a light roast.", kind="preference", subject="Ann")
    assert plain.review.pairs() == []


@pytest.mark.skipif(not all(map(MODELS.has, ALL_FILES)), reason="`lamina models download` gets the model's files")
@pytest.mark.parametrize(
    ("first", "second", "is_ended"),
    [
        ("I prefer dark roast coffee.", "I've switched to light roast coffee.", True),
        ("Prefers dark roast coffee.", "Prefers light roast coffee now.", True),
        ("Ann prefers tea in the morning.", "Ann prefers window seats on trains.", False),
    ],
)
def test_the_trained_models_decide_what_replaces_a_preference(
    tmp_path: Path, clock: FixedClock, first: str, second: str, is_ended: bool
) -> None:
    with open_memory(tmp_path / "vault", clock, embedder="minilm") as memory:
        old = memory.remember(first, kind="preference", subject="coffee preference").atom
        clock.at += timedelta(days=1)
        memory.remember(second, kind="preference", subject="coffee preference")
        assert memory.get(old.id).status is (Status.SUPERSEDED if is_ended else Status.ACTIVE)
