"""`lamina bench precision`: the tiers of an answer, what a case expects of them, and beliefs told to a memory."""

from __future__ import annotations

from pathlib import Path

from benchmark_files import beliefs

from benchmarks.bench_vaults import BenchVaults
from benchmarks.precision_benchmark import run
from benchmarks.precision_data import load_precision_data
from benchmarks.precision_tiers import AnswerTiers, ExpectedTiers
from command_result import Cli


def expected(**relevant: object) -> ExpectedTiers:
    return ExpectedTiers.parse({"relevantBeliefs": relevant})


def test_required_facts_may_be_pinned_but_an_exact_set_may_not() -> None:
    tiers = AnswerTiers(pinned=("a",), relevant=("b",))
    assert expected(mustInclude=["a", "b"]).faults(tiers) == []
    assert expected(mustExclude=["a"]).faults(tiers) == ["relevant shows a"]
    assert expected(shouldOnlyInclude=["b"]).faults(tiers) == []
    assert expected(shouldOnlyInclude=["a", "b"]).faults(tiers) == ["relevant lacks a"]
    assert expected(shouldOnlyInclude=[]).faults(tiers) == ["relevant also shows b"]


def test_order_and_counts_are_over_the_relevant_tier() -> None:
    tiers = AnswerTiers(relevant=("a", "b"))
    assert expected(orderedBefore=[["a", "b"]]).faults(tiers) == []
    assert expected(orderedBefore=[["b", "a"]]).faults(tiers) == ["relevant does not show b before a"]
    assert expected(minCount=3).faults(tiers) == ["relevant shows 2"]
    assert expected(maxCount=2).faults(tiers) == []


def test_precision_and_recall_are_over_the_expected_facts() -> None:
    wanted = expected(shouldOnlyInclude=["a", "b"])
    assert (wanted.precision(AnswerTiers(relevant=("a", "c"))), wanted.recall(AnswerTiers(relevant=("a", "c")))) == (
        0.5,
        0.5,
    )
    assert (wanted.precision(AnswerTiers()), wanted.recall(AnswerTiers())) == (0.0, 0.0)
    nothing = expected(shouldOnlyInclude=[])
    assert (nothing.precision(AnswerTiers()), nothing.recall(AnswerTiers())) == (None, None)
    assert nothing.precision(AnswerTiers(relevant=("a",))) == 0.0
    assert (wanted.needs_hits, nothing.needs_hits) == (True, False)


def test_pinned_facts_fill_the_remaining_budget() -> None:
    tiers = AnswerTiers(("a", "b"), ("c", "d"), ("q",))
    assert tiers.within(3) == AnswerTiers(("a", "b"), ("c",), ("q",))
    assert tiers.within(1) == AnswerTiers(("a",), (), ("q",))
    assert tiers.within(None) == tiers


def test_beliefs_become_a_memory_with_three_tiers(tmp_path: Path) -> None:
    data, _ = load_precision_data(beliefs(tmp_path / "data"))
    sheet = run(data, BenchVaults(), lambda text, count, total: None)
    rows = {row.case.id: row for row in sheet.rows}
    alias = rows["alias"].tiers
    assert (alias.pinned, alias.questions) == (("b-new",), ("b-open",))
    assert "b-cat" in alias.relevant
    assert "b-secret" not in alias.relevant
    assert rows["chain"].faults == ()
    assert rows["empty"].tiers.pinned == ()


def test_feedback_in_a_session_affects_its_later_queries(tmp_path: Path) -> None:
    data, _ = load_precision_data(beliefs(tmp_path / "data"))
    sheet = run(data, BenchVaults(), lambda text, count, total: None)
    relevants = [row.tiers.relevant for row in sheet.turns]
    assert "b-cat" in relevants[0]
    assert "b-dog" in relevants[1]
    assert "b-cat" in relevants[2]
    assert len(sheet.strays) == 2


def test_passes_are_reported_by_category(cli: Cli, tmp_path: Path) -> None:
    data = cli("bench", "precision", "--data", str(beliefs(tmp_path / "data")), "--json", "--failures").data
    assert data["overall"]["retrieval"]["n"] == 3
    assert data["overall"]["supersession"] == {"n": 1, "passed": 1}
    assert data["overall"]["active"]["n"] == 1
    assert data["overall"]["sessions"]["n"] == 3
    assert set(data["categories"]) == {"Alias resolution", "Supersession chain exclusion", "Boundary"}


def test_a_folder_without_the_files_is_a_usage_error(cli: Cli, tmp_path: Path) -> None:
    result = cli("bench", "precision", "--data", str(tmp_path))
    assert (result.code, "is not a PrecisionMemBench file" in result.err) == (2, True)
