"""Retracted and erased text is in nothing that dreams generated, and no dream restores it.

Covers `lamina.atom.provenance`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_workspace import VaultWorkspace

SENTENCES = (
    "The Old Mill keeps the key under zanthorriza.",
    "The Old Mill sells rye flour.",
    "The Old Mill has two stones.",
    "The Old Mill stands by the weir.",
    "The Old Mill grinds on Tuesdays.",
)
CANARY = "zanthorriza"


@pytest.fixture
def stored_ids(workspace: VaultWorkspace) -> list[str]:
    ids: list[str] = [
        workspace.memory.remember(sentence, subject="Old Mill").outcomes[0].atom.id for sentence in SENTENCES
    ]
    workspace.tick(days=1)
    assert workspace.memory.upkeep.dream().moves
    atoms = [atom for atom in workspace.memory.list(limit=None) if atom.origin == "dream" and CANARY in atom.content]
    assert {atom.kind for atom in atoms} == {"synthesis", "entity"}
    return ids


def files_with_canary(root: Path) -> list[Path]:
    """The files and databases that hold the canary."""
    return [path for path in root.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


def recalled_texts(workspace: VaultWorkspace) -> str:
    result = workspace.memory.recall("where does the Old Mill keep the key?", k=20)
    return "\n".join(hit.text for hit in result.hits)


def test_erased_text_leaves_no_byte_in_syntheses_cards_or_pages_and_does_not_return(
    workspace: VaultWorkspace, stored_ids: list[str]
) -> None:
    workspace.memory.erase(stored_ids[0], "she asked")
    assert files_with_canary(workspace.root) == []
    for _ in range(3):
        workspace.tick(days=8)
        workspace.memory.upkeep.dream()
        assert files_with_canary(workspace.root) == []


@pytest.mark.parametrize("status", ["tombstoned", "invalidated", "superseded"])
def test_ended_statements_are_in_no_generated_text(
    workspace: VaultWorkspace, stored_ids: list[str], status: str
) -> None:
    assert CANARY in recalled_texts(workspace)
    workspace.memory.update_status(stored_ids[0], status, "no longer")
    assert CANARY not in recalled_texts(workspace)
    for _ in range(3):
        workspace.tick(days=8)
        workspace.memory.upkeep.dream()
        assert CANARY not in recalled_texts(workspace)
    pages = [path for path in workspace.root.glob("entities/*.md") if CANARY in path.read_text("utf-8")]
    assert pages == []


def remaining_files(workspace: VaultWorkspace) -> list[str]:
    """The files that hold the canary, but for words as they were said and what was laid aside."""
    result = (
        path.relative_to(workspace.root).as_posix()
        for path in workspace.root.rglob("*.md")
        if CANARY in path.read_text("utf-8")
    )
    return sorted(item for item in result if not item.startswith(("archive/", "sessions/")))


def test_a_forgotten_statement_leaves_pages_and_summaries_immediately_and_returns_with_undo(
    workspace: VaultWorkspace, stored_ids: list[str]
) -> None:
    page = next(path for path in workspace.root.glob("entities/*.md") if CANARY in path.read_text("utf-8"))
    page.write_text(page.read_text("utf-8") + f"\nMy own note on {CANARY}.\n", "utf-8")
    workspace.memory.upkeep.sync()
    before = page.read_text("utf-8")
    workspace.memory.forget(stored_ids[0], "she asked")
    assert remaining_files(workspace) == [page.relative_to(workspace.root).as_posix()]
    assert page.read_text("utf-8").count(CANARY) == 1, "only a person's own words stay"
    workspace.memory.undo()
    assert page.read_text("utf-8") == before
    workspace.tick(days=8)
    workspace.memory.upkeep.dream()
    assert any(CANARY in atom.content for atom in workspace.memory.list(kind="synthesis", limit=None))


def test_a_profile_loses_forgotten_statements_immediately(workspace: VaultWorkspace, stored_ids: list[str]) -> None:
    stored = workspace.remember("Ann prefers tea.", kind="preference", subject="tea")
    receipt = workspace.remember(f"Ann prefers {CANARY} honey.", kind="preference", subject="honey")
    workspace.memory.upkeep.dream()
    profile = workspace.root / "profile.md"
    assert CANARY in profile.read_text("utf-8")
    workspace.memory.pin(next(atom.id for atom in workspace.memory.list(kind="entity") if atom.subject == "profile"))
    workspace.memory.forget(receipt.id, "she asked")
    assert CANARY not in profile.read_text("utf-8"), "not even a pin keeps it"
    assert stored.content in profile.read_text("utf-8")


@pytest.mark.parametrize("way", ["deleted", "said", "agent"])
def test_pages_follow_every_way_of_retraction(workspace: VaultWorkspace, stored_ids: list[str], way: str) -> None:
    atom = workspace.memory.get(stored_ids[0])
    match way:
        case "deleted":
            workspace.file(atom).unlink()
            workspace.reopen()
        case "said":
            workspace.tick()
            request = f"Please forget that {atom.content[0].lower()}{atom.content[1:]}"
            workspace.memory.capture([{"speaker": "Ann", "content": request}], session_id="s")
        case "agent":
            fields = (
                workspace.open(ceiling="agent").remember(f"The Old Mill hides {CANARY} too.", subject="Old Mill").atom
            )
            workspace.memory.upkeep.dream(["cards"])
            assert len(remaining_files(workspace)) > 2
            workspace.open(ceiling="agent").forget(fields.id, "wrong")
            assert not any(
                f"hides {CANARY}" in (workspace.root / text).read_text("utf-8") for text in remaining_files(workspace)
            )
            return
    assert workspace.memory.get(atom.id).status == "tombstoned"
    assert remaining_files(workspace) == []
