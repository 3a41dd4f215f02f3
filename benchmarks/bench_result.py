"""The result of a benchmark: one document, the same for all of them."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lamina


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The figures of one run, in percent, and the settings they were measured with."""

    bench: str
    data_sha256: str | None
    settings: Mapping[str, Any]
    overall: Mapping[str, Any]
    categories: Mapping[str, Any]
    speed: Mapping[str, float]

    def document(self) -> dict[str, Any]:
        """Return the result as a JSON document."""
        return {
            "bench": self.bench,
            "commit": current_commit(),
            "data_sha256": self.data_sha256,
            "settings": dict(self.settings),
            "overall": dict(self.overall),
            "categories": dict(self.categories),
            "speed": dict(self.speed),
        }


def current_commit() -> str:
    """Return the commit of the checkout that lamina runs from, with `-dirty` if files differ; of a package, its
    version.
    """
    package_folder = Path(lamina.__file__).parent
    try:
        _git(package_folder, "ls-files", "--error-unmatch", "__init__.py")
        differs = _git(package_folder, "status", "--porcelain", "--", ".", str(Path(__file__).parent))
        return _git(package_folder, "rev-parse", "HEAD") + ("-dirty" if differs else "")
    except (OSError, subprocess.CalledProcessError):
        return lamina.__version__


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
