"""The documents say what is true: snippets run, links lead somewhere, commands exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina.clock import FixedClock
from lamina.memory import Memory

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for pattern in ("[A-Z]*.md", "docs/**/*.md") for path in ROOT.glob(pattern)
)


def _changes() -> list[tuple[str, str, str]]:
    """The rows of the page's table: what was said first, what then, and what becomes of the first."""
    text = (ROOT / "docs" / "change.md").read_text(encoding="utf-8")
    table = text.partition("| how | first | then |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return [(first, then, becomes) for _, first, then, becomes in rows]


CHANGES = _changes()


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < 150


def test_the_readme_example_runs_and_prints_the_documented_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.setenv("HOME", str(tmp_path))
    exec(compile(snippet, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "I take my coffee black." in printed
    assert "light roast" in printed
    assert "dark roast" not in printed
    assert "[('We moved the office from Cork to Galway.', ('transition',))]" in printed
    assert "[('My office is in Cork.', ('historical',))]" in printed


@pytest.mark.parametrize("page", ["change.md", "review.md"])
def test_the_examples_of_a_page_print_the_documented_output(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert examples
    monkeypatch.setenv("HOME", str(tmp_path))
    for snippet, printed in examples:
        exec(compile(snippet, page, "exec"), {})
        assert capsys.readouterr().out == printed


@pytest.mark.parametrize(("first", "then", "becomes"), CHANGES, ids=[row[1] for row in CHANGES])
def test_changes_are_detected_as_documented(tmp_path: Path, first: str, then: str, becomes: str) -> None:
    clock = FixedClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, background=False) as memory:
        _capture(memory, first)
        atom_ids = [atom.id for atom in memory.list() if not atom.is_segment]
        clock.at += timedelta(days=10)
        _capture(memory, then)
        (old,) = [atom for atom in memory.list(status=None) if atom.id in atom_ids]
        hit = next((hit for hit in memory.recall(first).hits if hit.text == first), None)
    status, _, more = becomes.partition(", ")
    assert old.status == status
    assert (hit is None) == (status != "active")
    assert (old.valid_until == datetime(2026, 6, 1, tzinfo=UTC)) == (more == "until 1 June")
    assert (hit is not None and "possibly outdated" in hit.marks) == (more == "possibly outdated")


def _capture(memory: Memory, words: str) -> None:
    memory.capture([{"speaker": "Ann", "content": words}], session_id=f"{memory.now():%Y-%m-%d}")


def test_every_command_in_the_readme_exists() -> None:
    commands = set(re.findall(r"^\$ lamina (\w+)", README, re.MULTILINE))
    assert commands
    for command in sorted(commands):
        result = subprocess.run([sys.executable, "-m", "lamina", command, "--help"], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr


def test_the_commands_of_the_first_steps_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (.+)$", page, re.MULTILINE)
    assert len(commands) > 8
    monkeypatch.setenv("HOME", str(tmp_path))
    folder, printed = tmp_path, {}
    for command in commands:
        program, *words = shlex.split(command)
        if program == "cd":
            folder = folder / words[0]
            continue
        assert program == "lamina"
        result = subprocess.run(
            [sys.executable, "-m", "lamina", *words], cwd=folder, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, (command, result.stderr)
        printed[command] = result.stdout
    assert "Dr Chen" in printed['lamina recall "who is my dentist?"']
    assert printed['lamina recall "what is my blood type?"'].strip() == "nothing known"


def test_both_readme_commands_are_make_targets() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"^\$ make (\w+)", README, re.MULTILINE)) <= set(targets)


@pytest.mark.parametrize("document", PAGES)
def test_every_link_in_a_document_is_valid(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert ((ROOT / document).parent / target).exists(), f"{document}: {target}"


def test_every_decision_record_is_numbered_and_names_rejected_options() -> None:
    decisions = sorted((ROOT / "docs" / "adr").glob("*.md"))
    assert [path.name[:4] for path in decisions] == [f"{n:04d}" for n in range(1, len(decisions) + 1)]
    for path in decisions:
        text = path.read_text(encoding="utf-8")
        assert "Rejected" in text or "what else was tried" in text, path.name
