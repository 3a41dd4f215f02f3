"""`lamina bench peers`: engines that search vectors side by side, the same vectors, questions and processors.

Each runs in a process of its own, and all are asked in turns, some questions a round, so that whatever else the machine
does falls on all of them. Engines that are not installed in the interpreter given are told as such.
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

from lamina.bench import engines
from lamina.bench.chart import Groups
from lamina.bench.made_vectors import Source, Truth
from lamina.bench.metrics import quantile
from lamina.errors import LaminaError

Say = Callable[[str], None]

OURS = ("lamina", "numpy")
"""What runs in the interpreter of lamina."""
ROUNDS = 5
EQUAL = 0.1
"""Points of recall by which an engine may fall short of ours and still count as equal."""
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
class Peers:
    """What was measured: by engine what building it cost, by engine and setting what it finds and how fast."""

    settings: dict[str, Any]
    built: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def ours(self) -> Mapping[str, float]:
        """Our own figures."""
        return next(iter(self.asked["lamina"].values()))

    def ratios(self) -> dict[str, dict[str, Any]]:
        """How many times as long each other takes where it finds as much, and at what setting; None if nowhere."""
        told: dict[str, dict[str, Any]] = {}
        for name, settings in self.asked.items():
            equal = [
                (each["p50_ms"] / self.ours["p50_ms"], setting)
                for setting, each in settings.items()
                if each["recall_at_10"] >= self.ours["recall_at_10"] - EQUAL
            ]
            if name != "lamina":
                ratio, setting = min(equal, default=(None, None))
                told[name] = {"times_ours": ratio, "setting": setting}
        return told

    def figures(self) -> dict[str, dict[str, Any]]:
        """Everything, by engine."""
        named = {name: {**self.built[name], "settings": settings} for name, settings in self.asked.items()}
        return named | {name: {"missing": why} for name, why in self.missing.items()}

    def rows(self) -> list[list[str]]:
        """A line for each engine and setting, as people read it."""
        told = []
        for name, settings in self.asked.items():
            built = self.built[name]
            for setting, each in settings.items():
                told.append(
                    [
                        f"{name} {built['version']} {setting}".strip(),
                        f"{each['recall_at_10']:.2f}",
                        f"{each['p50_ms']:.2f}",
                        f"{each['p95_ms']:.2f}",
                        f"{each['cpu_ms']:.2f}",
                        f"{each['p50_ms'] / self.ours['p50_ms']:.2f}",
                        f"{built['build_s']:.1f}",
                        f"{built['ram_mb']:.0f}",
                        f"{built['disk_mb']:.0f}",
                    ]
                )
        return told

    def chart(self) -> Groups:
        """How fast each is where it finds as much as ours, the fastest being 100; recall that is never reached is 0."""
        times = {"lamina": 1.0} | {name: each["times_ours"] for name, each in self.ratios().items()}
        fastest = min(time for time in times.values() if time is not None)
        return {name: {"speed": 100 * fastest / each if each else 0.0} for name, each in times.items()}

    def bars(self) -> dict[str, dict[str, Any]]:
        """Ours is to be the fastest at equal recall; an engine that never reaches it is no rival there."""
        told = {name: each["times_ours"] for name, each in self.ratios().items()}
        return {name: {"figure": each, "bar": "> 1", "holds": each is None or each > 1} for name, each in told.items()}


def run(source: Source, names: Sequence[str], python: str, threads: int, say: Say) -> Peers:
    """Build every engine, then ask all of them in turns; `python` is the interpreter that has the others."""
    result = Peers(
        {
            "size": source.size,
            "questions": len(source.questions),
            "threads": threads,
            "vectors": source.name,
            "load": os.getloadavg()[0],
        }
    )
    with TemporaryDirectory(prefix="lamina-peers-") as place, ExitStack() as ending:
        folder = Path(place)
        truth = _write(source, folder)
        running: dict[str, _Child] = {}
        for name in dict.fromkeys(("lamina", *names)):
            say(f"building {name}")
            child = _Child(name, folder, sys.executable if name in OURS else python, threads)
            ending.callback(child.end)
            told = child.answer("built")
            if "missing" in told:
                result.missing[name] = told["missing"]
            else:
                running[name], result.built[name] = child, told
        _ask(running, truth, result, say)
    return result


def _write(source: Source, folder: Path) -> Truth:
    shape = (source.size, source.questions.shape[1])
    mapped = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float32, shape=shape)
    truth = Truth(source.questions)
    for block in source.blocks():
        mapped[truth.seen : truth.seen + len(block)] = block
        truth.look(block)
    mapped.flush()
    np.save(folder / "questions.npy", source.questions)
    return truth


def _ask(running: Mapping[str, _Child], truth: Truth, result: Peers, say: Say) -> None:
    count = len(truth.questions)
    edges = [count * n // ROUNDS for n in range(ROUNDS + 1)]
    answers: dict[str, dict[str, list[Any]]] = {name: {} for name in running}
    for first, last in pairwise(edges):
        say(f"asking questions {first + 1} to {last}")
        for name, child in running.items():
            for setting, told in child.ask(first, last).items():
                answers[name].setdefault(setting, []).append(told)
    for name, settings in answers.items():
        result.asked[name] = {setting: _figures(rounds, truth) for setting, rounds in settings.items()}


def _figures(rounds: Sequence[Mapping[str, Any]], truth: Truth) -> dict[str, float]:
    took, cpu, found = ([each for one in rounds for each in one[name]] for name in ("took_ms", "cpu_ms", "found"))
    return {
        "recall_at_10": truth.share(found),
        "p50_ms": quantile(took, 0.5),
        "p95_ms": quantile(took, 0.95),
        "least_ms": min(took),
        "cpu_ms": quantile(cpu, 0.5),
    }


class _Child:
    """A process that holds one engine."""

    def __init__(self, name: str, folder: Path, python: str, threads: int) -> None:
        self._name, self._folder = name, folder
        environment = {**os.environ, **dict.fromkeys(_THREADS, str(threads))}
        command = [python, "-I", engines.__file__, name, str(folder), str(threads)]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=environment, text=True)

    def ask(self, first: int, last: int) -> dict[str, Any]:
        """What it finds of some questions, by setting."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{first} {last}\n")
        self._process.stdin.flush()
        return self.answer(str(first))

    def answer(self, name: str) -> dict[str, Any]:
        """What it has left in the folder, once it says so."""
        assert self._process.stdout is not None
        if not any(line.strip() == "done" for line in self._process.stdout):
            raise LaminaError(f"{self._name} ended with {self._process.wait()}; leave it out with --only")
        told: dict[str, Any] = json.loads((self._folder / f"{self._name}-{name}.json").read_text(encoding="utf-8"))
        return told

    def end(self) -> None:
        """Let it go."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()
