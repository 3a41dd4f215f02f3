from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.scale_benchmark import ScaleMeasurement, exact_nearest, measure_vaults
from benchmarks.vector_sources import NEAREST, ExactNeighbours, file_source, generated_source
from benchmarks.vector_store import RESCORED, build_vector_store
from command_result import Cli
from lamina.errors import InvalidInput
from lamina.store.sqlite.in_memory_vectors import SearchLimits


def test_every_size_is_reported_with_its_cost_and_growth(cli: Cli) -> None:
    data = cli("bench", "scale", "--sizes", "1000,4000", "--questions", "20", "--json").data
    assert data["bench"] == "scale"
    assert set(data["categories"]) == {"1000", "4000"}
    for size, figures in data["categories"].items():
        assert figures["recall_at_10"] >= 97
        assert min(figures["filter_1_recall"], figures["filter_10_recall"]) >= 98
        assert figures["disk_mb"] > int(size) * 384 * 4 / 1e6
        assert 0 < figures["p50_ms"] <= figures["p95_ms"]
        assert figures["add_1000_ms"] > 0
    assert data["speed"]["held_mb 1,000 to 4,000"] == pytest.approx(1, abs=0.05)
    assert data["overall"] == {}
    assert (data["settings"]["vectors"], data["settings"]["seed"]) == ("made", 1)


def test_thresholds_are_reported_for_the_sizes_that_have_them() -> None:
    figures = {"p50_ms": 2.9, "recall_at_10": 98.9, "filter_1_p50_ms": 1.1, "filter_1_recall": 100, "add_1000_ms": 50}
    bars = ScaleMeasurement({}, {100_000: figures, 50_000: {}}).bars()
    assert {name: item["holds"] for name, item in bars.items()} == {
        "100,000 p50_ms": True,
        "100,000 recall_at_10": False,
        "100,000 filter_1_p50_ms": False,
        "100,000 filter_1_recall": True,
        "100,000 add_1000_ms": True,
    }


def test_without_json_the_output_is_tables_and_a_chart_on_request(cli: Cli, tmp_path: Path) -> None:
    chart = tmp_path / "scale.svg"
    result = cli("bench", "scale", "--sizes", "1000,2000", "--questions", "10", "--chart", str(chart))
    assert result.code == 0
    assert all(word in result.out for word in ("2,000", "recall_at_10", "filter_10_p50_ms", "grows by the power"))
    assert all(word in chart.read_text(encoding="utf-8") for word in ("1,000", "recall@10", "memory"))


@pytest.mark.parametrize(("sizes", "why"), [("many", "by commas"), ("10", "1,000 or more")])
def test_invalid_sizes_are_refused(cli: Cli, sizes: str, why: str) -> None:
    result = cli("bench", "scale", "--sizes", sizes)
    assert (result.code, why in result.err) == (2, True)


def test_vectors_of_a_file_are_searched_with_separate_queries(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "real.npy"
    np.save(file, np.random.default_rng(1).standard_normal((1020, 64)).astype(np.float32))
    data = cli("bench", "scale", "--sizes", "1000", "--questions", "20", "--vectors", str(file), "--json").data
    assert data["settings"]["vectors"] == "real.npy"
    assert data["categories"]["1000"]["disk_mb"] < 1
    result = cli("bench", "scale", "--sizes", "2000", "--questions", "20", "--vectors", str(file))
    assert (result.code, "must hold 2020 rows" in result.err) == (2, True)


def test_no_query_is_among_the_vectors_it_searches(tmp_path: Path) -> None:
    file = tmp_path / "few.npy"
    np.save(file, np.random.default_rng(2).standard_normal((30, 8)).astype(np.float32))
    source = file_source(file, 20, 10, 3)
    stored = np.concatenate(list(source.blocks()))
    assert (stored @ source.questions.T).max() < 0.9999
    with pytest.raises(InvalidInput):
        file_source(file, 21, 10, 3)


def test_generated_vectors_have_length_one_and_are_reproducible() -> None:
    source = generated_source(20_000, 5, 7)
    first, again = (np.concatenate(list(source.blocks())) for _ in range(2))
    assert first.shape == (20_000, 384)
    assert (first == again).all()
    assert np.linalg.norm(first, axis=1) == pytest.approx(1, abs=1e-5)
    assert (first != np.concatenate(list(generated_source(20_000, 5, 8).blocks()))).any()


def test_the_ground_truth_equals_a_comparison_with_every_vector() -> None:
    source = generated_source(40_000, 5, 9)
    truth, blocks = ExactNeighbours(source.questions), list(source.blocks())
    for block in blocks:
        truth.add_block(block)
    whole = np.concatenate(blocks)
    nearest = [exact_nearest(whole, question) for question in source.questions]
    assert [set(item) for item in truth.rows.tolist()] == [set(item) for item in nearest]
    assert truth.share(nearest) == 100
    assert truth.share([item[: NEAREST // 2] for item in nearest]) == 50


@pytest.mark.parametrize("large", [False, True], ids=["held whole", "held in two bits"])
@pytest.mark.parametrize("count", [7, RESCORED, 1500], ids=["a handful", "few", "more than are compared exactly"])
def test_a_filter_finds_the_nearest_of_the_admitted_vectors(tmp_path: Path, count: int, large: bool) -> None:
    source = generated_source(4000, 10, 11)
    table, whole, _ = build_vector_store(source, tmp_path, SearchLimits(scan_from=0 if large else 10**9))
    assert table.held < 4000 * 150 if large else table.held > 4000 * 384
    rows = np.sort(np.random.default_rng(12).choice(4000, count, replace=False))
    for question in source.questions:
        near = whole[rows] @ question
        result = set(table.nearest(question, rows)) & set(rows[np.argsort(-near)[:NEAREST]].tolist())
        # What is held whole is held in eight bits: the tenth may be the eleventh.
        assert len(result) >= min(count, NEAREST) - (0 if large else 1)


@pytest.mark.parametrize("drawn_from", [1000, 2000], ids=["generated vectors", "encoded texts"])
def test_whole_vaults_are_filled_opened_and_queried(drawn_from: int) -> None:
    result = ScaleMeasurement({})
    measure_vaults([1000], (), 10, 1, result, lambda text: None, drawn_from)
    whole = result.whole[1000]
    assert 0 < whole["recall_p50_ms"] <= whole["recall_p95_ms"]
    assert 0 < whole["open_s"] < whole["open_and_first_recall_s"]


def test_the_command_reports_whole_vaults(cli: Cli) -> None:
    data = cli("bench", "scale", "--sizes", "1000", "--questions", "10", "--passages", "1000", "--json").data
    whole = data["categories"]["whole recall, 1000"]
    assert whole["recall_p50_ms"] > 0
    bars = ScaleMeasurement({}, {}, {1_000_000: whole | {"open_mb": 501}}).bars()
    assert (bars["whole recall, 1,000,000 open_mb"]["holds"], len(bars)) == (False, 4)
