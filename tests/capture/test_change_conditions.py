"""What a statement is said to rest on is told from its cause and linked to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import FixedClock, Memory
from lamina.atom.relation import RelationName
from lamina.capture.change.conditions import conditions

START = datetime(2026, 1, 5, 9, tzinfo=UTC)

STATED = [
    ("I keep the tent in Ede because my brother lives in Ede.", "I keep the tent in Ede", "my brother lives in Ede"),
    ("As long as Joost is chairman, the keys stay in room 4.", "the keys stay in room 4.", "Joost is chairman"),
    ("Given that the lift is out, deliveries go to door B.", "deliveries go to door B.", "the lift is out"),
    ("We meet at 9:15, provided Tilda runs the stand.", "We meet at 9:15", "Tilda runs the stand"),
    ("The bus leaves at 7:40, and that hinges on Wim driving.", "The bus leaves at 7:40", "Wim driving"),
    ("We order 30 rolls, which relies on the school being open.", "We order 30 rolls", "the school being open"),
    (
        "My tutor lives in Ghent, so I buy a rail pass for zone 3.",
        "I buy a rail pass for zone 3.",
        "My tutor lives in Ghent",
    ),
    ("The stall is on Quay 2. That's why we park at lot F.", "we park at lot F.", "The stall is on Quay 2."),
    ("We open at 8:00. That depends on Ruth having the keys.", "We open at 8:00.", "Ruth having the keys"),
    ("I use gate 5 since the ring road is closed.", "I use gate 5", "the ring road is closed"),
]
UNSTATED = [
    "Dr Hale retired, so my GP is Dr Moss.",
    "We won because Ada scored twice.",
    "I have lived in Ede since 2010.",
    "The boat is on the lake since the weekend.",
    "I work as a nurse.",
    "I love it because it is so quiet.",
    "Would you park at lot F because the stall is on Quay 2?",
    "Maybe we park at lot F because the stall is on Quay 2.",
    "I think so.",
    "That depends.",
    "So far we have 30 rolls.",
]  # fmt: skip


@pytest.mark.parametrize(("said", "claim", "condition"), STATED)
def test_a_condition_is_told_from_what_rests_on_it(said: str, claim: str, condition: str) -> None:
    (found,) = conditions(said)
    assert said[slice(*found.claim)] == claim
    assert said[slice(*found.condition)] == condition.rstrip(".")


@pytest.mark.parametrize("said", UNSTATED)
def test_what_happened_once_or_is_only_felt_is_no_condition(said: str) -> None:
    assert conditions(said) == []


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=FixedClock(START), watch=False) as opened:
        yield opened


def says(memory: Memory, day: int, text: str) -> None:
    at = START + timedelta(days=day)
    memory.capture([{"speaker": "Ida", "content": text, "at": at}], session_id=f"day {day}", observed_at=at, wait=True)


def grounds(memory: Memory, claim: str) -> list[str]:
    """What the statement with these words in it is said to rest on."""
    known = {each.id: each for each in memory.list(status=None, limit=None)}
    return [
        known[link.target].content
        for each in known.values()
        if claim in each.content and not each.is_segment
        for link in each.relations
        if link.name is RelationName.DEPENDS_ON
    ]


def test_a_claim_is_linked_to_the_statement_of_its_condition(memory: Memory) -> None:
    says(memory, 1, "The library is on Hill Road.")
    says(memory, 2, "I park at bay D since the library is on Hill Road.")
    assert grounds(memory, "bay D") == ["The library is on Hill Road."]


def test_a_condition_nobody_stated_becomes_a_statement_of_its_own(memory: Memory) -> None:
    says(memory, 1, "Keys hang on hook 8, provided Corisande runs the night shift.")
    assert grounds(memory, "hook 8") == ["Corisande runs the night shift."]


def test_a_condition_of_another_is_not_taken_for_it(memory: Memory) -> None:
    says(memory, 1, "The bakery is on Mill Lane.")
    says(memory, 2, "I park at bay D since the library is on Hill Road.")
    assert "The bakery is on Mill Lane." not in grounds(memory, "bay D")


def test_nothing_rests_on_itself(memory: Memory) -> None:
    says(memory, 1, "I park at bay D since the library is on Hill Road.")
    says(memory, 2, "I park at bay D since the library is on Hill Road.")
    for each in memory.list(status=None, limit=None):
        assert each.id not in {link.target for link in each.relations}
