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
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOON), watch=False) as opened_memory:
        opened_memory.capture(
            [
                {"speaker": "Ann", "content": "My dentist is Dr Reyes. My sister Ola lives in Bergen."},
                {"speaker": "Bob", "content": "My dentist is Dr Moss."},
                {"speaker": "Ann", "content": "Is a dentist never cheap, as they say?"},
            ],
            session_id="s",
        )
        yield opened_memory


def statement(memory: Memory, words: str) -> lamina.Atom:
    (atom,) = (item for item in memory.list(limit=None) if item.evidence and words in item.content)
    return atom


def test_a_statement_and_its_evidence_share_a_slot(memory: Memory) -> None:
    hits = memory.recall("who is the dentist?").hits
    assert all(hit.atom.is_segment for hit in hits)
    result = {hit.passage.n: [statement.content for statement in hit.statements] for hit in hits}
    assert result[2] == ["My dentist is Dr Moss."]
    assert "My dentist is Dr Reyes." in result[1]
    assert result[3] == []


def test_in_a_mode_without_segments_statements_have_their_own_slot(memory: Memory) -> None:
    hits = memory.recall("who is the dentist?", mode="facts_only").hits
    assert {hit.text for hit in hits} >= {"My dentist is Dr Reyes.", "My dentist is Dr Moss."}


def test_a_statement_edited_away_from_its_evidence_has_its_own_slot(memory: Memory) -> None:
    memory.revise(statement(memory, "Moss").id, "Bob's dentist is the clinic at Harbour Square.", reason="moved")
    hits = memory.recall("who is the dentist at Harbour Square?").hits
    assert hits[0].text == "Bob's dentist is the clinic at Harbour Square."


def test_a_statement_that_gained_evidence_still_shares_the_slot(memory: Memory) -> None:
    memory.capture([{"speaker": "Bob", "content": "My dentist is Dr Moss."}], session_id="t")
    assert statement(memory, "Moss").revision == 2
    hits = memory.recall("is Moss the dentist?").hits
    assert [hit.atom.is_segment for hit in hits] == [True] * len(hits)
    assert any(statement.content == "My dentist is Dr Moss." for hit in hits for statement in hit.statements)


def test_the_statements_are_in_the_context_and_count_when_cited(memory: Memory) -> None:
    result = memory.recall("who is Bob's dentist?")
    moss = statement(memory, "Moss")
    assert f"{moss.id} human active" in result.context()
    assert moss.id in memory.feedback(result.id, cited=[moss.id])
    assert memory.signals(moss.id).recall_count == 1
