from __future__ import annotations

from pathlib import Path

import pytest
from local_models import STORE, needs_minilm
from typer.testing import CliRunner

from command_result import CommandResult
from lamina.cli.models import app
from lamina.models.model_files import ALL_FILES, MINILM_WEIGHTS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAMINA_MODELS_DIR", str(tmp_path / "models"))
    return tmp_path / "models"


def run(*words: str) -> CommandResult:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    return CommandResult(result.exit_code, result.stdout, result.stderr)


def states(result: CommandResult) -> dict[str, str]:
    return {row["file"]: row["state"] for row in result.data["files"] if row["model"].startswith("all-MiniLM")}


def test_missing_files_are_listed_with_how_to_get_them(folder: Path) -> None:
    result = run()
    assert result.code == 0
    assert "missing" in result.out
    assert "lamina models download" in result.out
    assert states(run("--json")) == {file.name: "missing" for file in ALL_FILES}
    assert not folder.exists()


def test_a_vault_may_store_its_models_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAMINA_MODELS_DIR", raising=False)
    settings = tmp_path / "vault" / ".lamina" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'models_dir = "{tmp_path}/big disk"', encoding="utf-8")
    assert run("--vault", str(tmp_path / "vault"), "--json").data["folder"] == f"{tmp_path}/big disk"


@needs_minilm
def test_files_are_added_listed_checked_and_damage_is_detected(folder: Path) -> None:
    assert run("add", str(STORE.folder), "--json").data == {
        "folder": str(folder),
        "added": ["model_quantized.onnx", "tokenizer.json"],
        "missing": [],
    }
    assert set(states(run("--json")).values()) == {"present"}
    assert set(states(run("--check", "--json")).values()) == {"verified"}
    assert "already" in run("add", str(STORE.folder)).out
    assert "already" in run("download").out
    place = folder / MINILM_WEIGHTS.sha256
    place.write_bytes(b"x" * MINILM_WEIGHTS.size)
    assert run("--json").code == 0
    damaged = run("--check", "--json")
    assert damaged.code == 1
    assert states(damaged)[MINILM_WEIGHTS.name] == "damaged"


def test_a_folder_without_the_files_is_reported(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = run("add", str(tmp_path / "empty"))
    assert result.code == 1
    assert "still missing: tokenizer.json" in result.out


def test_a_missing_folder_is_a_one_line_error(folder: Path, tmp_path: Path) -> None:
    result = run("add", str(tmp_path / "nowhere"))
    assert result.code == 1
    assert "is not a folder" in result.err


def test_a_download_without_a_network_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    result = run("download")
    assert result.code == 1
    assert "lamina models add FOLDER" in result.err


def test_every_option_has_help() -> None:
    for words in (["--help"], ["add", "--help"], ["download", "--help"]):
        assert run(*words).code == 0
