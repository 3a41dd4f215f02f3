from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from lamina.models.model_files import models_folder
from terminal import Cli

MODELS = models_folder(os.environ, Path.home(), sys.platform)
"""Where this machine keeps its models; the tests' user has a home of their own."""
SHOWN = {
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
def test_the_tour_tells_a_true_story_and_leaves_nothing_behind(
    cli: Cli, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: str
) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDER", embedder.split()[0])
    if embedder == "auto":
        monkeypatch.setenv("LAMINA_MODELS_DIR", str(MODELS))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("LAMINA_SCOPE", "org:elsewhere")
    ran = cli("tour", "--json")
    assert ran.code == 0
    steps = ran.data["steps"]
    assert len(steps) >= 36
    assert all(check["passed"] for step in steps for check in step["checks"])
    assert all(step["command"] and step["checks"] and step["result"] for step in steps)
    assert not list(tmp_path.glob("lamina-tour-*"))
    assert not vault.exists()
    meaning = next(step for step in steps if "by meaning" in step["title"])
    assert (meaning["result"]["model"] == "text") == (embedder == "none")
    assert {each for step in steps for each in step["command"].split() if each in SHOWN} == SHOWN


def test_the_tour_prints_commands_results_and_three_next_ones(cli: Cli) -> None:
    ran = cli("tour", "--keep")
    assert ran.code == 0
    kept = Path(next(line.split(" in ")[1] for line in ran.out.splitlines() if "is kept in" in line))
    try:
        assert "\n$ lamina recall " in ran.out
        assert "all of them passed" in ran.out
        assert "✗" not in ran.out
        assert ran.out.rpartition("next:")[2].count("\n  lamina ") == 3
        assert cli("list", "--vault", str(kept)).code == 0
    finally:
        shutil.rmtree(kept.parent)


def test_a_claim_that_fails_fails_the_tour(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.cli.chapters.files.DROPPED_NOTE", "A note about something else.\n")
    ran = cli("tour")
    assert ran.code == 1
    assert "✗ FAILED: the note is found" in ran.out
    assert "some checks failed" in ran.out
