"""`lamina bench staleness`: which evidence ranks first, and which statements are linked."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from benchmark_files import BEAM, LOCOMO, OVERTAKEN, write

import lamina
from benchmarks import beam, longmemeval
from benchmarks.staleness_benchmark import StalenessRow, StalenessSheet
from benchmarks.statement_links import find_links
from command_result import Cli
from lamina import FixedClock


def test_evidence_is_listed_oldest_first_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    (question,), _ = longmemeval.load(write(tmp_path / "o.json", OVERTAKEN), pooled=False)
    assert list(map(set, question.questions[0].turn_groups)) == [{"sooner/0"}, {"later/0"}]
    (chat,), _ = beam.load(write(tmp_path / "b.json", BEAM))
    assert [list(map(set, question.turn_groups)) for question in chat.questions] == [
        [{"chat-7/0"}],
        [{"chat-7/0"}, {"chat-7/2"}],
    ]


def test_only_the_newest_evidence_found_counts_as_ordered_and_none_found_does_not() -> None:
    ranks = [(1, 2), (2, 1), (3, None), (None, 1), (None, None)]
    rows = [StalenessRow("k", newest, older, stated=False, linked=False) for newest, older in ranks]
    assert [row.in_order for row in rows] == [True, False, True, False, False]
    result = StalenessSheet(rows).overall()["all"]
    assert (result["n"], result["newest first"], result["newest found"], result["older found"]) == (5, 40, 60, 60)
    assert result["newest first of found"] == 66.7


def test_outdated_evidence_is_requested(cli: Cli, tmp_path: Path) -> None:
    data = cli("bench", "staleness", "--data", str(write(tmp_path / "o.json", OVERTAKEN)), "--json").data
    assert data["overall"]["all"]["n"] == 1
    assert data["categories"]["knowledge-update"]["newest found"] == 100


def test_links_of_any_conversation_can_be_exported(cli: Cli, tmp_path: Path) -> None:
    links = tmp_path / "links.json"
    result = cli(
        "bench", "staleness", "--data", str(write(tmp_path / "l.json", LOCOMO)), "--links", str(links), "--json"
    )
    assert result.data["overall"]["all"]["n"] == 0
    assert isinstance(json.loads(links.read_text(encoding="utf-8")), list)


def test_a_link_has_the_text_of_both_sides_and_its_grade(tmp_path: Path) -> None:
    clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, background=False) as memory:
        memory.remember("Ann lives in Oslo", subject="Ann", attribute="city", value="Oslo")
        clock.at = datetime(2026, 2, 1, tzinfo=UTC)
        memory.remember("Ann lives in Rome", subject="Ann", attribute="city", value="Rome")
        tea, coffee = (memory.remember(f"Ann drinks {name}").atom.id for name in ("tea", "coffee"))
        memory.relate(coffee, "contradicts", tea, 0.5)
        memory.forget(memory.remember("The gate squeaks").atom.id, "she asked")
        result = {
            (link.description["grade"], *link.description["old"]): link.description for link in find_links(memory)
        }
    assert set(result) == {("high", "Ann lives in Oslo"), ("low", "Ann drinks tea"), ("taken back", "The gate squeaks")}
    assert result["high", "Ann lives in Oslo"]["new"] == ["Ann lives in Rome"]
    assert result["high", "Ann lives in Oslo"]["new_said"] == "2026-02-01T00:00:00Z"
    assert result["taken back", "The gate squeaks"]["reason"] == "she asked"
