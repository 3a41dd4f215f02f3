"""Newest first among sentences that differ in one place only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina.clock import FixedClock
from lamina.recall.state_terms import NEWER_VALUE_TERM, differ_in_one_place
from lamina.settings import Settings
from lamina.text.analyser import analyse

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("first", "second", "question", "expected"),
    [
        (
            "Oscar Wilde died in the city of Paris.",
            "Oscar Wilde died in the city of Guangzhou.",
            "Where did he die?",
            True,
        ),
        ("Radek is our head baker.", "Maud is our head baker.", "Who is our head baker?", True),
        ("Elvis Presley is married to Priscilla Presley.", "Elvis Presley is married to Ann.", "Elvis Presley?", True),
        ("Room A has 12 seats.", "Room B has 14 seats.", "How many seats has room A?", False),
        ("The van is red.", "The van is red.", "Which colour has the van?", False),
        ("I like jazz.", "The office is in Cork.", "What do I like?", False),
        ("Ann drives the van.", "Ben drives the small van today.", "Who drives the van?", False),
        ("a " * 30 + "b", "a " * 30 + "c", "what?", False),
    ],
)
def test_sentences_differ_in_one_place_that_the_question_does_not_name(
    first: str, second: str, question: str, expected: bool
) -> None:
    assert differ_in_one_place(analyse(first), analyse(second), set(analyse(question))) is expected
    assert differ_in_one_place(analyse(second), analyse(first), set(analyse(question))) is expected


def test_the_newer_of_two_sentences_that_differ_in_one_place_comes_first(tmp_path: Path) -> None:
    settings = Settings(embedder="light", state_model="off", watch=False, background=False)
    clock = FixedClock(NOON)
    with lamina.open(tmp_path, settings=settings, clock=clock) as memory:
        for number, city in enumerate(("Paris", "Guangzhou", "Lisbon")):
            memory.remember(f"Oscar Wilde died in the city of {city}.", observed_at=NOON + timedelta(minutes=number))
        memory.remember("Oscar Wilde wrote a play.", observed_at=NOON + timedelta(minutes=9))
        clock.at = NOON + timedelta(hours=1)
        hits = memory.recall("Which city did Oscar Wilde die in?", k=4).hits
        named = memory.recall("Did Oscar Wilde die in Paris?", k=4).hits
    assert [hit.text.split()[-1] for hit in hits[:3]] == ["Lisbon.", "Guangzhou.", "Paris."]
    assert "Paris" in named[0].text
    moved = [value for hit in hits for name, value in hit.terms if name == NEWER_VALUE_TERM]
    assert sum(moved) == pytest.approx(0.0)


def test_what_an_untrusted_source_says_takes_no_place(tmp_path: Path) -> None:
    settings = Settings(embedder="light", state_model="off", watch=False, background=False)
    with lamina.open(tmp_path, settings=settings, clock=FixedClock(NOON + timedelta(days=9))) as memory:
        for number, (origin, city) in enumerate((("human", "Paris"), ("web", "Guangzhou"))):
            at = NOON + timedelta(days=number)
            memory.remember(f"Oscar Wilde died in the city of {city}.", origin=origin, observed_at=at)
        hits = memory.recall("Which city did Oscar Wilde die in?", k=4, include=["constrained"]).hits
    assert len(hits) == 2
    assert not [name for hit in hits for name, _ in hit.terms if name == NEWER_VALUE_TERM]
