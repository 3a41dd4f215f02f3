"""`lamina bench change`: scripts are played as they stand, and their checks judged by the rules of the data."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from benchmark_files import CHANGE, LOCOMO, ORACLE, write

import lamina
from benchmarks.change_benchmark import sample_unrelated_sessions
from benchmarks.change_checks import ChangeCheck, CheckSheet, CheckVerdict, ShownHit
from benchmarks.change_script import AskStep, CaptureStep, MaintainStep, load_scripts
from command_result import Cli
from lamina.errors import InvalidInput

PASSED, MISSED = (
    CheckVerdict(strict=True, primary=True, lenient=True),
    CheckVerdict(strict=False, primary=False, lenient=False),
)


def check(rule: str = "current", **fields: object) -> ChangeCheck:
    return ChangeCheck.parse(
        {
            "id": "k",
            "type": "t",
            "rule": rule,
            "tier": "core",
            "query": "q",
            "expect_k": 3,
            "reject_k": 5,
            "expect": ["Rome"],
            "reject": ["Oslo"],
            **fields,
        }
    )


def test_the_old_value_beside_the_new_one_passes_the_primary_reading_and_alone_fails_both() -> None:
    rome, oslo = ShownHit("She lives in Rome"), ShownHit("She lives in Oslo")
    assert check().judge([rome]) == PASSED
    assert check().judge([rome, oslo]) == MISSED
    assert check().judge([ShownHit("From Oslo to Rome")]) == CheckVerdict(strict=False, primary=True, lenient=True)
    assert check().judge([rome, ShownHit("Oslo", flagged=True)]) == CheckVerdict(
        strict=False, primary=False, lenient=True
    )
    assert check(strict=True).judge([ShownHit("From Oslo to Rome")]) == MISSED


def test_values_match_as_whole_words_whatever_their_case_and_quotes() -> None:
    assert check(expect=["o'neil"], reject=[]).judge([ShownHit("Ask  O\u2019NEIL today")]) == PASSED
    assert check(expect=["Rom"], reject=[]).judge([ShownHit("Rome")]) == MISSED


def test_a_flagged_hit_answers_only_questions_about_the_past() -> None:
    hits = [ShownHit("Rome", flagged=True)]
    assert check().judge(hits) == MISSED
    assert check("as_of").judge(hits) == PASSED


def test_an_answer_below_the_cutoff_does_not_count() -> None:
    assert check().judge([ShownHit("a"), ShownHit("b"), ShownHit("c"), ShownHit("Rome")]) == MISSED
    assert check(expect=[]).judge([ShownHit(letter) for letter in "abcde"] + [ShownHit("Oslo")]) == PASSED


def test_one_of_several_values_is_enough_where_any_is_accepted() -> None:
    any_of = check(expect=[], expect_any=["Rome", "Milan"], reject=[])
    assert any_of.judge([ShownHit("Milan")]) == PASSED
    assert any_of.judge([ShownHit("Turin")]) == MISSED


def test_an_order_check_allows_the_old_value_below_the_new_one() -> None:
    assert check("order").judge([ShownHit("Rome"), ShownHit("Oslo")]) == CheckVerdict(
        strict=False, primary=True, lenient=True
    )
    assert check("order").judge([ShownHit("Oslo"), ShownHit("Rome")]) == MISSED
    assert check("order").judge([ShownHit("Rome", flagged=True), ShownHit("Oslo")]) == MISSED


def test_a_value_that_must_be_flagged_may_be_absent() -> None:
    wanted = check("flag", expect=[], reject=[], flag=["Rome"])
    assert wanted.judge([]) == PASSED
    assert wanted.judge([ShownHit("Rome", flagged=True)]) == PASSED
    assert wanted.judge([ShownHit("Rome", flagged=True), ShownHit("Rome")]) == MISSED


def test_means_are_over_types_and_exclude_other_tiers() -> None:
    sheet, before = CheckSheet(), {"k": MISSED}
    sheet.add("one", check(type="a"), [ShownHit("Rome")], {})
    sheet.add("one", check(type="a"), [ShownHit("Oslo")], {})
    sheet.add("two", check(type="b"), [ShownHit("Rome")], {})
    sheet.add("two", check(type="b", tier="hard"), [ShownHit("Rome")], {})
    sheet.add("three", check(type="b", tier="gate", requires="k"), [ShownHit("Rome")], before)
    result = sheet.overall()
    assert result["macro"]["primary"] == 75
    assert result["micro"]["primary"] == 66.7
    assert result["scenarios"]["primary"] == 50
    assert result["types"]["a"] == {"n": 2, "strict": 50, "primary": 50, "lenient": 50}
    assert result["hard_primary"] == "1/1"
    assert [row.scenario for row in sheet.failures()] == ["one", "three"]


def test_a_script_is_read_in_order_and_its_scopes_stay_separate(tmp_path: Path) -> None:
    (script,), _ = load_scripts(write(tmp_path / "change.json", CHANGE))
    kinds = [type(step) for step in script.steps]
    assert kinds == [CaptureStep, CaptureStep, CaptureStep, MaintainStep, AskStep, AskStep, AskStep, AskStep]
    first, second = script.steps[0], script.steps[1]
    assert isinstance(first, CaptureStep)
    assert isinstance(second, CaptureStep)
    assert first.session.scope == "org:bench" != second.session.scope
    assert (first.session.origin, second.session.origin) == ("human", "document")
    assert [(turn.speaker, turn.role) for turn in first.session.session.turns] == [
        ("Ann", None),
        (None, "assistant"),
        ("Ben", None),
    ]
    assert first.session.ended == datetime(2025, 1, 10, 10, 3, tzinfo=UTC)
    result = script.steps[6]
    assert isinstance(result, AskStep)
    assert result.as_of == datetime(2025, 1, 10, 23, 59, 59, 999000, tzinfo=UTC)


def test_scripts_are_replayed_and_judged(cli: Cli, tmp_path: Path) -> None:
    data = cli("bench", "change", "--data", str(write(tmp_path / "change.json", CHANGE)), "--json").data
    assert data["overall"]["macro"] == {"strict": 100, "primary": 100, "lenient": 100}
    assert set(data["overall"]["types"]) == {"current_value", "scope", "history"}
    assert data["overall"]["hard_primary"] == "0/1"
    assert data["speed"]["items"] == 7


def test_failures_are_reported_with_their_hits(cli: Cli, tmp_path: Path) -> None:
    result = cli("bench", "change", "--data", str(write(tmp_path / "change.json", CHANGE)), "--failures")
    assert "k4 [current_value, current, hard] Where is the office?" in result.out
    assert "expect@3=['Kiel']" in result.out
    assert "k1 [" not in result.out


def test_unrelated_sessions_precede_the_scenario(cli: Cli, tmp_path: Path) -> None:
    file, talk = write(tmp_path / "change.json", CHANGE), write(tmp_path / "talk.json", ORACLE)
    keep = tmp_path / "kept"
    data = cli(
        "bench", "change", "--data", str(file), "--noise", str(talk), "--sessions", "2", "--keep", str(keep), "--json"
    ).data
    assert data["settings"]["sessions"] == 2
    assert data["overall"]["types"]["current_value"]["primary"] == 100
    with lamina.open(keep / "moved", "org:bench", watch=False, background=False) as memory:
        sessions = {atom.session_id or "" for atom in memory.list(kind="narrative", status=None)}
    assert sorted(sessions - {"s1"}) == ["unrelated s1", "unrelated s3"]


def test_more_unrelated_sessions_than_available_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has 3 sessions, not 4"):
        sample_unrelated_sessions(write(tmp_path / "talk.json", ORACLE), 4)


def test_a_file_of_another_format_is_a_usage_error(cli: Cli, tmp_path: Path) -> None:
    result = cli("bench", "change", "--data", str(write(tmp_path / "wrong.json", LOCOMO)))
    assert (result.code, "is not a change file" in result.err) == (2, True)
