from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from benchmark_files import BEAM, FACTS, HEADS, LOCOMO, ORACLE, SCIFACT, write

from command_result import Cli

FIGURES = {"n", "R@1", "R@5", "R@10", "R@20", "NDCG@10", "MRR", "Hit@5", "Hit@10", "All@5", "All@10"}
COSTS = {
    "items",
    "capture_items_per_s",
    "ingest_items_per_s",
    "ingest_cpu_ms_per_item",
    "recall_p50_ms",
    "recall_p95_ms",
    "recall_cpu_p50_ms",
    "disk_mb",
    "peak_rss_mb",
}


def test_locomo_reports_each_category_and_excludes_the_adversarial_one_from_overall(cli: Cli, tmp_path: Path) -> None:
    file = write(tmp_path / "locomo.json", LOCOMO)
    data = cli("bench", "locomo", "--data", str(file), "--json").data
    assert set(data) == {"bench", "commit", "data_sha256", "settings", "overall", "categories", "speed"}
    assert data["bench"] == "locomo"
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?|\d+\.\d+\.\d+", data["commit"])
    assert data["data_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert set(data["overall"]["turn"]) == set(data["overall"]["session"]) == FIGURES
    assert data["overall"]["turn"]["n"] == 3
    assert set(data["categories"]) == {"single-hop", "multi-hop", "temporal", "adversarial"}
    assert data["categories"]["adversarial"]["turn"]["R@1"] == 100
    assert data["overall"]["turn"]["R@5"] == 100
    assert set(data["speed"]) == COSTS
    assert data["speed"]["items"] == 6
    assert data["settings"]["k"] == 100
    assert data["settings"]["model"]


def test_merged_conversations_share_one_vault(cli: Cli, tmp_path: Path) -> None:
    file, keep = write(tmp_path / "locomo.json", LOCOMO), tmp_path / "kept"
    data = cli("bench", "locomo", "--data", str(file), "--merged", "--keep", str(keep), "--json").data
    assert [folder.name for folder in keep.iterdir()] == ["merged"]
    assert data["settings"]["merged"] is True
    assert data["overall"]["turn"]["n"] == 3


def test_kept_vaults_are_ordinary_ones_and_are_not_written_again(cli: Cli, tmp_path: Path) -> None:
    file, keep = write(tmp_path / "locomo.json", LOCOMO), tmp_path / "kept"
    assert cli("bench", "locomo", "--data", str(file), "--keep", str(keep), "--limit", "1").code == 0
    assert [folder.name for folder in keep.iterdir()] == ["conv-1"]
    result = cli("recall", "greyhound", "--vault", str(keep / "conv-1"), "--scope", "org:bench")
    assert "greyhound called Pixel" in result.out
    again = cli("bench", "locomo", "--data", str(file), "--keep", str(keep))
    assert (again.code, "not empty" in again.err) == (2, True)


def test_a_pool_is_scored_by_turns_and_sessions(cli: Cli, tmp_path: Path) -> None:
    data = cli("bench", "longmemeval", "--data", str(write(tmp_path / "o.json", ORACLE)), "--json").data
    assert data["overall"]["turn"]["n"] == data["overall"]["session"]["n"] == 2
    assert data["categories"]["single-session-assistant"]["turn"]["R@1"] == 100
    assert data["categories"]["multi-session"]["session"]["All@5"] == 100


def test_session_heads_are_scored_by_sessions_alone(cli: Cli, tmp_path: Path) -> None:
    data = cli("bench", "longmemeval", "--data", str(write(tmp_path / "h.json", HEADS)), "--json").data
    assert set(data["overall"]) == {"session"}
    assert data["categories"]["single-session-user"]["session"]["R@1"] == 100
    assert data["categories"]["knowledge-update"]["session"]["Hit@5"] == 100


def test_a_beam_message_is_a_turn(cli: Cli, tmp_path: Path) -> None:
    data = cli("bench", "beam", "--data", str(write(tmp_path / "b.json", BEAM)), "--json").data
    assert data["overall"]["turn"]["n"] == 2
    assert data["categories"]["information_extraction"]["turn"]["R@1"] == 100


def test_a_scifact_document_is_one_unit_whatever_its_length(cli: Cli, tmp_path: Path) -> None:
    data = cli("bench", "scifact", "--data", str(write(tmp_path / "s.json", SCIFACT)), "--json").data
    assert data["overall"]["turn"] == data["overall"]["session"]
    assert data["overall"]["turn"]["NDCG@10"] == 100
    assert data["speed"]["items"] == 2


def test_fact_questions_are_answered_by_the_text_of_the_hits(cli: Cli, tmp_path: Path) -> None:
    data = cli("bench", "factconsolidation", "--data", str(write(tmp_path / "f.json", FACTS)), "--json").data
    assert data["overall"] == {"single_hop": {"n": 2, "top1": 50, "top5": 50}, "multi_hop": {"n": 1, "chain@10": 100}}
    assert set(data["categories"]) == {"single_hop_6k", "multi_hop_6k"}


@pytest.mark.parametrize("name", ["locomo", "factconsolidation"])
def test_without_json_the_output_is_tables(cli: Cli, tmp_path: Path, name: str) -> None:
    file = write(tmp_path / "data.json", LOCOMO if name == "locomo" else FACTS)
    result = cli("bench", name, "--data", str(file))
    words = (
        ("turn level", "session level", "NDCG@10", "adversarial", "overall")
        if name == "locomo"
        else ("top1", "chain@10")
    )
    assert result.code == 0
    assert all(word in result.out for word in (*words, "recall_p95_ms", "peak_rss_mb"))


def test_a_wrong_file_is_a_one_line_usage_error(cli: Cli, tmp_path: Path) -> None:
    result = cli("bench", "beam", "--data", str(write(tmp_path / "wrong.json", LOCOMO)))
    assert result.code == 2
    assert result.err.strip().splitlines()[-1].endswith("is not a BEAM file: it lacks 'id'")


def test_the_categories_are_drawn_as_a_chart(cli: Cli, tmp_path: Path) -> None:
    chart = tmp_path / "chart.svg"
    file = write(tmp_path / "locomo.json", LOCOMO)
    assert cli("bench", "locomo", "--data", str(file), "--chart", str(chart)).code == 0
    drawn = chart.read_text(encoding="utf-8")
    assert all(word in drawn for word in ("multi-hop", "overall", "R@5", "NDCG@10", "lamina bench locomo"))


def test_user_settings_do_not_affect_the_benchmark_vaults(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("LAMINA_SCOPE", "org:mine")
    data = cli("bench", "locomo", "--data", str(write(tmp_path / "l.json", LOCOMO)), "--json").data
    assert (data["settings"]["scope"], data["settings"]["state_dir"]) == ("org:bench", None)
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    "name",
    [
        "locomo",
        "longmemeval",
        "beam",
        "scifact",
        "factconsolidation",
        "speed",
        "change",
        "precision",
        "staleness",
        "capture",
        "year",
        "compression",
        "scale",
        "peers",
        "load",
        "natural",
        "chains",
    ],
)
def test_every_benchmark_has_an_example(cli: Cli, name: str) -> None:
    assert f"lamina bench {name}" in cli("bench", name, "--help").out
