"""The newest value ranks first, earlier ones follow marked, and nothing is hidden.

Covers `lamina.recall.state_terms`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import Memory
from lamina.clock import FixedClock
from lamina.settings import Settings

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
CHANGES = [
    ("I prefer dark roast coffee.", "I've switched to light roast coffee.", "Which coffee roast do I prefer?", "light"),
    ("I work at Acme.", "I started a new job at Globex.", "Where do I work?", "Globex"),
    ("I live in Berlin.", "I moved to Lisbon.", "Where do I live?", "Lisbon"),
    ("I use VS Code.", "I've switched to Neovim.", "Which editor do I use?", "Neovim"),
]


@pytest.fixture(params=["auto", "light"])
def clocked(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Memory, FixedClock]]:
    clock = FixedClock(START)
    settings = Settings(embedder=request.param, background=False, watch=False)
    with lamina.open(tmp_path / "vault", clock=clock, settings=settings) as memory:
        yield memory, clock


def capture_lines(memory: Memory, clock: FixedClock, *lines: str) -> None:
    for line in lines:
        clock.at += timedelta(days=7)
        turn = {"speaker": "user", "content": line, "at": clock.at.isoformat()}
        memory.capture([turn], session_id=f"s{clock.at:%m%d}", wait=True)
    clock.at += timedelta(days=1)


@pytest.mark.parametrize(("old", "new", "question", "value"), CHANGES)
def test_the_new_value_ranks_first(
    clocked: tuple[Memory, FixedClock], old: str, new: str, question: str, value: str
) -> None:
    memory, clock = clocked
    capture_lines(memory, clock, old, "The weather was awful on Sunday.", new, "Can you suggest a film for tonight?")
    hits = memory.recall(question).hits
    assert value in hits[0].text
    result = [hit for hit in hits if old.rstrip(".") in hit.passage.text]
    ended = [atom for atom in memory.list(status="superseded") if old in atom.content]
    assert result or ended, "an earlier value is shown, or was surely replaced and is shown as history"
    assert all(old.rstrip(".") not in hit.text or hit.flagged for hit in result) or not ended


def test_an_earlier_value_is_marked_with_what_replaced_it(clocked: tuple[Memory, FixedClock]) -> None:
    memory, clock = clocked
    capture_lines(
        memory, clock, "My day at work begins at Acme, on the third floor, with coffee.", "I work at Globex now."
    )
    hits = memory.recall("Where do I work?").hits
    [acme] = [hit for hit in hits if "Acme" in hit.text]
    assert acme.flagged
    assert acme.earlier is not None
    assert acme.earlier.atom_id in {hit.atom.id for hit in hits if "Globex" in hit.text}


def test_the_state_terms_sum_to_the_score(clocked: tuple[Memory, FixedClock]) -> None:
    memory, clock = clocked
    capture_lines(memory, clock, "My dentist is Dr Wolff.", "I see Dr Amin for my teeth these days.")
    for hit in memory.recall("who is my dentist?").hits:
        explanation = hit.explain()
        assert explanation["relevance"] == max(0.0, sum(explanation["terms"].values()))  # type: ignore[attr-defined]
    assert any(name.startswith("state ") for hit in memory.recall("who is my dentist?").hits for name, _ in hit.terms)


def test_when_disabled_no_term_is_added(tmp_path: Path) -> None:
    clock = FixedClock(START)
    settings = Settings(state_model="off", background=False, watch=False)
    with lamina.open(tmp_path / "vault", clock=clock, settings=settings) as memory:
        capture_lines(memory, clock, "I live in Berlin.", "I moved to Lisbon.")
        hits = memory.recall("Where do I live?").hits
    assert hits
    assert not any(name.startswith("state ") for hit in hits for name, _ in hit.terms)
    assert all(hit.earlier is None and hit.answers is None for hit in hits)


def test_different_owners_are_separate(clocked: tuple[Memory, FixedClock]) -> None:
    memory, clock = clocked
    capture_lines(memory, clock, "Room A has 10 seats.", "Room B has 14 seats.")
    hits = memory.recall("How many seats does Room A have?").hits
    assert "Room A" in hits[0].text
