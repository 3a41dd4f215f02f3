from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from command_result import Cli
from lamina.models.model_files import models_folder

MODELS = models_folder(os.environ, Path.home(), sys.platform)
"""Where this machine keeps its models; the tests' user has a home of their own."""
SHOWN_COMMANDS = {
    "capture",
    "recall",
    "--explain",
    "--as-of",
    "--known-at",
    "feedback",
    "models",
    "jobs",
    "history",
    "pin",
    "top",
    "undo",
    "erase",
    "pairs",
    "keep",
    "quarantine",
    "okf",
    "doctor",
    "serve",
}


@pytest.mark.parametrize("embedder", ["none", "light", "auto without files", "auto"])
def test_the_tour_runs_every_claim_and_leaves_nothing_behind(
    cli: Cli, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: str
) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDER", embedder.split()[0])
    if embedder == "auto":
        monkeypatch.setenv("LAMINA_MODELS_DIR", str(MODELS))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("LAMINA_SCOPE", "org:elsewhere")
    result = cli("tour", "--json")
    assert result.code == 0
    steps = result.data["steps"]
    assert len(steps) >= 36
    assert all(check["passed"] for step in steps for check in step["checks"])
    assert all(step["command"] and step["checks"] and step["result"] for step in steps)
    assert not list(tmp_path.glob("lamina-tour-*"))
    assert not vault.exists()
    meaning = next(step for step in steps if "by meaning" in step["title"])
    assert (meaning["result"]["model"] == "text") == (embedder == "none")
    assert {part for step in steps for part in step["command"].split() if part in SHOWN_COMMANDS} == SHOWN_COMMANDS


def test_the_tour_prints_commands_results_and_three_next_steps(cli: Cli) -> None:
    result = cli("tour", "--keep")
    assert result.code == 0
    path = Path(next(line.split(" in ")[1] for line in result.out.splitlines() if "is kept in" in line))
    try:
        assert "\n$ lamina recall " in result.out
        assert "all of them passed" in result.out
        assert "✗" not in result.out
        assert result.out.rpartition("next:")[2].count("\n  lamina ") == 3
        assert cli("list", "--vault", str(path)).code == 0
    finally:
        shutil.rmtree(path.parent)


def test_a_claim_that_fails_fails_the_tour(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_FILE_EDITS", "review")
    result = cli("tour")
    assert result.code == 1
    assert "✗ FAILED: recall returns the edited words" in result.out
    assert "some checks failed" in result.out
