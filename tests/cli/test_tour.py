from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from terminal import Cli


def test_the_tour_tells_a_true_story_and_leaves_nothing_behind(
    cli: Cli, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("LAMINA_SCOPE", "org:elsewhere")
    ran = cli("tour", "--json")
    assert ran.code == 0
    steps = ran.data["steps"]
    assert len(steps) >= 15
    assert all(check["passed"] for step in steps for check in step["checks"])
    assert all(step["command"] and step["checks"] and step["result"] for step in steps)
    assert not list(tmp_path.glob("lamina-tour-*"))
    assert not vault.exists()


def test_the_tour_prints_commands_results_and_three_next_ones(cli: Cli) -> None:
    ran = cli("tour", "--keep")
    assert ran.code == 0
    kept = Path(next(line.split(" in ")[1] for line in ran.out.splitlines() if "is kept in" in line))
    try:
        assert "\n$ lamina recall " in ran.out
        assert "all of them true" in ran.out
        assert "✗" not in ran.out
        assert ran.out.rpartition("next:")[2].count("\n  lamina ") == 3
        assert cli("list", "--vault", str(kept)).code == 0
    finally:
        shutil.rmtree(kept.parent)


def test_a_claim_that_fails_fails_the_tour(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.cli.story.DROPPED", "A note about something else.\n")
    ran = cli("tour")
    assert ran.code == 1
    assert "✗ FAILED: the note is found" in ran.out
    assert "some claims failed" in ran.out
