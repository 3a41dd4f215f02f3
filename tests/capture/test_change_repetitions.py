"""Words that only repeat what is over are over with it; what somebody says themselves never is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from daily_sessions import Days

import lamina
from lamina import Atom, Status


@pytest.fixture
def days(tmp_path: Path) -> Iterator[Days]:
    result = Days(tmp_path)
    with result.memory:
        yield result


def segments(atom: Atom) -> set[str]:
    return {evidence.segment for evidence in atom.evidence}


def superseded_statement(days: Days, words: str) -> Atom:
    (result,) = (atom for atom in days.that_say(words) if atom.status is Status.SUPERSEDED)
    return result


def test_an_assistants_repetition_ends_with_the_statement_it_repeats(days: Days) -> None:
    days.says("My rent is 940 euros.", ">Noted, your rent is 940 euros.")
    days.says("My rent went up from 940 to 1010 euros.")
    atom = superseded_statement(days, "940")
    assert {evidence.passage for evidence in atom.evidence} == {1, 2}


def test_a_later_repetition_ends_with_it_too(days: Days) -> None:
    days.says("My rent is 940 euros.")
    days.says("My rent went up from 940 to 1010 euros.")
    before = segments(superseded_statement(days, "940"))
    days.says("Which budget did I ask about?", ">With a rent of 940 euros you have room for a holiday.")
    assert len(segments(superseded_statement(days, "940"))) == len(before) + 1


def test_a_person_repeating_a_statement_is_no_repetition(days: Days) -> None:
    days.says("My rent is 940 euros.")
    days.says("My rent went up from 940 to 1010 euros.")
    before = superseded_statement(days, "rent is 940").evidence
    days.says("My rent is 940 euros again.")
    assert superseded_statement(days, "rent is 940").evidence == before
    assert [atom.status for atom in days.that_say("940 euros again")] == [Status.ACTIVE]


def test_a_restored_value_takes_no_repetition_with_it(days: Days) -> None:
    days.says("My rent is 940 euros.")
    days.says("My rent went up from 940 to 1010 euros.")
    days.says("My rent went down from 1010 to 940 euros.")
    before = superseded_statement(days, "rent is 940").evidence
    days.says("What was it again?", ">Your rent is 940 euros.")
    assert superseded_statement(days, "rent is 940").evidence == before
    assert "940" in days.finds("How high is my rent?")


def test_a_repetition_of_another_statement_stays(days: Days) -> None:
    days.says("My rent is 940 euros.", "My insurance is 88 euros.", ">So the insurance costs 88 euros.")
    days.says("My rent went up from 940 to 1010 euros.")
    assert not any(evidence.passage == 3 for evidence in superseded_statement(days, "940").evidence)
    assert "88" in days.finds("How much is my insurance?")


def test_an_agents_change_is_detected_though_others_used_the_same_words(caplog: pytest.LogCaptureFixture) -> None:
    before = "Our printer is a Lexmark. My e-mail is ida@fern.example. The archive is kept in Dundee."
    text = (
        "The printer has been replaced by an Epson. Write to me at eve@moss.example from today on. "
        "They moved the archive over to Perth. Please forget my e-mail."
    )
    with tempfile.TemporaryDirectory() as folder, lamina.open(folder, watch=False, background=False) as memory:
        memory.capture([{"speaker": "user", "content": before}], session_id="a", wait=True)
        for origin in ("web", "tool", "import", "agent"):
            memory.capture([{"speaker": "user", "content": text}], session_id=origin, origin=origin, wait=True)
        assert any("Lexmark" in hit.text for hit in memory.recall("which printer do we have?").hits)
    assert "without looking for changes" not in caplog.text
