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
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from pydantic import SecretStr

import lamina
from benchmarks.ranking_metrics import quantile
from lamina import FixedClock, Hit, InvalidInput, LaminaError, Memory, Receipt, Settings

Progress = Callable[[str, int, int], None]
"""Called with the current task, how far it is, and how much there is."""

SCOPE = "org:bench"
StateModel = Literal["auto", "off"]
_MEGABYTE = 1_000_000
_PATIENCE_S = 120


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """A chat model as in the setting `chat`, and its address if it is not the usual one."""

    model: str
    url: str | None = None


class BenchVaults:
    """Creates vaults and adds up what they cost.

    `keep` is a folder they stay in; `state_model` and `chat` override the user's settings, `chat` with a model and its
    address; `background` extracts in a thread, as a program with default settings does.
    """

    def __init__(
        self,
        *,
        light: bool = False,
        keep: Path | None = None,
        state_model: StateModel | None = None,
        background: bool = False,
        chat: ChatEndpoint | None = None,
    ) -> None:
        self._settings = _settings(light, state_model, background, chat)
        self._keep = keep
        self._items, self._capture_seconds, self._ingest_seconds, self._ingest_cpu_seconds = 0, 0.0, 0.0, 0.0
        self._recall_ms: list[float] = []
        self._recall_cpu_ms: list[float] = []
        self._bytes = 0
        self._models: set[str] = set()

    @contextmanager
    def fresh(self, name: str, at: datetime, copied: Path | None = None) -> Iterator[BenchVault]:
        """Yield a new vault, or a copy of a closed one, with its clock at a time; it is deleted at the
        end unless kept.
        """
        folder = self._folder(name)
        try:
            if copied is not None:
                shutil.copytree(copied, folder, dirs_exist_ok=True)
            with self.open_at(folder, at) as vault:
                yield vault
            self._bytes += sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        finally:
            if self._keep is None:
                shutil.rmtree(folder, ignore_errors=True)

    def open_at(self, folder: Path, at: datetime) -> BenchVault:
        """Return the vault in a folder with its clock at a time; the caller removes the folder."""
        return BenchVault(folder, FixedClock(at), self, self._settings)

    def warm_up(self) -> None:
        """Load the models in a temporary vault, so that no measured turn or question pays for it."""
        at = datetime(2026, 1, 1, tzinfo=UTC)
        with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder, self.open_at(Path(folder), at) as vault:
            vault.memory.capture([{"speaker": "Ann", "content": "I live in Bergen."}], session_id="s", wait=True)
            vault.memory.embed()
            vault.memory.recall("Where do I live?")

    def count_filled(self, items: int, captured: float, ready: float, cpu: float) -> None:
        """Count what was written: the seconds until acknowledged, until all was encoded, and of CPU."""
        self._items += items
        self._capture_seconds += captured
        self._ingest_seconds += ready
        self._ingest_cpu_seconds += cpu

    def count_question(self, seconds: float, cpu: float, model: str) -> None:
        """Count a question: its wall-clock and CPU seconds."""
        self._recall_ms.append(1000 * seconds)
        self._recall_cpu_ms.append(1000 * cpu)
        self._models.add(model)

    def speed(self) -> dict[str, float]:
        """Return the costs of all vaults together."""
        return {
            "items": self._items,
            "capture_items_per_s": round(self._items / max(self._capture_seconds, 1e-9), 1),
            "ingest_items_per_s": round(self._items / max(self._ingest_seconds, 1e-9), 1),
            "ingest_cpu_ms_per_item": round(1000 * self._ingest_cpu_seconds / max(self._items, 1), 2),
            **self._recall_figures(),
            "disk_mb": round(self._bytes / _MEGABYTE, 2),
            "peak_rss_mb": round(_peak_rss() / _MEGABYTE, 1),
        }

    def _recall_figures(self) -> dict[str, float]:
        if not self._recall_ms:
            return {}
        wall = {f"recall_p{share}_ms": round(quantile(self._recall_ms, share / 100), 2) for share in (50, 95)}
        return {**wall, "recall_cpu_p50_ms": round(quantile(self._recall_cpu_ms, 0.5), 2)}

    def settings(self) -> dict[str, Any]:
        """Return the memory's settings, without paths and secrets, and the models that answered."""
        chosen = {name: value for name, value in self._settings if not isinstance(value, Path | SecretStr)}
        return {**chosen, "model": ", ".join(sorted(self._models))}

    def _folder(self, name: str) -> Path:
        if self._keep is None:
            return Path(tempfile.mkdtemp(prefix="lamina-bench-"))
        folder = self._keep / re.sub(r"[^\w.-]+", "-", name)
        if folder.exists() and any(folder.iterdir()):
            raise InvalidInput(f"{folder} is not empty; name a folder for fresh vaults")
        return folder


class BenchVault:
    """An open vault with a controlled clock, and one memory for each scope."""

    def __init__(self, folder: Path, clock: FixedClock, vaults: BenchVaults, settings: Settings) -> None:
        self.clock = clock
        self._folder, self._vaults, self._settings = folder, vaults, settings
        self._memories: dict[str, Memory] = {}
        self.memory = self.memory_of(settings.scope)

    def memory_of(self, scope: str) -> Memory:
        """Return the memory of the same vault in a scope."""
        if scope not in self._memories:
            self._memories[scope] = lamina.open(
                self._folder, scope, clock=self.clock, watch=False, settings=self._settings
            )
        return self._memories[scope]

    def open_memories(self) -> tuple[Memory, ...]:
        """Return the memories of all scopes that were opened."""
        return tuple(self._memories.values())

    def __enter__(self) -> BenchVault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for memory in self.open_memories():
            memory.close()

    @contextmanager
    def filling(self, items: int, progress: Progress) -> Iterator[None]:
        """Write inside; at the end everything is encoded and counted."""
        began, cpu = time.perf_counter(), time.process_time()
        yield
        captured = time.perf_counter() - began
        for memory in self.open_memories():
            memory.embed(progress)
        self._vaults.count_filled(items, captured, time.perf_counter() - began, time.process_time() - cpu)

    def read_all(self) -> list[Receipt]:
        """Extract from all captured words, including those a background thread has taken; LaminaError on timeout.

        Returns the receipts of what was not read in the background.
        """
        receipts = self.memory.read_waiting()
        deadline = time.monotonic() + _PATIENCE_S
        while self.memory.waiting():
            if time.monotonic() > deadline:
                raise LaminaError(f"captured words were not read within {_PATIENCE_S} s")
            time.sleep(0.05)
        return receipts

    def warm_up(self) -> None:
        """Run a recall, so that nothing is loaded during the first timed question."""
        self.memory.recall("Is anything there?")

    def ask(
        self,
        question: str,
        k: int,
        at: datetime,
        memory: Memory | None = None,
        *,
        as_of: datetime | str | None = None,
        known_at: datetime | None = None,
    ) -> tuple[Hit, ...]:
        """Return the hits of a question asked at a time, in a memory of a scope, by default the vault's own."""
        self.clock.at = at
        began, cpu = time.perf_counter(), time.process_time()
        recall = (memory or self.memory).recall(question, k=k, as_of=as_of, known_at=known_at)
        self._vaults.count_question(time.perf_counter() - began, time.process_time() - cpu, recall.model)
        return recall.hits


def _settings(light: bool, state_model: StateModel | None, background: bool, chat: ChatEndpoint | None) -> Settings:
    """Return the user's settings, with a separate scope and state folder.

    The benchmark encodes passages itself, by default not in the background: no question may be asked before the last
    one is encoded.
    """
    chosen: dict[str, Any] = {"embedder": "light"} if light else {}
    if state_model is not None:
        chosen["state_model"] = state_model
    if chat is not None:
        chosen |= {"chat": chat.model} | ({"chat_url": chat.url} if chat.url else {})
    return Settings(scope=SCOPE, watch=False, background=background, state_dir=None, **chosen)


def _peak_rss() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
