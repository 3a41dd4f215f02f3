from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from lamina.bench.peer_benchmark import PeerMeasurement
from terminal import Cli


def figures(recall: float, p50: float) -> dict[str, float]:
    return {"recall_at_10": recall, "p50_ms": p50, "p95_ms": 2 * p50, "cpu_ms": p50}


def measured(**asked: dict[str, dict[str, float]]) -> PeerMeasurement:
    built = {name: {"version": "1", "build_s": 1.0, "ram_mb": 1.0, "disk_mb": 1.0} for name in asked}
    return PeerMeasurement({}, built, asked)


def test_engines_are_asked_the_same_in_processes_of_their_own(cli: Cli) -> None:
    told = cli("bench", "peers", "--sizes", "2000", "--questions", "20", "--only", "numpy", "--json").data
    engines = told["categories"]["2000"]
    assert set(engines) == {"lamina", "numpy"}
    assert engines["numpy"]["settings"]["exact"]["recall_at_10"] == 100
    assert engines["lamina"]["settings"][""]["recall_at_10"] >= 99
    assert all(engine["build_s"] > 0 and engine["disk_mb"] > 3 for engine in engines.values())
    assert told["overall"]["2000 numpy"]["figure"] > 0
    assert told["settings"]["runs"][0]["threads"] == 1


def test_an_engine_that_is_not_there_is_told_as_such(cli: Cli, tmp_path: Path) -> None:
    if importlib.util.find_spec("usearch"):
        pytest.skip("usearch is installed here")
    chart = tmp_path / "peers.svg"
    ran = cli(
        "bench", "peers", "--sizes", "1000", "--questions", "10", "--only", "usearch,numpy", "--chart", str(chart)
    )
    assert ran.code == 0
    assert "usearch: not run: No module named 'usearch'" in ran.out
    assert "times ours" in ran.out
    assert "numpy" in chart.read_text(encoding="utf-8")


def test_an_engine_nobody_knows_is_a_usage_error(cli: Cli) -> None:
    ran = cli("bench", "peers", "--only", "abacus")
    assert (ran.code, "no engine is called 'abacus'" in ran.err) == (2, True)


def test_others_are_compared_at_the_fastest_setting_that_finds_as_much() -> None:
    result = measured(
        lamina={"": figures(99.9, 2.0)},
        graph={"ef 1": figures(95, 0.5), "ef 2": figures(99.85, 3.0), "ef 3": figures(100, 6.0)},
        flat={"exact": figures(100, 1.0)},
        coarse={"": figures(99.7, 0.1)},
    )
    assert result.ratios() == {
        "graph": {"times_ours": 1.5, "setting": "ef 2"},
        "flat": {"times_ours": 0.5, "setting": "exact"},
        "coarse": {"times_ours": None, "setting": None},
    }
    assert {name: each["holds"] for name, each in result.bars().items()} == {
        "graph": True,
        "flat": False,
        "coarse": True,
    }


def test_the_chart_takes_the_fastest_for_the_whole() -> None:
    result = measured(lamina={"": figures(100, 2.0)}, flat={"exact": figures(100, 1.0)}, bad={"": figures(1, 1.0)})
    assert result.chart() == {"lamina": {"speed": 50}, "flat": {"speed": 100}, "bad": {"speed": 0}}


def test_every_engine_and_setting_has_a_line() -> None:
    rows = measured(lamina={"": figures(100, 2.0)}, graph={"ef 1": figures(90, 1.0), "ef 2": figures(95, 4.0)}).rows()
    assert [row[0] for row in rows] == ["lamina 1", "graph 1 ef 1", "graph 1 ef 2"]
    assert [row[5] for row in rows] == ["1.00", "0.50", "2.00"]
