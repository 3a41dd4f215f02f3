"""What a benchmark tells: one document, the same for all of them."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lamina


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of one run, in percent, and what they were measured with."""

    bench: str
    data_sha256: str | None
    settings: Mapping[str, Any]
    overall: Mapping[str, Any]
    categories: Mapping[str, Any]
    speed: Mapping[str, float]

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "bench": self.bench,
            "commit": commit(),
            "data_sha256": self.data_sha256,
            "settings": dict(self.settings),
            "overall": dict(self.overall),
            "categories": dict(self.categories),
            "speed": dict(self.speed),
        }


def commit() -> str:
    """The commit of the checkout lamina runs from, `-dirty` where files differ; of a package, its version."""
    here = Path(lamina.__file__).parent
    try:
        _git(here, "ls-files", "--error-unmatch", "__init__.py")
        differs = _git(here, "status", "--porcelain", "--", ".")
        return _git(here, "rev-parse", "HEAD") + ("-dirty" if differs else "")
    except (OSError, subprocess.CalledProcessError):
        return lamina.__version__


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
