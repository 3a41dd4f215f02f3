from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from benchmark_files import LOCOMO, write

from benchmarks.compression_benchmark import CODED, Compression, run
from benchmarks.compression_vectors import WIDTH, make_vector_sets
from benchmarks.min_max_quantisation import penalise_precision, quantise_min_max
from command_result import Cli

SETS = ["gaussian", "spiky", "one-hot-like", "one large dimension", "clustered"]
SMALL = ("--vectors", "200", "--questions", "5")


@pytest.fixture(scope="module")
def report() -> Compression:
    return run(None, False, 2000, 60, 1, lambda text: None)


def test_generated_vectors_have_length_one_and_repeat_for_a_seed() -> None:
    for one, other, third in zip(
        make_vector_sets(50, 5, 1), make_vector_sets(50, 5, 1), make_vector_sets(50, 5, 2), strict=True
    ):
        assert one.vectors.shape == (50, WIDTH)
        assert np.linalg.norm(one.vectors, axis=1) == pytest.approx(1, abs=1e-6)
        assert one.vectors.tobytes() == other.vectors.tobytes() != third.vectors.tobytes()
    assert [len(item.questions) for item in make_vector_sets(50, 5, 1)] == [0, 0, 0, 0, 5]


def test_min_max_rounds_down_between_the_smallest_and_the_largest_value() -> None:
    vectors = np.array([[0, 1, 2, 3], [-1, 0, 0.5, 5], [2, 2, 2, 2]], np.float32)
    assert quantise_min_max(vectors, 2).tolist() == [[0, 1, 2, 3], [-1, -1, -1, 5], [2, 2, 2, 2]]
    assert np.abs(quantise_min_max(vectors, 8) - vectors).max() < 6 / 255


def test_the_usual_ranking_lowers_the_cosines_of_coarse_vectors() -> None:
    near = np.array([0.5], np.float32)
    assert penalise_precision(near, 32)[0] == 0.5
    assert penalise_precision(near, 8)[0] == pytest.approx(0.5 / 1.07)
    assert penalise_precision(near, 2)[0] == pytest.approx(0.5 / 1.63)


def test_every_shape_keeps_its_direction(report: Compression) -> None:
    assert list(report.fidelity) == SETS
    bars = report.bars()
    for bits in CODED:
        for name in ("ratio at 384 dimensions", "mean cosine", "least cosine"):
            assert bars[f"{name}, {bits} bits"]["holds"]
    for name in ("gaussian", "spiky", "one large dimension", "clustered"):
        assert all(row["mean"] > row["min-max mean"] for row in report.fidelity[name].values())


def test_one_ranking_over_all_precisions_finds_more_than_scaled_cosines(report: Compression) -> None:
    (figures,) = report.recall.values()
    assert figures["mixed"] >= 0.90
    assert figures["mixed"] >= max(figures["min-max mixed"], figures["mixed, decoded"]) + 0.20
    assert figures["2 bits, rescored"] >= 0.995


def test_a_threshold_reports_the_worst_set_and_whether_it_is_met() -> None:
    row = {"ratio": 4.0, "mean": 1.0, "least": 1.0, "min-max mean": 0.5, "min-max least": 0.5}
    poor = {**row, "mean": 0.9, "least": 0.2, "min-max mean": 0.95}
    compression = Compression({}, fidelity={"good": dict.fromkeys(CODED, row), "poor": dict.fromkeys(CODED, poor)})
    bars = compression.bars()
    assert bars["mean cosine, 4 bits"] == {"figure": 0.9, "bar": "≥ 0.995", "holds": False}
    assert bars["least cosine, 2 bits"]["figure"] == 0.2
    assert bars["mean cosine ahead of min-max, 2 bits"]["holds"] is False
    assert bars["ratio at 384 dimensions, 8 bits"]["holds"] is True


def test_the_command_prints_tables_json_and_a_chart(cli: Cli, tmp_path: Path) -> None:
    chart = tmp_path / "compression.svg"
    result = cli("bench", "compression", "--chart", str(chart), "--json", *SMALL)
    assert set(result.data) == {"bench", "commit", "data_sha256", "settings", "overall", "categories", "speed"}
    assert list(result.data["categories"]["fidelity"]) == SETS
    assert set(result.data["categories"]["fidelity"]["spiky"]) == {"8 bits", "4 bits", "2 bits"}
    assert result.data["settings"]["rescored"] == 40
    assert "only generated vectors" in result.err
    assert re.search(r"<svg.*min-max.*clustered", chart.read_text(encoding="utf-8"), re.DOTALL)


def test_turns_and_questions_of_a_file_are_measured_first(cli: Cli, tmp_path: Path) -> None:
    result = cli("bench", "compression", "--data", str(write(tmp_path / "l.json", LOCOMO)), "--light", *SMALL)
    if "model is not installed" in result.err:
        pytest.skip("there are no light vectors in this installation")
    assert result.code == 0
    assert re.search(r"recall@10 +┃ \w", result.out)
    assert len(re.findall(r"holds", result.out)) == 1
