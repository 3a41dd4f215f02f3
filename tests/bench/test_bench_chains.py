"""`lamina bench chains`: the hits of a chain's questions are judged as documented, and the command runs over a file."""

from __future__ import annotations

from pathlib import Path

from benchmark_files import CHAINS, NATURAL, write

from benchmarks.chain_scores import (
    ChainQuestion,
    ChainRow,
    ChainSheet,
    ChainVerdict,
    describe_failure,
    judge,
    names_value,
)
from benchmarks.change_chain_benchmark import load_chains
from benchmarks.change_checks import ShownHit
from command_result import Cli

QUESTION = ChainQuestion("Which boat do I sail?", "The Puffin", ("Sea Wren",))
PUFFIN, WREN = ShownHit("I sail the Puffin"), ShownHit("I sail Sea Wren")
FLAGGED, OTHER = ShownHit("I sail Sea Wren", flagged=True), ShownHit("Cold morning")
BOTH = ShownHit("I sold Sea Wren and sail the Puffin")


def passes(*hits: ShownHit) -> set[str]:
    verdict = judge(QUESTION, hits)
    return {name for name in ("first", "top3", "clean", "order") if getattr(verdict, name)}


def test_a_value_is_recognised_with_or_without_article_and_punctuation() -> None:
    assert names_value("We took Puffin, again", "The Puffin")
    assert names_value("ost-wind II", "Ost Wind II")
    assert not names_value("We took the ferry", "The Puffin")


def test_an_earlier_value_may_appear_only_flagged_or_in_the_sentence_of_the_change() -> None:
    assert passes(PUFFIN, OTHER) == {"first", "top3", "clean", "order"}
    assert passes(PUFFIN, FLAGGED) == {"first", "top3", "clean", "order"}
    assert passes(BOTH) == {"first", "top3", "clean", "order"}
    assert passes(PUFFIN, WREN) == {"first", "top3", "order"}
    assert passes(FLAGGED, PUFFIN) == {"top3", "clean", "order"}
    assert passes(WREN, PUFFIN) == {"top3"}


def test_ranks_are_cut_at_three_for_current_and_at_five_for_earlier_values() -> None:
    assert passes(PUFFIN, OTHER, OTHER, OTHER, OTHER, WREN) == {"first", "top3", "clean", "order"}
    assert passes(OTHER, OTHER, OTHER, PUFFIN) == {"order"}
    assert passes(OTHER, WREN) == set()
    assert passes() == set()


def test_shares_are_over_chains_and_link_rates_over_earlier_values() -> None:
    good, bad = ChainVerdict(True, True, True, True), ChainVerdict(False, True, False, True)
    rows = [
        ChainRow("one", "a", QUESTION, (PUFFIN,), good, good, (True, False)),
        ChainRow("one", "b", QUESTION, (OTHER, BOTH), bad, None, (False,)),
        ChainRow("two", "c", QUESTION, (PUFFIN,), good, bad, (False,)),
    ]
    sheet = ChainSheet(rows)
    assert sheet.overall() == {
        "current": {"n": 3, "first": 66.7, "top 3": 100.0, "clean": 66.7, "order": 100.0},
        "then": {"n": 2, "top 3": 100.0, "clean": 50.0},
        "earlier values": {"n": 4, "linked": 25.0},
    }
    assert sheet.files()["one"]["current"]["first"] == 50.0
    (failure,) = sheet.failures()
    assert describe_failure(failure).startswith("one b [not first, clean] Which boat do I sail?")


def test_a_chain_with_fewer_sessions_than_values_is_skipped(tmp_path: Path) -> None:
    chains, digests = load_chains([write(tmp_path / "boats.json.gz", CHAINS)])
    (chain,) = chains["boats"]
    assert (chain.id, chain.current.others, chain.sessions[1].day.isoformat()) == (
        "boat",
        ("Sea Wren",),
        "2025-02-03T09:00:00+00:00",
    )
    assert chain.then is not None
    assert (chain.then.others, chain.then.as_of) == (("The Puffin",), "2024-06-01")
    assert list(digests) == ["boats.json.gz"]


def test_the_command_asks_for_the_current_and_the_earlier_value(cli: Cli, tmp_path: Path) -> None:
    document = cli("bench", "chains", str(write(tmp_path / "boats.json", CHAINS)), "--json").data
    figures = document["overall"]
    assert document["categories"] == {"boats": figures}
    assert (figures["current"]["n"], figures["current"]["top 3"]) == (1, 100.0)
    assert figures["then"] == {"n": 1, "top 3": 100.0, "clean": 100.0}
    assert figures["earlier values"]["n"] == 1
    assert document["speed"]["items"] == 3


def test_both_runs_are_shown_side_by_side_and_in_a_chart(cli: Cli, tmp_path: Path) -> None:
    file, chart = write(tmp_path / "boats.json", CHAINS), tmp_path / "chains.svg"
    result = cli("bench", "chains", str(file), "--compare", "--chart", str(chart))
    assert result.code == 0
    assert all(words in result.out for words in ("with model / without model", "100.0 / 100.0", "earlier values, n"))
    assert "clean, without model" in chart.read_text(encoding="utf-8")


def test_a_file_of_another_format_is_refused_with_the_reason(cli: Cli, tmp_path: Path) -> None:
    wrong = cli("bench", "chains", str(write(tmp_path / "wrong.json", NATURAL)))
    assert (wrong.code, "is not a chain file" in wrong.err) == (2, True)
    file = str(write(tmp_path / "boats.json", CHAINS))
    twice = cli("bench", "chains", file, file)
    assert (twice.code, "two files are called 'boats'" in twice.err) == (2, True)
