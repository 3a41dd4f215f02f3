"""`lamina dream`, what it shows, and how a night is taken back; moving atoms by hand; code as knowledge."""

from __future__ import annotations

from pathlib import Path

from terminal import Cli

SAID = (
    "The mill grinds on Tuesdays.",
    "The mill sells rye flour.",
    "The mill has two stones.",
    "The mill stands by the weir.",
    "The mill was built of oak.",
)


def told(cli: Cli) -> None:
    for words in SAID:
        assert cli("remember", words, "--subject", "Old Mill").code == 0


def files(vault: Path) -> dict[str, bytes]:
    """Everything but the archive, where lies what a night had made that was taken back."""
    found = {str(each.relative_to(vault)): each.read_bytes() for each in vault.rglob("*.md")}
    return {path: data for path, data in found.items() if not path.startswith("archive/")}


def test_a_dream_is_shown_done_and_taken_back_as_one(cli: Cli, vault: Path) -> None:
    told(cli)
    before = files(vault)
    shown = cli("dream", "--dry-run", "--json").data
    assert shown["dry_run"] is True and shown["undo"] is None
    assert files(vault) == before
    done = cli("dream", "--json").data
    assert [each["step"] for each in done["steps"]] == [each["step"] for each in shown["steps"]]
    moves = [(step["step"], move["action"]) for step in done["steps"] for move in step["moves"]]
    assert ("merge", "add") in moves and ("cards", "card") in moves
    assert files(vault) != before
    again = cli("dream", "--json").data
    assert not any(step["moves"] for step in again["steps"])
    assert cli("undo", done["batch"]).code == 0
    assert files(vault) == before


def test_only_the_steps_that_are_named_are_taken(cli: Cli, vault: Path) -> None:
    told(cli)
    done = cli("dream", "--step", "age", "--step", "prune", "--json").data
    assert [each["step"] for each in done["steps"]] == ["age", "prune"]
    assert "choose from age, merge" in cli("dream", "--step", "nap").err


def test_a_dream_that_is_not_due_does_nothing(cli: Cli, vault: Path) -> None:
    told(cli)
    assert cli("dream", "--if-due", "--json").data["steps"]
    assert cli("dream", "--if-due", "--json").data == {"due": False}


def test_the_words_of_a_dream_are_plain(cli: Cli, vault: Path) -> None:
    told(cli)
    out = cli("dream").out
    assert "merge: 1 add" in out and "age: nothing to do" in out
    assert "lamina undo dream-" in out
    assert "dream" in cli("journal").out


def test_atoms_are_moved_by_hand_and_promises_are_kept(cli: Cli, vault: Path) -> None:
    made = cli("remember", "Bring the ladder back.", "--kind", "commitment", "--json").data
    atom = made["outcomes"][0]["atom"]["id"]
    assert cli("demote", atom, "--json").data["atom"]["layer"] == "episodic"
    assert cli("promote", atom, "--json").data["atom"]["layer"] == "semantic"
    assert "is the highest layer" in cli("promote", atom).err
    assert cli("resolve", atom, "--json").data["atom"]["resolved"] is True


def test_a_folder_of_code_is_kept_in_short_and_refreshed_by_hash(cli: Cli, vault: Path, tmp_path: Path) -> None:
    project = tmp_path / "bakery"
    project.mkdir()
    (project / "oven.py").write_text('def bake(loaf: str) -> int:\n    """Bake a loaf."""\n    return 1\n', "utf-8")
    first = cli("capture", "--codebase", str(project), "--json").data
    assert first["outcomes"]["new"] == 2
    assert cli("capture", "--codebase", str(project), "--json").data["commit"] is None
    assert "bake(loaf" in cli("recall", "bake a loaf").out
    (project / "oven.py").write_text("def bake(loaf: str, hot: bool) -> int: ...\n", "utf-8")
    assert cli("capture", "--codebase", str(project), "--json").data["commit"]
    assert "hot" in cli("recall", "bake a loaf").out
