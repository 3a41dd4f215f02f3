"""`lamina bench precision`: the tiers of an answer, what a case expects of them, and beliefs told to a memory."""

from __future__ import annotations

from pathlib import Path

from bench_files import beliefs

from lamina.bench.bench_vaults import BenchVaults
from lamina.bench.precision_benchmark import run
from lamina.bench.precision_data import load_precision_data
from lamina.bench.precision_tiers import AnswerTiers, ExpectedTiers
from terminal import Cli


def expected(**relevant: object) -> ExpectedTiers:
    return ExpectedTiers.parse({"relevantBeliefs": relevant})


def test_what_must_be_there_may_be_pinned_but_an_exact_set_may_not() -> None:
    tiers = AnswerTiers(pinned=("a",), relevant=("b",))
    assert expected(mustInclude=["a", "b"]).faults(tiers) == []
    assert expected(mustExclude=["a"]).faults(tiers) == ["relevant shows a"]
    assert expected(shouldOnlyInclude=["b"]).faults(tiers) == []
    assert expected(shouldOnlyInclude=["a", "b"]).faults(tiers) == ["relevant lacks a"]
    assert expected(shouldOnlyInclude=[]).faults(tiers) == ["relevant also shows b"]


def test_order_and_counts_are_of_the_relevant_tier() -> None:
    tiers = AnswerTiers(relevant=("a", "b"))
    assert expected(orderedBefore=[["a", "b"]]).faults(tiers) == []
    assert expected(orderedBefore=[["b", "a"]]).faults(tiers) == ["relevant does not show b before a"]
    assert expected(minCount=3).faults(tiers) == ["relevant shows 2"]
    assert expected(maxCount=2).faults(tiers) == []


def test_precision_and_recall_are_of_what_is_wanted() -> None:
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


def test_pinned_facts_take_the_room_there_is() -> None:
    tiers = AnswerTiers(("a", "b"), ("c", "d"), ("q",))
    assert tiers.within(3) == AnswerTiers(("a", "b"), ("c",), ("q",))
    assert tiers.within(1) == AnswerTiers(("a",), (), ("q",))
    assert tiers.within(None) == tiers


def test_beliefs_become_a_memory_with_three_tiers(tmp_path: Path) -> None:
    data, _ = load_precision_data(beliefs(tmp_path / "data"))
    sheet = run(data, BenchVaults(), lambda text, done, total: None)
    rows = {row.case.id: row for row in sheet.rows}
    alias = rows["alias"].tiers
    assert (alias.pinned, alias.questions) == (("b-new",), ("b-open",))
    assert "b-cat" in alias.relevant
    assert "b-secret" not in alias.relevant
    assert rows["chain"].faults == ()
    assert rows["empty"].tiers.pinned == ()


def test_turns_of_a_session_teach_what_later_ones_find(tmp_path: Path) -> None:
    data, _ = load_precision_data(beliefs(tmp_path / "data"))
    sheet = run(data, BenchVaults(), lambda text, done, total: None)
    found = [row.tiers.relevant for row in sheet.turns]
    assert "b-cat" in found[0]
    assert "b-dog" in found[1]
    assert "b-cat" in found[2]
    assert len(sheet.strays) == 2


def test_passes_are_told_by_category(cli: Cli, tmp_path: Path) -> None:
    told = cli("bench", "precision", "--data", str(beliefs(tmp_path / "data")), "--json", "--failures").data
    assert told["overall"]["retrieval"]["n"] == 3
    assert told["overall"]["supersession"] == {"n": 1, "passed": 1}
    assert told["overall"]["active"]["n"] == 1
    assert told["overall"]["sessions"]["n"] == 3
    assert set(told["categories"]) == {"Alias resolution", "Supersession chain exclusion", "Boundary"}


def test_a_folder_without_the_files_is_a_usage_error(cli: Cli, tmp_path: Path) -> None:
    ran = cli("bench", "precision", "--data", str(tmp_path))
    assert (ran.code, "is not a PrecisionMemBench file" in ran.err) == (2, True)
