"""Statements stand with the words they were taken from."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import lamina
from lamina import FixedClock, Memory

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOON), watch=False) as opened:
        opened.capture(
            [
                {"speaker": "Ann", "content": "My dentist is Dr Reyes. My sister Ola lives in Bergen."},
                {"speaker": "Bob", "content": "My dentist is Dr Moss."},
                {"speaker": "Ann", "content": "Is a dentist never cheap, as they say?"},
            ],
            session_id="s",
        )
        yield opened


def statement(memory: Memory, words: str) -> lamina.Atom:
    (found,) = (each for each in memory.list(limit=None) if each.evidence and words in each.content)
    return found


def test_a_statement_and_its_words_share_a_slot(memory: Memory) -> None:
    hits = memory.recall("who is the dentist?").hits
    assert all(hit.atom.is_segment for hit in hits)
    told = {hit.passage.n: [each.content for each in hit.statements] for hit in hits}
    assert told[2] == ["My dentist is Dr Moss."]
    assert "My dentist is Dr Reyes." in told[1]
    assert told[3] == []


def test_in_a_mode_without_words_statements_stand_for_themselves(memory: Memory) -> None:
    hits = memory.recall("who is the dentist?", mode="facts_only").hits
    assert {hit.text for hit in hits} >= {"My dentist is Dr Reyes.", "My dentist is Dr Moss."}


def test_a_statement_that_was_edited_away_from_its_words_stands_for_itself(memory: Memory) -> None:
    memory.revise(statement(memory, "Moss").id, "Bob's dentist is the clinic at Harbour Square.", reason="moved")
    hits = memory.recall("who is the dentist at Harbour Square?").hits
    assert hits[0].text == "Bob's dentist is the clinic at Harbour Square."


def test_a_statement_that_gained_evidence_still_goes_with_its_words(memory: Memory) -> None:
    memory.capture([{"speaker": "Bob", "content": "My dentist is Dr Moss."}], session_id="t")
    assert statement(memory, "Moss").revision == 2
    hits = memory.recall("is Moss the dentist?").hits
    assert [hit.atom.is_segment for hit in hits] == [True] * len(hits)
    assert any(each.content == "My dentist is Dr Moss." for hit in hits for each in hit.statements)


def test_the_statements_are_told_in_the_context_and_count_when_they_are_cited(memory: Memory) -> None:
    found = memory.recall("who is Bob's dentist?")
    moss = statement(memory, "Moss")
    assert f"{moss.id} human active" in found.context()
    assert moss.id in memory.feedback(found.id, cited=[moss.id])
    assert memory.signals(moss.id).recall_count == 1
