"""What rests on something that changed is doubted, with the reason, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina import FixedClock
from lamina.atom.atom import Atom
from lamina.atom.status import Status
from lamina.capture.receipt import Receipt
from lamina.errors import InvalidInput
from lamina.settings import load_settings

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


class DailyTurns:
    """A person who speaks on one day after another."""

    def __init__(self, path: Path, **how: Any) -> None:
        self._clock = FixedClock(START)
        self.memory = lamina.open(path / "vault", clock=self._clock, watch=False, **how)
        self._days = 0

    def says(self, *turns: str) -> Receipt:
        self.tick()
        at = self._clock.at
        result = [{"speaker": "Ida", "content": turn, "at": at} for turn in turns]
        return self.memory.capture(result, session_id=f"day {self._days}", observed_at=at, wait=True)

    def tick(self) -> None:
        self._days += 1
        self._clock.at = START + timedelta(days=self._days)

    def statement(self, words: str) -> Atom:
        """The statement with these words in it."""
        (atom,) = [
            item for item in self.memory.list(status=None, limit=None) if words in item.content and not item.is_segment
        ]
        return atom


@pytest.fixture
def daily_turns(tmp_path: Path) -> Iterator[DailyTurns]:
    result = DailyTurns(tmp_path)
    with result.memory:
        yield result


def library_statement(talk: DailyTurns) -> Atom:
    """A statement that depends on where the library is."""
    where = talk.memory.remember(
        "The library is on Hill Road.", subject="library", attribute="street", value="Hill"
    ).atom
    parking = talk.memory.remember("I park at bay D.").atom
    talk.memory.relate(parking.id, "depends_on", where.id)
    return parking


def move_library(talk: DailyTurns) -> Receipt:
    talk.tick()
    return talk.memory.remember("The library is on Canal Street.", subject="library", attribute="street", value="Canal")


def test_what_depends_on_a_changed_fact_is_challenged_with_the_reason(daily_turns: DailyTurns) -> None:
    parking = library_statement(daily_turns)
    receipt = move_library(daily_turns)
    assert daily_turns.memory.get(parking.id).status is Status.CHALLENGED
    (why,) = [outcome.reason for outcome in receipt.outcomes if outcome.atom.id == parking.id]
    assert "depends on" in why
    assert why in daily_turns.memory.history(parking.id).versions[-1].reason


def test_undoing_the_change_withdraws_the_challenge(daily_turns: DailyTurns) -> None:
    parking = library_statement(daily_turns)
    receipt = move_library(daily_turns)
    daily_turns.memory.undo(str(receipt.commit))
    assert daily_turns.memory.get(parking.id).status is Status.ACTIVE


def test_pinned_statements_are_left_alone(daily_turns: DailyTurns) -> None:
    parking = library_statement(daily_turns)
    daily_turns.memory.pin(parking.id)
    move_library(daily_turns)
    assert daily_turns.memory.get(parking.id).status is Status.ACTIVE


def test_forgetting_a_fact_challenges_its_dependants(daily_turns: DailyTurns) -> None:
    parking = library_statement(daily_turns)
    daily_turns.memory.forget(daily_turns.statement("Hill Road").id, "no longer wanted")
    assert daily_turns.memory.get(parking.id).status is Status.CHALLENGED


def test_only_direct_dependants_are_challenged_in_the_store(daily_turns: DailyTurns) -> None:
    parking = library_statement(daily_turns)
    walk = daily_turns.memory.remember("I walk past the fountain.").atom
    daily_turns.memory.relate(walk.id, "depends_on", parking.id)
    move_library(daily_turns)
    assert daily_turns.memory.get(walk.id).status is Status.ACTIVE


def test_a_change_named_in_a_sentence_challenges_its_dependants(daily_turns: DailyTurns) -> None:
    daily_turns.says("I live in Leeds.", "My gym is Ironhouse.")
    daily_turns.memory.relate(daily_turns.statement("gym").id, "depends_on", daily_turns.statement("live in Leeds").id)
    daily_turns.says("I moved from Leeds to Hull.")
    assert daily_turns.statement("live in Leeds").status is Status.SUPERSEDED
    assert daily_turns.statement("gym").status is Status.CHALLENGED


def test_a_guess_challenges_nothing(daily_turns: DailyTurns) -> None:
    daily_turns.says("I live in Leeds.", "My gym is Ironhouse because I live in Leeds.")
    daily_turns.says("I moved from Leeds to Hull.")
    assert not [atom for atom in daily_turns.memory.list(status=None, limit=None) if atom.status is Status.CHALLENGED]


def test_a_custom_dependency_rule_can_be_added(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[[dependencies]]\nwhen = ["choir"]\ndoubts = ["rehearsal"]\n', encoding="utf-8")
    talk = DailyTurns(tmp_path, settings=load_settings(file))
    with talk.memory:
        talk.memory.remember("My choir is Cantabile.", subject="Ida", attribute="choir", value="Cantabile")
        rehearsal = talk.memory.remember("Rehearsals: Tuesday.", subject="Ida", attribute="rehearsal", value="Tuesday")
        other = talk.memory.remember("Bo's are on Friday.", subject="Bo", attribute="rehearsal", value="Friday")
        talk.tick()
        talk.memory.remember("My choir is Vox Nova.", subject="Ida", attribute="choir", value="Vox Nova")
        assert talk.memory.get(rehearsal.atom.id).status is Status.CHALLENGED
        assert "changed choir" in talk.memory.history(rehearsal.atom.id).versions[-1].reason
        assert talk.memory.get(other.atom.id).status is Status.ACTIVE


def test_a_rule_that_can_challenge_nothing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[[dependencies]]\nwhen = ["choir"]\ndoubts = []\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="doubts"):
        load_settings(file)
