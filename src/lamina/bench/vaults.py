"""Fresh vaults for a benchmark, opened as any program would, and what filling and asking them costs."""

from __future__ import annotations

import re
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from lamina import FixedClock, Hit, InvalidInput, Memory, Settings
from lamina.bench.metrics import quantile

Progress = Callable[[str, int, int], None]
"""Told what is being done, how far it is, and how much there is."""

_MEGABYTE = 1_000_000


class Vaults:
    """Makes one vault after the other and adds up what they cost. `keep` is a folder they stay in."""

    def __init__(self, *, light: bool = False, keep: Path | None = None) -> None:
        self._settings = _settings(light)
        self._keep = keep
        self._items, self._capturing, self._filling = 0, 0.0, 0.0
        self._asking: list[float] = []
        self._bytes = 0
        self._models: set[str] = set()

    @contextmanager
    def fresh(self, name: str, at: datetime) -> Iterator[Desk]:
        """A new vault whose clock stands at a moment; gone at the end unless it is to be kept."""
        folder = self._folder(name)
        try:
            clock = FixedClock(at)
            with Memory(folder, self._settings.scope, clock=clock, watch=False, settings=self._settings) as memory:
                yield Desk(memory, clock, self)
            self._bytes += sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        finally:
            if self._keep is None:
                shutil.rmtree(folder, ignore_errors=True)

    def filled(self, items: int, captured: float, ready: float) -> None:
        """Count what went into a vault: the seconds until it was acknowledged, and until it was all encoded."""
        self._items += items
        self._capturing += captured
        self._filling += ready

    def asked(self, seconds: float, model: str) -> None:
        """Count a question."""
        self._asking.append(1000 * seconds)
        self._models.add(model)

    def speed(self) -> dict[str, float]:
        """What it cost, all vaults together."""
        return {
            "items": self._items,
            "capture_items_per_s": round(self._items / max(self._capturing, 1e-9), 1),
            "ingest_items_per_s": round(self._items / max(self._filling, 1e-9), 1),
            **self._recalled(),
            "disk_mb": round(self._bytes / _MEGABYTE, 2),
            "peak_rss_mb": round(_peak_rss() / _MEGABYTE, 1),
        }

    def _recalled(self) -> dict[str, float]:
        if not self._asking:
            return {}
        return {f"recall_p{share}_ms": round(quantile(self._asking, share / 100), 2) for share in (50, 95)}

    def settings(self) -> dict[str, Any]:
        """The memory's settings, without places and secrets, and the model its answers were found with."""
        chosen = {name: value for name, value in self._settings if not isinstance(value, Path | SecretStr)}
        return {**chosen, "model": ", ".join(sorted(self._models))}

    def _folder(self, name: str) -> Path:
        if self._keep is None:
            return Path(tempfile.mkdtemp(prefix="lamina-bench-"))
        folder = self._keep / re.sub(r"[^\w.-]+", "-", name)
        if folder.exists() and any(folder.iterdir()):
            raise InvalidInput(f"{folder} is not empty; name a folder for fresh vaults")
        return folder


class Desk:
    """An open vault, its clock in our hand."""

    def __init__(self, memory: Memory, clock: FixedClock, vaults: Vaults) -> None:
        self.memory, self.clock = memory, clock
        self._vaults = vaults

    @contextmanager
    def filling(self, items: int, progress: Progress) -> Iterator[None]:
        """Write inside; at the end everything is encoded."""
        began = time.perf_counter()
        yield
        captured = time.perf_counter() - began
        _ready(self.memory, progress)
        self._vaults.filled(items, captured, time.perf_counter() - began)

    def warm_up(self) -> None:
        """Let what is read at the first question be read before a question is timed."""
        self.memory.recall("Is anything there?")

    def ask(self, question: str, k: int, at: datetime) -> tuple[Hit, ...]:
        """The hits of a question asked at a moment."""
        self.clock.at = at
        began = time.perf_counter()
        found = self.memory.recall(question, k=k)
        self._vaults.asked(time.perf_counter() - began, found.model)
        return found.hits


def _ready(memory: Memory, progress: Progress) -> None:
    """Wait until every passage can be found by every channel."""
    memory.embed(progress)


def _settings(light: bool) -> Settings:
    """The user's own, but in a scope and a place where nothing else is.

    Passages are encoded by us, not in the background: a question must not be asked before the last one is.
    """
    chosen: dict[str, Any] = {"embedder": "light"} if light else {}
    return Settings(scope="org:bench", watch=False, background=False, state_dir=None, **chosen)


def _peak_rss() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
