"""A statement that follows from the one before it is linked to it."""

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
        yield opened_memory


def links(memory: Memory, text: str, session: str = "s") -> list[tuple[str, str, str]]:
    receipt = memory.capture([{"speaker": "Ann", "content": text}], session_id=session)
    atoms = [outcome.atom for outcome in receipt.outcomes if outcome.atom.evidence]
    words = {atom.id: atom.content for atom in memory.list(limit=None)}
    return [(atom.content, relation.name, words[relation.target]) for atom in atoms for relation in atom.relations]


QUIT = "My boss quit Acme last week."
LINKED = [("Therefore I work at Initech now.", "caused_by", QUIT)]


def test_a_stated_consequence_is_linked_to_the_statement_before_it(memory: Memory) -> None:
    assert links(memory, f"{QUIT} Therefore I work at Initech now.") == LINKED


@pytest.mark.parametrize("text", [f"{QUIT} I work at Initech now.", f"{QUIT} So far I work at Initech."])
def test_a_mere_sequence_is_not_linked(memory: Memory, text: str) -> None:
    assert links(memory, text) == []


def test_a_known_cause_is_linked_to_its_existing_statement(memory: Memory) -> None:
    memory.capture([{"speaker": "Ann", "content": QUIT}], session_id="s0")
    assert links(memory, f"{QUIT} Therefore I work at Initech now.", "s1") == LINKED
