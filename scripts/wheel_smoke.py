"""Build the wheel, install it into a bare virtual environment, and use it there as a newcomer would.

    python scripts/wheel_smoke.py

The environment has the run-time dependencies and nothing else: no development packages, and no checkout on the import
path. Packages come from pip's cache where it has them. The first check that fails ends the script with exit code 1.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
FORBIDDEN = re.compile(r"^(tests|benchmarks|training|scripts)/|(^|/)(test_|conftest)[^/]*$")
"""Files of the repository that are not for users."""
DEVELOPMENT_ONLY = ("pytest", "mypy", "hypothesis", "fastapi", "mcp", "benchmarks")


class CheckFailed(Exception):
    """The installed package does not do what it should; the message says what was expected."""


def main() -> int:
    """Run all checks in a temporary folder; return 1 and print the reason if one fails."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lamina-wheel-") as name:
        folder = Path(name)
        try:
            wheel = build_wheel(folder)
            check_contents(wheel)
            environment = InstalledPackage(folder, wheel)
            check_bare(environment)
            check_vault(environment)
            check_repository_commands(environment)
        except CheckFailed as failure:
            sys.stderr.write(f"wheel: {failure}\n")
            return 1
    sys.stdout.write(f"wheel: {wheel.name} works in a bare environment ({time.monotonic() - started:.0f} s)\n")
    return 0


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into the folder; return its path."""
    _run([*PIP, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)], folder, os.environ)
    return next(folder.glob("*.whl"))


def check_contents(wheel: Path) -> None:
    """Fail if files of the repository that are not for users are in the wheel, or the models are missing."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    forbidden = [name for name in names if FORBIDDEN.search(name)]
    _expect(not forbidden, f"not for users, but in the wheel: {', '.join(forbidden[:5])}")
    for needed in ("lamina/py.typed", "lamina/cli/app.py"):
        _expect(needed in names, f"{needed} is missing in the wheel")


class InstalledPackage:
    """A virtual environment without pip that has the wheel and its run-time dependencies."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        """Create the environment and install the wheel, with the versions of the lock file."""
        self._programs = folder / "environment" / "bin"
        self._user = folder / "user"
        self._user.mkdir()
        _run([sys.executable, "-m", "venv", "--without-pip", str(folder / "environment")], folder, os.environ)
        install = ["install", "--no-compile", "--constraint", str(ROOT / "requirements.lock"), str(wheel)]
        _run([*PIP, "--python", str(self._programs / "python"), *install], folder, os.environ)

    def lamina(self, *words: str, status: int = 0) -> str:
        """Run a command of lamina; return what it printed. Fail if it ends with another exit code."""
        return self._start([str(self._programs / "lamina"), *words], status)

    def can_import(self, name: str) -> bool:
        """Return whether the environment has a module of this name."""
        code = f"from importlib.util import find_spec; print(find_spec({name!r}) is not None)"
        return self._start([str(self._programs / "python"), "-c", code], 0).strip() == "True"

    def _start(self, command: list[str], status: int) -> str:
        inherited = ("PATH", "LANG", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        variables = {name: os.environ[name] for name in inherited if name in os.environ}
        # No model is downloaded here: recall by words is enough to see that the package works.
        variables |= {"HOME": str(self._user), "LAMINA_EMBEDDER": "none", "COLUMNS": "200"}
        return _run(command, self._user, variables, status)


def check_bare(environment: InstalledPackage) -> None:
    """Fail if the environment is not bare: the checks would prove nothing."""
    present = [name for name in DEVELOPMENT_ONLY if environment.can_import(name)]
    _expect(not present, f"not bare, it has {', '.join(present)}")


def check_vault(environment: InstalledPackage) -> None:
    """Make a vault, write a statement and a conversation, find both, and have the vault checked."""
    version = environment.lamina("--version").split()[-1]
    _expect(f'version = "{version}"' in (ROOT / "pyproject.toml").read_text("utf-8"), f"version {version} is unknown")
    environment.lamina("init")
    environment.lamina("remember", "The staging database listens on port 5433.", "--subject", "staging")
    environment.lamina("capture", "Ann: We moved the release to Thursday.")
    for question, words in (("port of the staging database", "5433"), ("when is the release", "Thursday")):
        hits = json.loads(environment.lamina("recall", question, "--json"))["hits"]
        _expect(bool(hits) and words in json.dumps(hits[0]), f"{question!r} did not find {words!r} first")
    environment.lamina("doctor")


def check_repository_commands(environment: InstalledPackage) -> None:
    """Fail unless the commands that need a checkout say so."""
    for command in ("bench", "tour"):
        message = " ".join(environment.lamina(command, status=3).split())
        expected = f"run `lamina {command}` in the folder of a checkout"
        _expect(expected in message, f"lamina {command} does not say how to get the checkout: {message}")


def _run(command: list[str], folder: Path, variables: Mapping[str, str], status: int = 0) -> str:
    """Run a program; return its output and errors. Fail with them if it ends with another exit code."""
    ran = subprocess.run(command, cwd=folder, env=dict(variables), capture_output=True, text=True, check=False)
    shown = " ".join([Path(command[0]).name, *command[1:]])
    _expect(ran.returncode == status, f"{shown}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr if status else ran.stdout


def _expect(is_met: bool, message: str) -> None:
    if not is_met:
        raise CheckFailed(message)


if __name__ == "__main__":
    raise SystemExit(main())
