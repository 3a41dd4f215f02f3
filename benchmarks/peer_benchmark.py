"""`lamina bench peers`: compare vector search engines on the same vectors, questions and processors.

Each runs in its own process, and all are asked in turns, some questions in each round, so that other load on the
machine affects all of them. Engines that are not installed in the given interpreter are reported as missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import vector_engines
from benchmarks.chart import Groups
from benchmarks.ranking_metrics import quantile
from benchmarks.vector_sources import ExactNeighbours, VectorSource
from lamina.errors import LaminaError

Say = Callable[[str], None]

OURS = ("lamina", "numpy")
"""What runs in lamina's own interpreter."""
ROUNDS = 5
RECALL_TOLERANCE = 0.1
"""Points of recall by which an engine may be below ours and still count as equal."""
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "LANCE_CPU_THREADS",
    "LANCE_IO_THREADS",
)


@dataclass(slots=True)
class PeerMeasurement:
    """A measurement: the build cost of each engine, and recall and speed of each engine and setting."""

    settings: dict[str, Any]
    built: dict[str, dict[str, Any]] = field(default_factory=dict)
    results: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def ours(self) -> Mapping[str, float]:
        """Return lamina's figures."""
        return next(iter(self.results["lamina"].values()))

    def ratios(self) -> dict[str, dict[str, Any]]:
        """Return how many times as long each other engine takes at equal recall, and at which setting; None if it never
        reaches it.
        """
        ratios: dict[str, dict[str, Any]] = {}
        for name, settings in self.results.items():
            equal = [
                (figures["p50_ms"] / self.ours["p50_ms"], setting)
                for setting, figures in settings.items()
                if figures["recall_at_10"] >= self.ours["recall_at_10"] - RECALL_TOLERANCE
            ]
            if name != "lamina":
                ratio, setting = min(equal, default=(None, None))
                ratios[name] = {"times_ours": ratio, "setting": setting}
        return ratios

    def figures(self) -> dict[str, dict[str, Any]]:
        """Return all figures by engine."""
        named = {name: {**self.built[name], "settings": settings} for name, settings in self.results.items()}
        return named | {name: {"missing": why} for name, why in self.missing.items()}

    def rows(self) -> list[list[str]]:
        """Return a table row for each engine and setting."""
        rows = []
        for name, settings in self.results.items():
            built = self.built[name]
            for setting, figures in settings.items():
                rows.append(
                    [
                        f"{name} {built['version']} {setting}".strip(),
                        f"{figures['recall_at_10']:.2f}",
                        f"{figures['p50_ms']:.2f}",
                        f"{figures['p95_ms']:.2f}",
                        f"{figures['cpu_ms']:.2f}",
                        f"{figures['p50_ms'] / self.ours['p50_ms']:.2f}",
                        f"{built['build_s']:.1f}",
                        f"{built['ram_mb']:.0f}",
                        f"{built['disk_mb']:.0f}",
                    ]
                )
        return rows

    def chart(self) -> Groups:
        """Return the speed of each engine at equal recall, with the fastest as 100; 0 if it never
        reaches the recall.
        """
        times = {"lamina": 1.0} | {name: ratio["times_ours"] for name, ratio in self.ratios().items()}
        fastest = min(time for time in times.values() if time is not None)
        return {name: {"speed": 100 * fastest / ratio if ratio else 0.0} for name, ratio in times.items()}

    def bars(self) -> dict[str, dict[str, Any]]:
        """Return whether lamina is the fastest at equal recall; an engine that never reaches it does not compete."""
        ratios = {name: ratio["times_ours"] for name, ratio in self.ratios().items()}
        return {
            name: {"figure": ratio, "bar": "> 1", "holds": ratio is None or ratio > 1} for name, ratio in ratios.items()
        }


def run(source: VectorSource, names: Sequence[str], python: str, threads: int, say: Say) -> PeerMeasurement:
    """Build every engine, then ask all of them in turns; `python` is the interpreter that has the other engines."""
    result = PeerMeasurement(
        {
            "size": source.size,
            "questions": len(source.questions),
            "threads": threads,
            "vectors": source.name,
            "load": os.getloadavg()[0],
        }
    )
    with TemporaryDirectory(prefix="lamina-peers-") as place, ExitStack() as stack:
        folder = Path(place)
        truth = _write(source, folder)
        running: dict[str, _EngineProcess] = {}
        for name in dict.fromkeys(("lamina", *names)):
            say(f"building {name}")
            child = _EngineProcess(name, folder, sys.executable if name in OURS else python, threads)
            stack.callback(child.end)
            answer = child.answer("built")
            if "missing" in answer:
                result.missing[name] = answer["missing"]
            else:
                running[name], result.built[name] = child, answer
        _ask(running, truth, result, say)
    return result


def _write(source: VectorSource, folder: Path) -> ExactNeighbours:
    shape = (source.size, source.questions.shape[1])
    mapped = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float32, shape=shape)
    truth = ExactNeighbours(source.questions)
    for block in source.blocks():
        mapped[truth.count : truth.count + len(block)] = block
        truth.add_block(block)
    mapped.flush()
    np.save(folder / "questions.npy", source.questions)
    return truth


def _ask(running: Mapping[str, _EngineProcess], truth: ExactNeighbours, result: PeerMeasurement, say: Say) -> None:
    count = len(truth.questions)
    edges = [count * n // ROUNDS for n in range(ROUNDS + 1)]
    answers: dict[str, dict[str, list[Any]]] = {name: {} for name in running}
    for first, last in pairwise(edges):
        say(f"asking questions {first + 1} to {last}")
        for name, child in running.items():
            for setting, answer in child.ask(first, last).items():
                answers[name].setdefault(setting, []).append(answer)
    for name, settings in answers.items():
        result.results[name] = {setting: _figures(rounds, truth) for setting, rounds in settings.items()}


def _figures(rounds: Sequence[Mapping[str, Any]], truth: ExactNeighbours) -> dict[str, float]:
    took, cpu, rows = (
        [value for answers in rounds for value in answers[name]] for name in ("took_ms", "cpu_ms", "found")
    )
    return {
        "recall_at_10": truth.share(rows),
        "p50_ms": quantile(took, 0.5),
        "p95_ms": quantile(took, 0.95),
        "least_ms": min(took),
        "cpu_ms": quantile(cpu, 0.5),
    }


class _EngineProcess:
    """A process that runs one engine."""

    def __init__(self, name: str, folder: Path, python: str, threads: int) -> None:
        self._name, self._folder = name, folder
        environment = {**os.environ, **dict.fromkeys(_THREADS, str(threads))}
        command = [python, "-I", vector_engines.__file__, name, str(folder), str(threads)]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=environment, text=True)

    def ask(self, first: int, last: int) -> dict[str, Any]:
        """Return its answers to some questions, by setting."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{first} {last}\n")
        self._process.stdin.flush()
        return self.answer(str(first))

    def answer(self, name: str) -> dict[str, Any]:
        """Wait until it is done, and return what it wrote; LaminaError if it ended."""
        assert self._process.stdout is not None
        if not any(line.strip() == "done" for line in self._process.stdout):
            raise LaminaError(f"{self._name} ended with {self._process.wait()}; leave it out with --only")
        answer: dict[str, Any] = json.loads((self._folder / f"{self._name}-{name}.json").read_text(encoding="utf-8"))
        return answer

    def end(self) -> None:
        """Close its pipes and wait until it ends."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()
