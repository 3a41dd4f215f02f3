"""What was taken back or erased does not live on in what dreams made, and no dream brings it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from desk import Desk

SAID = ("The Old Mill keeps the key under zanthorriza.", "The Old Mill sells rye flour.",
        "The Old Mill has two stones.", "The Old Mill stands by the weir.",
        "The Old Mill grinds on Tuesdays.")  # fmt: skip
CANARY = "zanthorriza"


@pytest.fixture
def told(desk: Desk) -> list[str]:
    ids: list[str] = [desk.memory.remember(each, subject="Old Mill").outcomes[0].atom.id for each in SAID]
    desk.tick(days=1)
    assert desk.memory.dream().moves
    made = [each for each in desk.memory.list(limit=None) if each.origin == "dream" and CANARY in each.content]
    assert {each.kind for each in made} == {"synthesis", "entity"}
    return ids


def holds(root: Path) -> list[Path]:
    """The files and databases that hold the canary."""
    return [each for each in root.rglob("*") if each.is_file() and CANARY.encode() in each.read_bytes()]


def said(desk: Desk) -> str:
    found = desk.memory.recall("where does the Old Mill keep the key?", k=20)
    return "\n".join(hit.text for hit in found.hits)


def test_erased_it_leaves_no_byte_in_syntheses_cards_or_pages_and_does_not_come_back(
    desk: Desk, told: list[str]
) -> None:
    desk.memory.erase(told[0], "she asked")
    assert holds(desk.root) == []
    for _ in range(3):
        desk.tick(days=8)
        desk.memory.dream()
        assert holds(desk.root) == []


@pytest.mark.parametrize("status", ["tombstoned", "invalidated", "superseded"])
def test_what_no_longer_counts_is_told_by_nothing_a_dream_made(desk: Desk, told: list[str], status: str) -> None:
    assert CANARY in said(desk)
    desk.memory.update_status(told[0], status, "no longer")
    assert CANARY not in said(desk)
    for _ in range(3):
        desk.tick(days=8)
        desk.memory.dream()
        assert CANARY not in said(desk)
    pages = [each for each in desk.root.glob("entities/*.md") if CANARY in each.read_text("utf-8")]
    assert pages == []
