"""Benchmarks and tour are found in a checkout, and elsewhere a message says where they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lamina
from lamina.cli.repository_checkout import find_checkout

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the package as a wheel would, away from any checkout."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(
        Path(lamina.__file__).parent,
        folder / "copy" / "lamina",
        ignore=shutil.ignore_patterns("weights", "static", "__pycache__"),
    )
    return folder / "copy"


def _run(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed), "HOME": str(installed.parent)}
    # -P: the working folder is not on the import path, as for the installed command.
    command = [sys.executable, "-P", "-m", "lamina", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_checkout_of_the_package_precedes_the_working_folder(tmp_path: Path) -> None:
    for root in ("one", "two"):
        for package in ("benchmarks", "src/lamina"):
            (tmp_path / root / package).mkdir(parents=True)
            (tmp_path / root / package / "__init__.py").touch()
    one, two, away = tmp_path / "one", tmp_path / "two", tmp_path
    assert find_checkout(one / "src" / "lamina", two) == one
    assert find_checkout(away / "lib" / "site-packages" / "lamina", two) == two
    assert find_checkout(away / "lib" / "site-packages" / "lamina", away) is None


@pytest.mark.parametrize("command", ["bench", "tour"])
def test_without_a_checkout_the_error_says_where_to_find_one(installed: Path, tmp_path: Path, command: str) -> None:
    process = _run(installed, tmp_path, command)
    assert process.returncode == 3
    assert "in the repository of lamina" in process.stderr
    assert f"run `lamina {command}` in the folder of a checkout" in " ".join(process.stderr.split())
    assert "Traceback" not in process.stderr


def test_a_newcomer_without_a_checkout_is_not_offered_the_tour(installed: Path, tmp_path: Path) -> None:
    process = _run(installed, tmp_path)
    assert "lamina try" in process.stdout
    assert "lamina tour" not in process.stdout + _run(installed, tmp_path, "list").stderr


def test_in_the_folder_of_a_checkout_the_benchmarks_run(installed: Path) -> None:
    process = _run(installed, ROOT, "bench", "--help")
    assert process.returncode == 0, process.stderr
    assert "longmemeval" in process.stdout
