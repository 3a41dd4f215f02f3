from __future__ import annotations

from pathlib import Path

import pytest
from models_here import STORE, needs_minilm
from typer.testing import CliRunner

from lamina.cli.models import app
from lamina.models.model_files import ALL_FILES, MINILM_WEIGHTS
from terminal import Ran


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAMINA_MODELS_DIR", str(tmp_path / "models"))
    return tmp_path / "models"


def run(*words: str) -> Ran:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    return Ran(result.exit_code, result.stdout, result.stderr)


def states(ran: Ran) -> dict[str, str]:
    return {row["file"]: row["state"] for row in ran.data["files"] if row["model"].startswith("all-MiniLM")}


def test_what_is_missing_is_shown_with_how_to_get_it(folder: Path) -> None:
    ran = run()
    assert ran.code == 0
    assert "missing" in ran.out
    assert "lamina models download" in ran.out
    assert states(run("--json")) == {file.name: "missing" for file in ALL_FILES}
    assert not folder.exists()


def test_a_vault_may_keep_its_models_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAMINA_MODELS_DIR", raising=False)
    settings = tmp_path / "vault" / ".lamina" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'models_dir = "{tmp_path}/big disk"', encoding="utf-8")
    assert run("--vault", str(tmp_path / "vault"), "--json").data["folder"] == f"{tmp_path}/big disk"


@needs_minilm
def test_files_are_added_shown_checked_and_found_damaged(folder: Path) -> None:
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


def test_a_folder_without_the_files_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = run("add", str(tmp_path / "empty"))
    assert ran.code == 1
    assert "still missing: tokenizer.json" in ran.out


def test_no_folder_is_an_error_of_one_line(folder: Path, tmp_path: Path) -> None:
    ran = run("add", str(tmp_path / "nowhere"))
    assert ran.code == 1
    assert "is not a folder" in ran.err


def test_a_download_without_a_network_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    ran = run("download")
    assert ran.code == 1
    assert "lamina models add FOLDER" in ran.err


def test_every_option_has_help() -> None:
    for words in (["--help"], ["add", "--help"], ["download", "--help"]):
        assert run(*words).code == 0
