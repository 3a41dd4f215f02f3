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


class Talk:
    """A person who speaks on one day after another."""

    def __init__(self, path: Path, **how: Any) -> None:
        self._clock = FixedClock(START)
        self.memory = lamina.open(path / "vault", clock=self._clock, watch=False, **how)
        self._days = 0

    def says(self, *turns: str) -> Receipt:
        self.tick()
        at = self._clock.at
        told = [{"speaker": "Ida", "content": turn, "at": at} for turn in turns]
        return self.memory.capture(told, session_id=f"day {self._days}", observed_at=at, wait=True)

    def tick(self) -> None:
        self._days += 1
        self._clock.at = START + timedelta(days=self._days)

    def statement(self, words: str) -> Atom:
        """The statement with these words in it."""
        (found,) = [
            each for each in self.memory.list(status=None, limit=None) if words in each.content and not each.is_segment
        ]
        return found


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    made = Talk(tmp_path)
    with made.memory:
        yield made


def library(talk: Talk) -> Atom:
    """A statement that depends on where the library is."""
    where = talk.memory.remember(
        "The library is on Hill Road.", subject="library", attribute="street", value="Hill"
    ).atom
    parking = talk.memory.remember("I park at bay D.").atom
    talk.memory.relate(parking.id, "depends_on", where.id)
    return parking


def moved(talk: Talk) -> Receipt:
    talk.tick()
    return talk.memory.remember("The library is on Canal Street.", subject="library", attribute="street", value="Canal")


def test_what_depends_on_a_changed_fact_is_challenged_with_the_reason(talk: Talk) -> None:
    parking = library(talk)
    receipt = moved(talk)
    assert talk.memory.get(parking.id).status is Status.CHALLENGED
    (why,) = [outcome.reason for outcome in receipt.outcomes if outcome.atom.id == parking.id]
    assert "depends on" in why
    assert why in talk.memory.history(parking.id).versions[-1].reason


def test_undoing_the_change_takes_the_doubt_back(talk: Talk) -> None:
    parking = library(talk)
    receipt = moved(talk)
    talk.memory.undo(str(receipt.commit))
    assert talk.memory.get(parking.id).status is Status.ACTIVE


def test_what_is_pinned_is_left_alone(talk: Talk) -> None:
    parking = library(talk)
    talk.memory.pin(parking.id)
    moved(talk)
    assert talk.memory.get(parking.id).status is Status.ACTIVE


def test_forgetting_a_fact_doubts_what_rests_on_it(talk: Talk) -> None:
    parking = library(talk)
    talk.memory.forget(talk.statement("Hill Road").id, "no longer wanted")
    assert talk.memory.get(parking.id).status is Status.CHALLENGED


def test_only_the_first_step_is_doubted_in_the_store(talk: Talk) -> None:
    parking = library(talk)
    walk = talk.memory.remember("I walk past the fountain.").atom
    talk.memory.relate(walk.id, "depends_on", parking.id)
    moved(talk)
    assert talk.memory.get(walk.id).status is Status.ACTIVE


def test_a_change_that_a_sentence_names_doubts_what_depends_on_it(talk: Talk) -> None:
    talk.says("I live in Leeds.", "My gym is Ironhouse.")
    talk.memory.relate(talk.statement("gym").id, "depends_on", talk.statement("live in Leeds").id)
    talk.says("I moved from Leeds to Hull.")
    assert talk.statement("live in Leeds").status is Status.SUPERSEDED
    assert talk.statement("gym").status is Status.CHALLENGED


def test_nothing_is_doubted_by_a_guess(talk: Talk) -> None:
    talk.says("I live in Leeds.", "My gym is Ironhouse because I live in Leeds.")
    talk.says("I moved from Leeds to Hull.")
    assert not [each for each in talk.memory.list(status=None, limit=None) if each.status is Status.CHALLENGED]


def test_somebody_adds_a_rule_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[[dependencies]]\nwhen = ["choir"]\ndoubts = ["rehearsal"]\n', encoding="utf-8")
    talk = Talk(tmp_path, settings=load_settings(file))
    with talk.memory:
        talk.memory.remember("My choir is Cantabile.", subject="Ida", attribute="choir", value="Cantabile")
        rehearsal = talk.memory.remember("Rehearsals: Tuesday.", subject="Ida", attribute="rehearsal", value="Tuesday")
        other = talk.memory.remember("Bo's are on Friday.", subject="Bo", attribute="rehearsal", value="Friday")
        talk.tick()
        talk.memory.remember("My choir is Vox Nova.", subject="Ida", attribute="choir", value="Vox Nova")
        assert talk.memory.get(rehearsal.atom.id).status is Status.CHALLENGED
        assert "changed choir" in talk.memory.history(rehearsal.atom.id).versions[-1].reason
        assert talk.memory.get(other.atom.id).status is Status.ACTIVE


def test_a_rule_without_anything_to_doubt_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[[dependencies]]\nwhen = ["choir"]\ndoubts = []\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="doubts"):
        load_settings(file)
