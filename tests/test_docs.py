"""The documents say what is true: snippets run, links lead somewhere, commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < 200


def test_the_readme_example_runs_and_prints_what_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.setenv("HOME", str(tmp_path))
    exec(compile(snippet, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "I take my coffee black." in printed
    assert "light roast" in printed
    assert "dark roast" not in printed


def test_every_command_in_the_readme_exists() -> None:
    commands = set(re.findall(r"^\$ lamina (\w+)", README, re.MULTILINE))
    assert commands
    for command in sorted(commands):
        done = subprocess.run([sys.executable, "-m", "lamina", command, "--help"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_both_readme_commands_are_make_targets() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"^\$ make (\w+)", README, re.MULTILINE)) <= set(targets)


@pytest.mark.parametrize("document", sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("[A-Z]*.md")))
def test_every_link_in_a_document_leads_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), f"{document}: {target}"


def test_every_decision_is_numbered_and_says_what_was_rejected() -> None:
    decisions = sorted((ROOT / "docs" / "adr").glob("*.md"))
    assert [path.name[:4] for path in decisions] == [f"{n:04d}" for n in range(1, len(decisions) + 1)]
    for path in decisions:
        text = path.read_text(encoding="utf-8")
        assert "Rejected" in text or "what else was tried" in text, path.name
