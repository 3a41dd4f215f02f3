"""What was taken back or erased does not live on in what dreams made, and no dream brings it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from desk import Desk

SAID = (
    "The Old Mill keeps the key under zanthorriza.",
    "The Old Mill sells rye flour.",
    "The Old Mill has two stones.",
    "The Old Mill stands by the weir.",
    "The Old Mill grinds on Tuesdays.",
)
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
    return [path for path in root.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


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
    pages = [path for path in desk.root.glob("entities/*.md") if CANARY in path.read_text("utf-8")]
    assert pages == []


def everywhere(desk: Desk) -> list[str]:
    """The files that hold the canary, but for words as they were said and what was laid aside."""
    found = (
        path.relative_to(desk.root).as_posix() for path in desk.root.rglob("*.md") if CANARY in path.read_text("utf-8")
    )
    return sorted(each for each in found if not each.startswith(("archive/", "sessions/")))


def test_forgotten_it_leaves_pages_and_summaries_at_once_and_comes_back_with_undo(desk: Desk, told: list[str]) -> None:
    page = next(path for path in desk.root.glob("entities/*.md") if CANARY in path.read_text("utf-8"))
    page.write_text(page.read_text("utf-8") + f"\nMy own note on {CANARY}.\n", "utf-8")
    desk.memory.sync()
    before = page.read_text("utf-8")
    desk.memory.forget(told[0], "she asked")
    assert everywhere(desk) == [page.relative_to(desk.root).as_posix()]
    assert page.read_text("utf-8").count(CANARY) == 1, "only a person's own words stay"
    desk.memory.undo()
    assert page.read_text("utf-8") == before
    desk.tick(days=8)
    desk.memory.dream()
    assert any(CANARY in each.content for each in desk.memory.list(kind="synthesis", limit=None))


def test_a_profile_loses_what_is_forgotten_at_once(desk: Desk, told: list[str]) -> None:
    kept = desk.remember("Ann prefers tea.", kind="preference", subject="tea")
    gone = desk.remember(f"Ann prefers {CANARY} honey.", kind="preference", subject="honey")
    desk.memory.dream()
    profile = desk.root / "profile.md"
    assert CANARY in profile.read_text("utf-8")
    desk.memory.pin(next(each.id for each in desk.memory.list(kind="entity") if each.subject == "profile"))
    desk.memory.forget(gone.id, "she asked")
    assert CANARY not in profile.read_text("utf-8"), "not even a pin keeps it"
    assert kept.content in profile.read_text("utf-8")


@pytest.mark.parametrize("way", ["deleted", "said", "agent"])
def test_however_it_is_taken_back_the_pages_follow(desk: Desk, told: list[str], way: str) -> None:
    atom = desk.memory.get(told[0])
    match way:
        case "deleted":
            desk.file(atom).unlink()
            desk.reopen()
        case "said":
            desk.tick()
            request = f"Please forget that {atom.content[0].lower()}{atom.content[1:]}"
            desk.memory.capture([{"speaker": "Ann", "content": request}], session_id="s")
        case "agent":
            own = desk.open(ceiling="agent").remember(f"The Old Mill hides {CANARY} too.", subject="Old Mill").atom
            desk.memory.dream(["cards"])
            assert len(everywhere(desk)) > 2
            desk.open(ceiling="agent").forget(own.id, "wrong")
            assert not any(f"hides {CANARY}" in (desk.root / each).read_text("utf-8") for each in everywhere(desk))
            return
    assert desk.memory.get(atom.id).status == "tombstoned"
    assert everywhere(desk) == []
