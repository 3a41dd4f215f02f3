"""`lamina bench change`: scripts are played as they stand, and their checks judged by the rules of the data."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from bench_files import CHANGE, LOCOMO, ORACLE, write

import lamina
from lamina.bench.change_benchmark import sample_unrelated_sessions
from lamina.bench.change_checks import ChangeCheck, CheckSheet, CheckVerdict, ShownHit
from lamina.bench.change_script import AskStep, CaptureStep, MaintainStep, load_scripts
from lamina.errors import InvalidInput
from terminal import Cli

HELD, MISSED = (
    CheckVerdict(strict=True, primary=True, lenient=True),
    CheckVerdict(strict=False, primary=False, lenient=False),
)


def check(rule: str = "current", **given: object) -> ChangeCheck:
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
            **given,
        }
    )


def test_the_old_value_beside_the_new_one_is_allowed_in_the_primary_reading_alone_by_itself_in_none() -> None:
    rome, oslo = ShownHit("She lives in Rome"), ShownHit("She lives in Oslo")
    assert check().judge([rome]) == HELD
    assert check().judge([rome, oslo]) == MISSED
    assert check().judge([ShownHit("From Oslo to Rome")]) == CheckVerdict(strict=False, primary=True, lenient=True)
    assert check().judge([rome, ShownHit("Oslo", flagged=True)]) == CheckVerdict(
        strict=False, primary=False, lenient=True
    )
    assert check(strict=True).judge([ShownHit("From Oslo to Rome")]) == MISSED


def test_values_are_whole_words_whatever_their_case_and_quotes() -> None:
    assert check(expect=["o'neil"], reject=[]).judge([ShownHit("Ask  O\u2019NEIL today")]) == HELD
    assert check(expect=["Rom"], reject=[]).judge([ShownHit("Rome")]) == MISSED


def test_a_flagged_hit_answers_only_a_question_about_the_past() -> None:
    hits = [ShownHit("Rome", flagged=True)]
    assert check().judge(hits) == MISSED
    assert check("as_of").judge(hits) == HELD


def test_an_answer_too_far_down_does_not_count() -> None:
    assert check().judge([ShownHit("a"), ShownHit("b"), ShownHit("c"), ShownHit("Rome")]) == MISSED
    assert check(expect=[]).judge([ShownHit(each) for each in "abcde"] + [ShownHit("Oslo")]) == HELD


def test_one_of_several_is_enough_where_any_will_do() -> None:
    any_of = check(expect=[], expect_any=["Rome", "Milan"], reject=[])
    assert any_of.judge([ShownHit("Milan")]) == HELD
    assert any_of.judge([ShownHit("Turin")]) == MISSED


def test_order_lets_the_old_value_stand_below() -> None:
    assert check("order").judge([ShownHit("Rome"), ShownHit("Oslo")]) == CheckVerdict(
        strict=False, primary=True, lenient=True
    )
    assert check("order").judge([ShownHit("Oslo"), ShownHit("Rome")]) == MISSED
    assert check("order").judge([ShownHit("Rome", flagged=True), ShownHit("Oslo")]) == MISSED


def test_a_value_to_be_flagged_may_be_absent() -> None:
    wanted = check("flag", expect=[], reject=[], flag=["Rome"])
    assert wanted.judge([]) == HELD
    assert wanted.judge([ShownHit("Rome", flagged=True)]) == HELD
    assert wanted.judge([ShownHit("Rome", flagged=True), ShownHit("Rome")]) == MISSED


def test_means_are_over_types_and_leave_other_tiers_out() -> None:
    sheet, before = CheckSheet(), {"k": MISSED}
    sheet.add("one", check(type="a"), [ShownHit("Rome")], {})
    sheet.add("one", check(type="a"), [ShownHit("Oslo")], {})
    sheet.add("two", check(type="b"), [ShownHit("Rome")], {})
    sheet.add("two", check(type="b", tier="hard"), [ShownHit("Rome")], {})
    sheet.add("three", check(type="b", tier="gate", requires="k"), [ShownHit("Rome")], before)
    told = sheet.overall()
    assert told["macro"]["primary"] == 75
    assert told["micro"]["primary"] == 66.7
    assert told["scenarios"]["primary"] == 50
    assert told["types"]["a"] == {"n": 2, "strict": 50, "primary": 50, "lenient": 50}
    assert told["hard_primary"] == "1/1"
    assert [row.scenario for row in sheet.failures()] == ["one", "three"]


def test_a_script_is_read_in_its_order_and_scopes_stay_apart(tmp_path: Path) -> None:
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
    asked = script.steps[6]
    assert isinstance(asked, AskStep)
    assert asked.as_of == datetime(2025, 1, 10, 23, 59, 59, 999000, tzinfo=UTC)


def test_scripts_are_played_and_judged(cli: Cli, tmp_path: Path) -> None:
    told = cli("bench", "change", "--data", str(write(tmp_path / "change.json", CHANGE)), "--json").data
    assert told["overall"]["macro"] == {"strict": 100, "primary": 100, "lenient": 100}
    assert set(told["overall"]["types"]) == {"current_value", "scope", "history"}
    assert told["overall"]["hard_primary"] == "0/1"
    assert told["speed"]["items"] == 7


def test_what_failed_is_told_with_its_hits(cli: Cli, tmp_path: Path) -> None:
    ran = cli("bench", "change", "--data", str(write(tmp_path / "change.json", CHANGE)), "--failures")
    assert "k4 [current_value, current, hard] Where is the office?" in ran.out
    assert "expect@3=['Kiel']" in ran.out
    assert "k1 [" not in ran.out


def test_unrelated_sessions_lie_before_the_scenario(cli: Cli, tmp_path: Path) -> None:
    file, talk = write(tmp_path / "change.json", CHANGE), write(tmp_path / "talk.json", ORACLE)
    keep = tmp_path / "kept"
    told = cli(
        "bench", "change", "--data", str(file), "--noise", str(talk), "--sessions", "2", "--keep", str(keep), "--json"
    ).data
    assert told["settings"]["sessions"] == 2
    assert told["overall"]["types"]["current_value"]["primary"] == 100
    with lamina.open(keep / "moved", "org:bench", watch=False, background=False) as memory:
        sessions = {atom.session_id or "" for atom in memory.list(kind="narrative")}
    assert sorted(sessions - {"s1"}) == ["unrelated s1", "unrelated s3"]


def test_more_unrelated_sessions_than_there_are_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has 3 sessions, not 4"):
        sample_unrelated_sessions(write(tmp_path / "talk.json", ORACLE), 4)


def test_a_file_of_another_kind_is_a_usage_error(cli: Cli, tmp_path: Path) -> None:
    ran = cli("bench", "change", "--data", str(write(tmp_path / "wrong.json", LOCOMO)))
    assert (ran.code, "is not a change file" in ran.err) == (2, True)
