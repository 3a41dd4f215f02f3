"""Words that only repeat what is over are over with it; what somebody says themselves never is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from changing import Days

import lamina
from lamina import Atom, Status


@pytest.fixture
def days(tmp_path: Path) -> Iterator[Days]:
    made = Days(tmp_path)
    with made.memory:
        yield made


def segments(atom: Atom) -> set[str]:
    return {each.segment for each in atom.evidence}


def over(days: Days, words: str) -> Atom:
    (found,) = (atom for atom in days.that_say(words) if atom.status is Status.SUPERSEDED)
    return found


def test_an_assistants_echo_goes_with_what_it_repeats(days: Days) -> None:
    days.says("My rent is 940 euros.", ">Noted, your rent is 940 euros.")
    days.says("My rent went up from 940 to 1010 euros.")
    told = over(days, "940")
    assert {each.passage for each in told.evidence} == {1, 2}


def test_an_echo_that_comes_later_goes_with_it_too(days: Days) -> None:
    days.says("My rent is 940 euros.")
    days.says("My rent went up from 940 to 1010 euros.")
    before = segments(over(days, "940"))
    days.says("Which budget did I ask about?", ">With a rent of 940 euros you have room for a holiday.")
    assert len(segments(over(days, "940"))) == len(before) + 1


def test_a_person_who_says_it_again_is_no_echo(days: Days) -> None:
    days.says("My rent is 940 euros.")
    days.says("My rent went up from 940 to 1010 euros.")
    before = over(days, "rent is 940").evidence
    days.says("My rent is 940 euros again.")
    assert over(days, "rent is 940").evidence == before
    assert [atom.status for atom in days.that_say("940 euros again")] == [Status.ACTIVE]


def test_what_has_come_back_takes_no_echo_with_it(days: Days) -> None:
    days.says("My rent is 940 euros.")
    days.says("My rent went up from 940 to 1010 euros.")
    days.says("My rent went down from 1010 to 940 euros.")
    before = over(days, "rent is 940").evidence
    days.says("What was it again?", ">Your rent is 940 euros.")
    assert over(days, "rent is 940").evidence == before
    assert "940" in days.finds("How high is my rent?")


def test_an_echo_of_something_else_stays(days: Days) -> None:
    days.says("My rent is 940 euros.", "My insurance is 88 euros.", ">So the insurance costs 88 euros.")
    days.says("My rent went up from 940 to 1010 euros.")
    assert not any(each.passage == 3 for each in over(days, "940").evidence)
    assert "88" in days.finds("How much is my insurance?")


def test_an_agents_change_is_noticed_though_others_said_the_same_words(caplog: pytest.LogCaptureFixture) -> None:
    before = "Our printer is a Lexmark. My e-mail is ida@fern.example. The archive is kept in Dundee."
    said = (
        "The printer has been replaced by an Epson. Write to me at eve@moss.example from today on. "
        "They moved the archive over to Perth. Please forget my e-mail."
    )
    with tempfile.TemporaryDirectory() as folder, lamina.open(folder, watch=False, background=False) as memory:
        memory.capture([{"speaker": "user", "content": before}], session_id="a", wait=True)
        for origin in ("web", "tool", "import", "agent"):
            memory.capture([{"speaker": "user", "content": said}], session_id=origin, origin=origin, wait=True)
        assert any("Lexmark" in hit.text for hit in memory.recall("which printer do we have?").hits)
    assert "without looking for changes" not in caplog.text
