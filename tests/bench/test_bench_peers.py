from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from benchmarks.peer_benchmark import PeerMeasurement
from command_result import Cli


def figures(recall: float, p50: float) -> dict[str, float]:
    return {"recall_at_10": recall, "p50_ms": p50, "p95_ms": 2 * p50, "cpu_ms": p50}


def measured(**options: dict[str, dict[str, float]]) -> PeerMeasurement:
    built = {name: {"version": "1", "build_s": 1.0, "ram_mb": 1.0, "disk_mb": 1.0} for name in options}
    return PeerMeasurement({}, built, options)


def test_engines_get_the_same_questions_in_separate_processes(cli: Cli) -> None:
    data = cli("bench", "peers", "--sizes", "2000", "--questions", "20", "--only", "numpy", "--json").data
    engines = data["categories"]["2000"]
    assert set(engines) == {"lamina", "numpy"}
    assert engines["numpy"]["settings"]["exact"]["recall_at_10"] == 100
    assert engines["lamina"]["settings"][""]["recall_at_10"] >= 99
    assert all(engine["build_s"] > 0 and engine["disk_mb"] > 3 for engine in engines.values())
    assert data["overall"]["2000 numpy"]["figure"] > 0
    assert data["settings"]["runs"][0]["threads"] == 1


def test_an_engine_that_is_not_installed_is_reported(cli: Cli, tmp_path: Path) -> None:
    if importlib.util.find_spec("usearch"):
        pytest.skip("usearch is installed here")
    chart = tmp_path / "peers.svg"
    result = cli(
        "bench", "peers", "--sizes", "1000", "--questions", "10", "--only", "usearch,numpy", "--chart", str(chart)
    )
    assert result.code == 0
    assert "usearch: not run: No module named 'usearch'" in result.out
    assert "times ours" in result.out
    assert "numpy" in chart.read_text(encoding="utf-8")


def test_an_unknown_engine_is_a_usage_error(cli: Cli) -> None:
    result = cli("bench", "peers", "--only", "abacus")
    assert (result.code, "no engine is called 'abacus'" in result.err) == (2, True)


def test_engines_are_compared_at_their_fastest_setting_of_equal_recall() -> None:
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
    assert {name: item["holds"] for name, item in result.bars().items()} == {
        "graph": True,
        "flat": False,
        "coarse": True,
    }


def test_the_chart_shows_the_fastest_settings() -> None:
    result = measured(lamina={"": figures(100, 2.0)}, flat={"exact": figures(100, 1.0)}, bad={"": figures(1, 1.0)})
    assert result.chart() == {"lamina": {"speed": 50}, "flat": {"speed": 100}, "bad": {"speed": 0}}


def test_every_engine_and_setting_has_a_row() -> None:
    rows = measured(lamina={"": figures(100, 2.0)}, graph={"ef 1": figures(90, 1.0), "ef 2": figures(95, 4.0)}).rows()
    assert [row[0] for row in rows] == ["lamina 1", "graph 1 ef 1", "graph 1 ef 2"]
    assert [row[5] for row in rows] == ["1.00", "0.50", "2.00"]
