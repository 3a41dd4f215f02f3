"""A suite goes on where it was stopped, with the same batches, and reports what it did."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import pytest
from torture_suite import Batch, Progress, Suite, Tally, batch_seed, run_batch, run_suite

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "torture.py"


def _throw_dice(batch: Batch) -> Tally:
    tally = Tally(runs=batch.count, counts={"eyes": sum(batch.random().choices(range(1, 7), k=batch.count))})
    tally.time("longest", batch.number)
    return tally


def _fail(batch: Batch) -> Tally:
    raise ValueError(f"seed {batch.seed}")


DICE = Suite("dice", "throws", 100, 10, _throw_dice)


@pytest.fixture
def threads() -> Executor:
    return ThreadPoolExecutor(1)


def test_a_resumed_run_equals_one_that_was_not_stopped(tmp_path: Path, threads: Executor) -> None:
    whole = run_suite(DICE, Progress("dice", 7, 100), threads, lanes=2)
    state = tmp_path / "dice.progress.json"
    first = run_suite(DICE, Progress("dice", 7, 35), threads, state=state)
    assert (first["runs"], first["complete"], first["batches"]) == (35, True, 4)
    stored = Progress.load(state)
    stored.count = 100
    rest = run_suite(DICE, stored, threads, state=state)
    assert (rest["runs"], rest["batches"], rest["longest"]) == (100, 11, {"longest": 10})
    assert (whole["runs"], whole["batches"], whole["longest"]) == (100, 10, {"longest": 9})
    again = run_suite(DICE, Progress("dice", 7, 100), threads)
    assert again["counts"] == whole["counts"]


def test_a_run_whose_time_is_over_does_no_more_and_is_not_complete(threads: Executor) -> None:
    report = run_suite(DICE, Progress("dice", 7, 100), threads, minutes=0)
    assert (report["runs"], report["complete"], report["bound"]) == (0, False, None)


def test_without_failures_the_report_has_the_rule_of_three(threads: Executor) -> None:
    report = run_suite(DICE, Progress("dice", 7, 100), threads)
    assert report["bound"] == pytest.approx(0.03)
    assert (report["seed"], report["failed"], len(report["commits"])) == (7, 0, 1)


def test_an_error_of_a_batch_is_a_failure_with_its_number_and_can_be_repeated(threads: Executor) -> None:
    suite = Suite("broken", "runs", 20, 10, _fail)
    report = run_suite(suite, Progress("broken", 7, 20), threads)
    assert (report["failed"], report["bound"]) == (2, None)
    assert report["failures"][1].startswith("batch 1: ValueError: seed ")
    assert run_batch(_fail, 1, 10, batch_seed(suite, 7, 1)).failures == [report["failures"][1]]


def test_reports_become_a_table_in_a_document(tmp_path: Path, threads: Executor) -> None:
    report = run_suite(Suite("kills", "kills", 100, 10, _throw_dice), Progress("kills", 7, 100), threads)
    (tmp_path / "kills.json").write_text(json.dumps(report))
    document = tmp_path / "page.md"
    document.write_text("Before\n<!-- reports -->\nold\n<!-- end of reports -->\nafter\n")
    command = [sys.executable, str(SCRIPT), "report", "--resume", str(tmp_path), "--write", str(document)]
    subprocess.run(command, check=True)
    lines = document.read_text().splitlines()
    assert (lines[0], lines[1], lines[-2], lines[-1]) == (
        "Before",
        "<!-- reports -->",
        "<!-- end of reports -->",
        "after",
    )
    assert lines[4].startswith("| kills | 100 kills | 0 | < 0.03 | ")
    assert "old" not in lines
