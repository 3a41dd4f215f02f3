"""`lamina dream` and its report, moving atoms by hand, and summaries of source code.

Covers `lamina.cli.dream` and `lamina.documents.dream`.
"""

from __future__ import annotations

from pathlib import Path

from command_result import Cli

SENTENCES = (
    "The mill grinds on Tuesdays.",
    "The mill sells rye flour.",
    "The mill has two stones.",
    "The mill stands by the weir.",
    "The mill was built of oak.",
)


def remember_sentences(cli: Cli) -> None:
    for words in SENTENCES:
        assert cli("remember", words, "--subject", "Old Mill").code == 0


def files(vault: Path) -> dict[str, bytes]:
    """Everything but the archive, where lies what a night had made that was taken back."""
    result = {str(path.relative_to(vault)): path.read_bytes() for path in vault.rglob("*.md")}
    return {path: data for path, data in result.items() if not path.startswith("archive/")}


def test_a_dream_is_previewed_run_and_undone_as_one(cli: Cli, vault: Path) -> None:
    remember_sentences(cli)
    before = files(vault)
    result = cli("dream", "--dry-run", "--json").data
    assert result["dry_run"] is True and result["undo"] is None
    assert files(vault) == before
    data = cli("dream", "--json").data
    assert [step["step"] for step in data["steps"]] == [step["step"] for step in result["steps"]]
    moves = [(step["step"], move["action"]) for step in data["steps"] for move in step["moves"]]
    assert ("merge", "add") in moves and ("cards", "card") in moves
    assert files(vault) != before
    again = cli("dream", "--json").data
    assert not any(step["moves"] for step in again["steps"])
    assert cli("undo", data["batch"]).code == 0
    assert files(vault) == before


def test_only_the_named_steps_run(cli: Cli, vault: Path) -> None:
    remember_sentences(cli)
    data = cli("dream", "--step", "age", "--step", "prune", "--json").data
    assert [step["step"] for step in data["steps"]] == ["age", "prune"]
    assert "choose from age, merge" in cli("dream", "--step", "nap").err


def test_a_dream_that_is_not_due_does_nothing(cli: Cli, vault: Path) -> None:
    remember_sentences(cli)
    assert cli("dream", "--if-due", "--json").data["steps"]
    assert cli("dream", "--if-due", "--json").data == {"due": False}


def test_the_output_of_a_dream_uses_plain_words(cli: Cli, vault: Path) -> None:
    remember_sentences(cli)
    out = cli("dream").out
    assert "merge: 1 add" in out and "age: nothing to do" in out
    assert "lamina undo dream-" in out
    assert "dream" in cli("journal").out


def test_atoms_are_promoted_by_hand_and_commitments_are_resolved(cli: Cli, vault: Path) -> None:
    data = cli("remember", "Bring the ladder back.", "--kind", "commitment", "--json").data
    atom = data["outcomes"][0]["atom"]["id"]
    assert cli("demote", atom, "--json").data["atom"]["layer"] == "episodic"
    assert cli("promote", atom, "--json").data["atom"]["layer"] == "semantic"
    assert "is the highest layer" in cli("promote", atom).err
    assert cli("resolve", atom, "--json").data["atom"]["resolved"] is True


def test_a_folder_of_code_is_summarised_and_refreshed_by_hash(cli: Cli, vault: Path, tmp_path: Path) -> None:
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
