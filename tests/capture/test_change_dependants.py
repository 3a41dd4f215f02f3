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
from lamina.capture.change.life import LIFE, rule
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
        self._days += 1
        self._clock.at = at = START + timedelta(days=self._days)
        told = [{"speaker": "Ida", "content": each, "at": at} for each in turns]
        return self.memory.capture(told, session_id=f"day {self._days}", observed_at=at, wait=True)

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


def test_what_rests_on_a_changed_fact_is_doubted_with_the_reason(talk: Talk) -> None:
    talk.says("The library is on Hill Road.")
    talk.says("I park at bay D since the library is on Hill Road.")
    receipt = talk.says("The library is on Canal Street now.")
    doubted = talk.statement("bay D")
    assert doubted.status is Status.CHALLENGED
    (why,) = [each.reason for each in receipt.outcomes if each.atom.id == doubted.id]
    assert "rests on" in why
    assert why in talk.memory.history(doubted.id).versions[-1].reason


def test_undoing_the_change_takes_the_doubt_back(talk: Talk) -> None:
    talk.says("The library is on Hill Road.")
    talk.says("I park at bay D since the library is on Hill Road.")
    receipt = talk.says("The library is on Canal Street now.")
    talk.memory.undo(str(receipt.commit))
    assert talk.statement("bay D").status is Status.ACTIVE


def test_what_is_pinned_is_left_alone(talk: Talk) -> None:
    talk.says("The library is on Hill Road.")
    talk.says("I park at bay D since the library is on Hill Road.")
    talk.memory.pin(talk.statement("bay D").id)
    talk.says("The library is on Canal Street now.")
    assert talk.statement("bay D").status is Status.ACTIVE


def test_forgetting_a_fact_doubts_what_rests_on_it(talk: Talk) -> None:
    talk.says("The library is on Hill Road.")
    talk.says("I park at bay D since the library is on Hill Road.")
    talk.memory.forget(talk.statement("The library is on Hill").id, "no longer wanted")
    assert talk.statement("bay D").status is Status.CHALLENGED


def test_only_the_first_step_is_doubted_in_the_store(talk: Talk) -> None:
    talk.says("Marek is the editor.")
    talk.says("The deadline is the 19th because Marek is the editor.")
    talk.says("The layout meeting is at 16:00 because the deadline is the 19th.")
    talk.says("Carmen is the editor now.")
    assert talk.statement("layout meeting").status is Status.ACTIVE


def moved(talk: Talk, *known: str) -> None:
    talk.says("I live in Leeds.", *known)
    talk.says("I live in Hull now.")
    assert talk.statement("lives in Leeds").status is Status.SUPERSEDED


@pytest.mark.parametrize(
    "known",
    [
        "My gym is Ironhouse.",
        "My dentist is Dr Reyes.",
        "My parking permit is for zone C.",
        "My commute takes 40 minutes.",
    ],
)
def test_who_moves_house_has_other_things_around(talk: Talk, known: str) -> None:
    moved(talk, known)
    doubted = [each for each in talk.memory.list(status=None, limit=None) if each.status is Status.CHALLENGED]
    assert [each.evidence[0].passage for each in doubted] == [2]
    assert "moved house" in talk.memory.history(doubted[0].id).versions[-1].reason


@pytest.mark.parametrize(
    "known",
    [
        "My hat size is 58.",
        "My brother's gym is Ironhouse.",
        "My gym buddy is Rafe.",
        "My dog is called Bo.",
        "I hate the gym.",
    ],
)
def test_who_moves_house_keeps_the_rest(talk: Talk, known: str) -> None:
    moved(talk, known)
    assert not [each for each in talk.memory.list(status=None, limit=None) if each.status is Status.CHALLENGED]


def test_what_was_said_after_the_move_is_not_doubted(talk: Talk) -> None:
    talk.says("I live in Leeds.")
    talk.says("I live in Hull now.", "My gym is Ironhouse.")
    talk.says("I live in Hull.")
    assert talk.statement("gym").status is Status.ACTIVE


def test_who_changes_employer_has_another_manager(talk: Talk) -> None:
    talk.says("I work at Acme.", "My manager is Olga.", "My dentist is Dr Reyes.")
    talk.says("I work at Bolt now.")
    assert talk.statement("manager").status is Status.CHALLENGED
    assert talk.statement("dentist").status is Status.ACTIVE


def test_a_correction_is_no_move(talk: Talk) -> None:
    talk.says("I live in Leeds.", "My gym is Ironhouse.")
    talk.says("Oops, that was wrong: I live in Hull.")
    assert talk.statement("gym").status is Status.ACTIVE


def test_somebody_adds_a_rule_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[[dependencies]]\nwhen = ["choir"]\ndoubts = ["rehearsal"]\n', encoding="utf-8")
    talk = Talk(tmp_path, settings=load_settings(file))
    with talk.memory:
        talk.says("My choir is Cantabile.", "My rehearsal is on Tuesday.")
        talk.says("My choir is Vox Nova now.")
        (doubted,) = [each for each in talk.memory.list(status=None, limit=None) if each.status is Status.CHALLENGED]
        assert "changed choir" in talk.memory.history(doubted.id).versions[-1].reason


def test_a_rule_without_anything_to_doubt_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[[dependencies]]\nwhen = ["choir"]\ndoubts = []\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="doubts"):
        load_settings(file)


def test_no_rule_doubts_what_it_waits_for() -> None:
    for each in (*LIFE, rule("own", ["gym"], ["locker"])):
        assert not each.when & each.doubts
